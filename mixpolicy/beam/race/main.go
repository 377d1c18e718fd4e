// Command race runs the race that a file describes, on Apache Beam, and writes the record.
//
//	go run ./race race.json
package main

import "github.com/mixpolicy/lab/mixpolicy/beam"

func main() { beam.Main() }

// Command race runs the race of a file on Apache Beam and writes its record.
//
//	go run ./race race.json
package main

import "github.com/mixpolicy/lab/mixpolicy/beam"

func main() { beam.Main() }

//go:build !unix

// Package clock tells the time of processors.
package clock

import "time"

var began = time.Now()

// ProcessorTime is the time on the wall where the system's time of processors is not known.
func ProcessorTime() time.Duration { return time.Since(began) }

//go:build !unix

// Package clock measures processor time.
package clock

import "time"

var began = time.Now()

// ProcessorTime returns wall time, because the processor time is unknown on this system.
func ProcessorTime() time.Duration { return time.Since(began) }

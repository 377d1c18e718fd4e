//go:build !unix

package race

import "time"

var began = time.Now()

// processorTime is the time on the wall where the system's time of processors is not known.
func processorTime() time.Duration { return time.Since(began) }

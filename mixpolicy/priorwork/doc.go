// Package priorwork holds the systems that section 4 compares with, each with its source
// and its parameters as published, on one interface.
package priorwork

package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// An instance is a problem in the form in which peers read it from files: arrays, each in
// a file of its own as numbers in a row, little-endian, and single numbers.
type instance struct {
	Floats  map[string][]float64
	Ints    map[string][]int32
	Numbers map[string]float64
}

// write writes the instance into a folder.
func (x instance) write(folder string) error {
	for name, v := range x.Floats {
		if err := writeArray(filepath.Join(folder, name+".f64"), v); err != nil {
			return err
		}
	}
	for name, v := range x.Ints {
		if err := writeArray(filepath.Join(folder, name+".i32"), v); err != nil {
			return err
		}
	}
	numbers, err := json.Marshal(x.Numbers)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "numbers.json"), numbers, 0o644)
}

func writeArray(file string, v any) error {
	raw, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		return err
	}
	return os.WriteFile(file, raw, 0o644)
}

func readFloats(file string) ([]float64, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	v := make([]float64, len(raw)/8)
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		if math.IsNaN(v[i]) {
			return nil, fmt.Errorf("entry %d of the answer is NaN", i)
		}
	}
	return v, nil
}

package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// Table runs cases, and shows how they went.
type Table struct {
	only           string
	passed, failed int
}

// try runs a case; what it panics with fails it, too.
func (t *Table) try(name string, run func() error) {
	if strings.Contains(name, t.only) {
		t.run(name, run)
	}
}

// run runs a case in any case.
func (t *Table) run(name string, run func() error) {
	begun := time.Now()
	err := recovered(run)
	took := time.Since(begun).Round(time.Millisecond)
	if err != nil {
		t.failed++
		fmt.Printf("FAIL %s (%s)\n     %s\n", name, took, strings.ReplaceAll(err.Error(), "\n", "\n     "))
		return
	}
	t.passed++
	fmt.Printf("PASS %s (%s)\n", name, took)
}

func recovered(run func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return run()
}

// end shows the counts, and gives the exit code. That nothing ran is a failure: somebody misspelt -only.
func (t *Table) end() int {
	fmt.Printf("%d passed, %d failed\n", t.passed, t.failed)
	if t.failed > 0 || t.passed == 0 {
		fmt.Fprintln(os.Stderr, "error: not all of it conforms")
		return 1
	}
	return 0
}

// must is for what the program itself brings along: samples, captures.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// must2 is must for two values.
func must2[A, B any](a A, b B, err error) (A, B) {
	if err != nil {
		panic(err)
	}
	return a, b
}

// ensure is must for what gives nothing.
func ensure(err error) {
	if err != nil {
		panic(err)
	}
}

// expect fails unless both are equal.
func expect[T comparable](what string, found, expected T) error {
	if found != expected {
		return fmt.Errorf("%s: %v instead of %v", what, found, expected)
	}
	return nil
}

// first is the first error there is.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

package types

import (
	"cosmossdk.io/errors"
	"cosmossdk.io/math"
)

// Check keeps the first number that is wrong.
type Check struct {
	kind *errors.Error
	err  error
}

// CheckFor returns a check whose error is of the kind.
func CheckFor(kind *errors.Error) *Check { return &Check{kind: kind} }

// Err is the error of the first number that was wrong, nil if none was.
func (c *Check) Err() error { return c.err }

// Uint checks an integer: least and most are right too. The name is its whole path.
func (c *Check) Uint(name string, value, least, most uint64) {
	if c.err == nil && (value < least || value > most) {
		c.err = c.kind.Wrapf("%s is %d, want %d to %d", name, value, least, most)
	}
}

// Dec checks a fraction or a factor: least and most are right too. The name is its whole path.
func (c *Check) Dec(name string, value, least, most math.LegacyDec) {
	switch {
	case c.err != nil:
	case value.IsNil():
		c.err = c.kind.Wrapf("%s is missing", name)
	case value.LT(least) || value.GT(most):
		c.err = c.kind.Wrapf("%s is %s, want %s to %s", name, value, least, most)
	}
}

// Ascend checks that the first of two integers does not exceed the second.
func (c *Check) Ascend(small, large string, less, more uint64) {
	if c.err == nil && less > more {
		c.err = c.kind.Wrapf("%s (%d) must not exceed %s (%d)", small, less, large, more)
	}
}

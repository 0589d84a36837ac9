package types_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/errors"
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/types"
)

var errWrong = errors.Register("bounds_test", 2, "wrong")

// The first wrong number is named, with its value and what would be right; the bounds themselves are right.
func TestCheck_NamesTheFirstWrongNumber(t *testing.T) {
	half, one := math.LegacyNewDecWithPrec(5, 1), math.LegacyOneDec()
	for _, c := range []struct {
		name  string
		check func(*types.Check)
		want  string
	}{
		{"none", func(*types.Check) {}, ""},
		{"at the bounds", func(c *types.Check) { c.Uint("a", 1, 1, 3); c.Uint("b", 3, 1, 3) }, ""},
		{"below", func(c *types.Check) { c.Uint("a", 1, 1, 3); c.Uint("b", 0, 1, 3); c.Uint("c", 9, 1, 3) }, "b is 0, want 1 to 3: wrong"},
		{"above", func(c *types.Check) { c.Uint("a", 4, 1, 3); c.Dec("b", math.LegacyDec{}, half, one) }, "a is 4, want 1 to 3: wrong"},
		{"decimals at the bounds", func(c *types.Check) { c.Dec("a", half, half, one); c.Dec("b", one, half, one) }, ""},
		{"no decimal", func(c *types.Check) { c.Dec("a", math.LegacyDec{}, half, one) }, "a is missing: wrong"},
		{
			"decimal below", func(c *types.Check) { c.Dec("a", half, one, one); c.Ascend("b", "c", 1, 0) },
			"a is 0.500000000000000000, want 1.000000000000000000 to 1.000000000000000000: wrong",
		},
		{"equal", func(c *types.Check) { c.Ascend("a", "b", 2, 2) }, ""},
		{"descending", func(c *types.Check) { c.Ascend("a", "b", 3, 2) }, "a (3) must not exceed b (2): wrong"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := types.CheckFor(errWrong)
			c.check(check)
			if c.want == "" {
				require.NoError(t, check.Err())
				return
			}
			require.ErrorIs(t, check.Err(), errWrong)
			require.EqualError(t, check.Err(), c.want)
		})
	}
}

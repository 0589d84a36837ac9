package policytest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Bound is what a parameter of a policy may be: a number of a kind, and its least and largest value.
type Bound[T any] struct {
	Uint     func(*T) *uint64
	Dec      func(*T) *decimal.Dec
	Min, Max string
	// AtEdge sets the parameters that bound this one, for the test of its edges.
	AtEdge func(params *T, edge decimal.Dec)
}

// RequireBounds requires that parameters are accepted at the bounds of each of them and refused beyond, with an error that names the
// parameter. Each parameter has bounds here, or is among the others, which have tests of their own.
func RequireBounds[T any, P interface {
	*T
	types.PolicyParams
}](t *testing.T, defaults func() T, bounds map[string]Bound[T], others ...string) {
	t.Helper()
	var names []string
	for name := range bounds {
		_, field, _ := strings.Cut(name, ".")
		names = append(names, field)
	}
	require.ElementsMatch(t, types.MaskSchemaOf(P(new(T))).Paths(), append(names, others...), "parameters and their bounds")
	for name, b := range bounds {
		t.Run(name, func(t *testing.T) {
			least, largest := math.LegacyMustNewDecFromStr(b.Min), math.LegacyMustNewDecFromStr(b.Max)
			step, text := math.LegacySmallestDec(), math.LegacyDec.String
			if b.Uint != nil {
				step, text = math.LegacyOneDec(), func(d math.LegacyDec) string { return d.TruncateInt().String() }
			}
			for _, value := range []math.LegacyDec{least.Sub(step), largest.Add(step)} {
				if b.Uint != nil && value.IsNegative() {
					continue
				}
				params := defaults()
				b.set(&params, value)
				err := P(&params).Validate()
				require.ErrorIs(t, err, types.ErrInvalidConfig)
				require.ErrorContains(t, err, fmt.Sprintf("%s is %s, want %s to %s", name, text(value), text(least), text(largest)))
			}
			for _, edge := range []math.LegacyDec{least, largest} {
				params := defaults()
				if b.AtEdge != nil {
					b.AtEdge(&params, decimal.Of(edge))
				}
				b.set(&params, edge)
				require.NoError(t, P(&params).Validate(), "%s", edge)
			}
			if b.Dec != nil {
				params := defaults()
				*b.Dec(&params) = decimal.Dec{}
				require.ErrorContains(t, P(&params).Validate(), name+" is missing")
			}
		})
	}
}

func (b Bound[T]) set(params *T, value math.LegacyDec) {
	if b.Uint != nil {
		*b.Uint(params) = value.TruncateInt().Uint64()
		return
	}
	*b.Dec(params) = decimal.Of(value)
}

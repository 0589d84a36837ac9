package smallest_test

import (
	"testing"

	"github.com/cosmos-timers/timers/testutil/smallest"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/conformance"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Subject{
		Policy: smallest.ID,
		Keeper: []keeper.Option{keeper.WithPolicy(smallest.New)},
	})
}

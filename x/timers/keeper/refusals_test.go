package keeper_test

import (
	"flag"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

var refusalsFile = flag.String("keeper.refusals", "",
	"a file to which the text of each refusal is added, a line each, to compare them with those of another build")

// builtBy finds in a text what depends on the machine that built the node: the place of a file, or a version of a module.
var builtBy = regexp.MustCompile(`\.go:|@v[0-9]|\[/`)

// sameInEachBuild checks the text of a refusal, and adds it to the file.
func (f *fixture) sameInEachBuild(refusal error) {
	f.t.Helper()
	text := refusal.Error()
	require.NotRegexp(f.t, builtBy, text)
	if *refusalsFile == "" {
		return
	}
	file, err := os.OpenFile(*refusalsFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(f.t, err)
	_, err = file.WriteString(strconv.Quote(text) + "\n")
	require.NoError(f.t, err)
	require.NoError(f.t, file.Close())
}

// TestRefusals_OfAllowances: what x/feegrant says of an allowance is not in the text of this module's refusal, which would
// have the place of a file in it.
func TestRefusals_OfAllowances(t *testing.T) {
	f := newFixture(t)
	by := func(payer sdk.AccAddress) change {
		return func(msg *types.MsgScheduleTimer) { msg.Spec.FeePayer = payer.String() }
	}
	f.refused(types.ErrInvalidFeePayer, scheduleMsg(alice, 50, f.pays(alice, bob, 1), by(carol)))
	f.grantAny(carol, alice, f.basic(5))
	f.refused(types.ErrInvalidFeePayer, scheduleMsg(alice, 50, f.pays(alice, bob, 1), by(carol)))
}

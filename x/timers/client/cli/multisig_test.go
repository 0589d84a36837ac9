package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/crypto/keys/multisig"
	cryptotypes "github.com/cosmos/cosmos-sdk/crypto/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
)

// TestMultisig_IsNotTried: no node simulates what a multisig has not signed. Its timer is made without a dry run, which says so, and
// gas that only a simulation would find is to be stated.
func TestMultisig_IsNotTried(t *testing.T) {
	r := newRig(t)
	var members []cryptotypes.PubKey
	for _, name := range []string{"alice", "bob"} {
		record, err := r.Ctx.Keyring.Key(name)
		require.NoError(t, err)
		key, err := record.GetPubKey()
		require.NoError(t, err)
		members = append(members, key)
	}
	record, err := r.Ctx.Keyring.SaveMultisig("council", multisig.NewLegacyAminoPubKey(2, members))
	require.NoError(t, err)
	address, err := record.GetAddress()
	require.NoError(t, err)
	require.NoError(t, r.Chain.BeginBlock())
	require.NoError(t, r.Chain.Fund(lab.Balance{Address: address, Amount: math.NewInt(10_000_000)}))
	require.NoError(t, r.End())
	r.Simulates(45_000)

	line := []string{"tx", "timers", "schedule", "send", "bob", "5stake", "--in", "20", "--from", "council", "--generate-only"}
	out, notes, err := r.Run(line...)
	require.NoError(t, err)
	require.Contains(t, out, `"@type":"/timers.v1.MsgScheduleTimer","sender":"`+address.String())
	require.Contains(t, notes, "its messages are not tried: council is a multisig, whose transactions no node simulates\n")
	require.NotContains(t, notes, "would fail")

	_, _, err = r.Run(append(line, "--gas-limit", "auto")...)
	require.ErrorContains(t, err, "--gas-limit auto: no node has tried the messages: state a number of cycles")
	_, _, err = r.Run(append(line[:len(line)-1], "--gas", "auto", "-y")...)
	require.ErrorContains(t, err, "--gas auto: council is a multisig, whose transactions no node simulates: state the gas, such as --gas 400000")
}

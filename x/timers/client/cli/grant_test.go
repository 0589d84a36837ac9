package cli_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/x/authz"

	timersauthz "github.com/cosmos-timers/timers/x/timers/authz"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const voteURL = "/cosmos.gov.v1.MsgVote"

// granted runs the command and returns the grant and what it authorizes.
func (r *rig) granted(line ...string) (*authz.MsgGrant, *timersauthz.TimerAuthorization) {
	r.T.Helper()
	msg, _ := r.Printed(append([]string{"grant", "bob"}, line...)...)
	grant, ok := msg.(*authz.MsgGrant)
	require.True(r.T, ok)
	require.Equal(r.T, r.Alice, grant.Granter)
	require.Equal(r.T, r.Bob, grant.Grantee)
	authorization, err := grant.GetAuthorization()
	require.NoError(r.T, err)
	bounded, ok := authorization.(*timersauthz.TimerAuthorization)
	require.True(r.T, ok)
	return grant, bounded
}

// Rule: 3.8-cli-sets-both
func TestAGrantStatesItsLimits(t *testing.T) {
	r := newRig(t)
	grant, bounded := r.granted("--allow", voteURL+",/cosmos.bank.v1beta1.MsgSend", "--gas-limit", "90000", "--cell-limit", "500",
		"--max-fires", "12", "--uses", "3", "--expires-at", "110", "--max-fee", "0.5", "--max-priority", "0.1")
	require.Equal(t, &timersauthz.TimerAuthorization{
		MsgTypeUrl: "/timers.v1.MsgScheduleTimer", ExpiresAt: 110, ExpiresTime: 1_700_000_110, UsesLeft: 3, MaxFires: 12, GasLimit: 90_000, CellLimit: 500,
		AllowedMessages: []string{voteURL, "/cosmos.bank.v1beta1.MsgSend"}, MaxBid: bounded.MaxBid,
	}, bounded)
	require.Equal(t, "0.500000000000000000", bounded.MaxBid.Static.MaxFeePerCycle.String())
	require.Equal(t, "0.100000000000000000", bounded.MaxBid.Static.MaxPriorityFeePerCycle.String())
	// The chain is at height 10 and its blocks are a second apart.
	require.Equal(t, time.Unix(1_700_000_110, 0).UTC(), *grant.Grant.Expiration)

	_, bounded = r.granted("--allow", voteURL, "--gas-limit", "90000", "--expires-in", "1m40s")
	require.Equal(t, &timersauthz.TimerAuthorization{
		MsgTypeUrl: "/timers.v1.MsgScheduleTimer", ExpiresAt: 110, ExpiresTime: 1_700_000_110, UsesLeft: 1, MaxFires: 1, GasLimit: 90_000, AllowedMessages: []string{voteURL},
	}, bounded)
	offline := []string{"--for", "cancel", "--expires-at", "110", "--offline", "--account-number", "1", "--sequence", "1"}
	grant, bounded = r.granted(append(offline, "--expires-time", "2024-01-01T00:00:00Z")...)
	require.Equal(t, date(2024, 1, 1, 0), grant.Grant.Expiration)
	require.Equal(t, date(2024, 1, 1, 0).Unix(), bounded.ExpiresTime)
	require.ErrorContains(t, r.Refused(append([]string{"grant", "bob"}, offline...)...), "when height 110 comes is not known without a node, and a grant ends at a time too: state --expires-time")
}

func TestAGrantForEachChange(t *testing.T) {
	r := newRig(t)
	for name, msg := range map[string]sdk.Msg{
		"update": &types.MsgUpdateTimer{}, "extend": &types.MsgExtendTimer{}, "pause": &types.MsgPauseTimer{},
		"resume": &types.MsgResumeTimer{}, "cancel": &types.MsgCancelTimer{},
	} {
		_, bounded := r.granted("--for", name, "--uses", "2", "--expires-in", "100")
		require.Equal(t, &timersauthz.TimerAuthorization{MsgTypeUrl: sdk.MsgTypeURL(msg), ExpiresAt: 110, ExpiresTime: 1_700_000_110, UsesLeft: 2}, bounded, name)
	}
}

func TestGrantsWithoutLimitsAreRefused(t *testing.T) {
	r := newRig(t)
	whole := []string{"grant", "bob", "--allow", voteURL, "--gas-limit", "90000", "--expires-in", "100"}
	for words, line := range map[string][]string{
		"until when the grant lasts is missing":             whole[:6],
		"gas_limit is 0":                                    {"grant", "bob", "--allow", voteURL, "--expires-in", "100"},
		"allowed_messages has 0 entries":                    {"grant", "bob", "--gas-limit", "90000", "--expires-in", "100"},
		"want schedule, update, extend":                     append(whole[:len(whole):len(whole)], "--for", "everything"),
		`--uses: "0" is no number of messages`:              append(whole[:len(whole):len(whole)], "--uses", "0"),
		`--max-fires: "many" is no number of fires`:         append(whole[:len(whole):len(whole)], "--max-fires", "many"),
		`--cell-limit: "-1" is no number of cells`:          append(whole[:len(whole):len(whole)], "--cell-limit", "-1"),
		"max_fires and allowed_messages are for":            append(whole[:len(whole):len(whole)], "--for", "cancel"),
		`"nobody" is neither an address`:                    {"grant", "nobody"},
		"height 9 has passed: the latest block is 10":       {"grant", "bob", "--for", "cancel", "--expires-at", "9"},
		"both state until when the grant lasts":             append(whole[:len(whole):len(whole)], "--expires-at", "200"),
		"could schedule or grant what outlives":             {"grant", "bob", "--allow", "/cosmos.authz.v1beta1.MsgExec", "--gas-limit", "1", "--expires-in", "9"},
		"--max-fee and --max-priority go together":          append(whole[:len(whole):len(whole)], "--max-fee", "1"),
		`"cosmos.gov.v1.MsgVote" is no type URL such as`:    {"grant", "bob", "--allow", "cosmos.gov.v1.MsgVote", "--gas-limit", "1", "--expires-in", "9"},
		"gas_limit, cell_limit and max_bid are for /timers": {"grant", "bob", "--for", "pause", "--tier", "fast", "--expires-in", "9"},
	} {
		require.ErrorContains(t, r.Refused(line...), words)
	}
}

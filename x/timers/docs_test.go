package timers_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos/cosmos-sdk/types/module/testutil"

	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestTheDocumentedConfigProposalIsWhole: a proposal replaces the whole config, so that the example states every field, with
// its default but for what its summary says.
func TestTheDocumentedConfigProposalIsWhole(t *testing.T) {
	file := filepath.Join("docs", "proposals", "config.json")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	cdc := testutil.MakeTestEncodingConfig(timers.AppModule{}).Codec
	want := types.DefaultTimerConfig("utmr")
	want.LaneTimerCycles = 4_000_000
	config, err := cdc.MarshalJSON(&want)
	require.NoError(t, err)
	var proposal struct {
		Messages []map[string]json.RawMessage `json:"messages"`
		Metadata string                       `json:"metadata"`
		Deposit  string                       `json:"deposit"`
		Title    string                       `json:"title"`
		Summary  string                       `json:"summary"`
	}
	require.NoError(t, json.Unmarshal(raw, &proposal))
	require.Len(t, proposal.Messages, 1)
	require.JSONEq(t, string(config), string(proposal.Messages[0]["config"]))
	var read types.TimerConfig
	require.NoError(t, cdc.UnmarshalJSON(proposal.Messages[0]["config"], &read))
	require.NoError(t, read.Validate())
}

package broadcast

import (
	"bytes"
	"encoding/json"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	"github.com/stretchr/testify/require"
)

// TestProposalIn_IsTheNumberOfTheEvent of x/gov.
func TestProposalIn_IsTheNumberOfTheEvent(t *testing.T) {
	tx := &coretypes.ResultTx{Height: 9, Hash: bytes.Repeat([]byte{1}, 2)}
	require.Empty(t, proposalIn(tx))
	tx.TxResult.Events = []abci.Event{
		{Type: "message", Attributes: []abci.EventAttribute{{Key: "proposal_id", Value: "6"}}},
		{Type: "submit_proposal", Attributes: []abci.EventAttribute{{Key: "proposal_messages", Value: ","}, {Key: "proposal_id", Value: "7"}}},
	}
	require.Equal(t, "7", proposalIn(tx))
	text, err := json.Marshal(proposed{ProposalID: "7", included: included{Status: statusIncluded, Height: 9, TxHash: "0101"}})
	require.NoError(t, err)
	require.JSONEq(t, `{"proposal_id": "7", "status": "included", "height": 9, "txhash": "0101"}`, string(text))
}

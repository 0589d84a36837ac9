package broadcast

import (
	"bytes"
	"encoding/json"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	"github.com/stretchr/testify/require"
)

// TestAttributeOf_IsTheFirstOfItsEvent: a proposal's number is that of x/gov's event.
func TestAttributeOf_IsTheFirstOfItsEvent(t *testing.T) {
	tx := &coretypes.ResultTx{Height: 9, Hash: bytes.Repeat([]byte{1}, 2)}
	require.Empty(t, attributeOf(tx, "submit_proposal", "proposal_id"))
	tx.TxResult.Events = []abci.Event{
		{Type: "message", Attributes: []abci.EventAttribute{{Key: "proposal_id", Value: "6"}}},
		{Type: "submit_proposal", Attributes: []abci.EventAttribute{{Key: "proposal_messages", Value: ","}, {Key: "proposal_id", Value: "7"}}},
	}
	require.Equal(t, "7", attributeOf(tx, "submit_proposal", "proposal_id"))
	text, err := json.Marshal(proposed{ProposalID: "7", included: included{Status: statusIncluded, Height: 9, TxHash: "0101"}})
	require.NoError(t, err)
	require.JSONEq(t, `{"proposal_id": "7", "status": "included", "height": 9, "txhash": "0101"}`, string(text))
}

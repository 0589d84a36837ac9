package types_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module/testutil"
	"github.com/cosmos/cosmos-sdk/types/tx/signing"
	authsigning "github.com/cosmos/cosmos-sdk/x/auth/signing"
	"github.com/cosmos/cosmos-sdk/x/bank"

	"github.com/cosmos-timers/timers/x/timers"
)

// TestForeignClientsSignTheSame: what CosmJS signs, which knows the messages from their .proto files and what a wallet
// states, is what the chain verifies. scripts/cosmjs writes the vectors.
func TestForeignClientsSignTheSame(t *testing.T) {
	file, err := os.ReadFile("testdata/cosmjs.json")
	require.NoError(t, err)
	var vectors []struct {
		Name, Type string
		Amino      hexBytes `json:"amino_tx"`
		AminoDoc   hexBytes `json:"amino_sign_bytes"`
		Direct     hexBytes `json:"direct_tx"`
		DirectDoc  hexBytes `json:"direct_sign_bytes"`
	}
	require.NoError(t, json.Unmarshal(file, &vectors))
	require.NotEmpty(t, vectors)
	encoding := testutil.MakeTestEncodingConfig(timers.AppModule{}, bank.AppModule{})
	signer := authsigning.SignerData{Address: alice, ChainID: "chain", AccountNumber: 1, Sequence: 2}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			for mode, signed := range map[signing.SignMode]struct{ tx, doc []byte }{
				signing.SignMode_SIGN_MODE_LEGACY_AMINO_JSON: {v.Amino, v.AminoDoc},
				signing.SignMode_SIGN_MODE_DIRECT:            {v.Direct, v.DirectDoc},
			} {
				tx, err := encoding.TxConfig.TxDecoder()(signed.tx)
				require.NoError(t, err)
				require.Equal(t, "/"+v.Type, sdk.MsgTypeURL(tx.GetMsgs()[0]))
				bz, err := authsigning.GetSignBytesAdapter(context.Background(), encoding.TxConfig.SignModeHandler(), mode, signer, tx)
				require.NoError(t, err)
				require.Equal(t, string(signed.doc), string(bz), mode)
			}
		})
	}
}

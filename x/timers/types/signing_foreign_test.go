//go:build !noguests

package types_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module/testutil"
	"github.com/cosmos/cosmos-sdk/types/tx/signing"
	authsigning "github.com/cosmos/cosmos-sdk/x/auth/signing"
	"github.com/cosmos/cosmos-sdk/x/bank"

	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/policies/guests"
)

// TestForeignClientsSignTheSame: what CosmJS signs, which knows the messages from their .proto files and what a wallet
// states, is what the chain verifies. scripts/cosmjs writes the vectors. They have every message of the service, and between
// them every field.
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
	stated := map[protoreflect.FullName]bool{}
	encoding := testutil.MakeTestEncodingConfig(timers.AppModule{}, bank.AppModule{})
	guests.RegisterInterfaces(encoding.InterfaceRegistry)
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
				msgs, err := tx.GetMsgsV2()
				require.NoError(t, err)
				noteFields(msgs[0].ProtoReflect(), stated)
			}
		})
	}
	service, err := encoding.InterfaceRegistry.FindDescriptorByName("timers.v1.Msg")
	require.NoError(t, err)
	methods := service.(protoreflect.ServiceDescriptor).Methods()
	require.NotZero(t, methods.Len())
	for i := range methods.Len() {
		requireFields(t, methods.Get(i).Input(), stated)
	}
}

// noteFields notes which fields a message states, those of messages in it included.
func noteFields(message protoreflect.Message, stated map[protoreflect.FullName]bool) {
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		stated[field.FullName()] = true
		if field.Message() == nil {
			return true
		}
		if !field.IsList() {
			noteFields(value.Message(), stated)
			return true
		}
		for i := range value.List().Len() {
			noteFields(value.List().Get(i).Message(), stated)
		}
		return true
	})
}

// requireFields holds that the vectors state each field of a message, and of the module's messages in it.
func requireFields(t *testing.T, message protoreflect.MessageDescriptor, stated map[protoreflect.FullName]bool) {
	t.Helper()
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		require.True(t, stated[field.FullName()], "no vector states %s", field.FullName())
		if in := field.Message(); in != nil && in.ParentFile().Package() == message.ParentFile().Package() {
			requireFields(t, in, stated)
		}
	}
}

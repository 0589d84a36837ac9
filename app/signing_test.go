package app_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	clienttx "github.com/cosmos/cosmos-sdk/client/tx"
	"github.com/cosmos/cosmos-sdk/types/tx/signing"
	authsigning "github.com/cosmos/cosmos-sdk/x/auth/signing"
	authtx "github.com/cosmos/cosmos-sdk/x/auth/tx"
	authtxconfig "github.com/cosmos/cosmos-sdk/x/auth/tx/config"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Every mode in which a client of the chain can sign is taken. Mode textual shows coins as the chain says that they are
// displayed.
func TestEverySignModeIsTaken(t *testing.T) {
	c := appchain.New(t, "alice", "bob")
	alice := appchain.AccountOf("alice")
	c.App.Bank.SetDenomMetaData(c.Ctx(), banktypes.Metadata{
		Base: app.FeeDenom, Display: "TMR", DenomUnits: []*banktypes.DenomUnit{{Denom: app.FeeDenom}, {Denom: "TMR", Exponent: 6}},
	})
	c.NextBlock()
	// A client asks a node for what the test asks the bank.
	config, err := authtx.NewTxConfigWithOptions(c.App.AppCodec(), authtx.ConfigOptions{
		EnabledSignModes:           append(authtx.DefaultSignModes, signing.SignMode_SIGN_MODE_TEXTUAL),
		TextualCoinMetadataQueryFn: authtxconfig.NewBankKeeperCoinMetadataQueryFn(c.App.Bank),
	})
	require.NoError(t, err)
	for _, mode := range []signing.SignMode{
		signing.SignMode_SIGN_MODE_DIRECT, signing.SignMode_SIGN_MODE_LEGACY_AMINO_JSON, signing.SignMode_SIGN_MODE_TEXTUAL,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			builder := config.NewTxBuilder()
			require.NoError(t, builder.SetMsgs(&types.MsgScheduleTimer{
				Sender: alice.Address.String(), Spec: types.TimerSpec{
					Trigger: types.Trigger{After: 50}, GasLimit: 60_000, MaxCharge: "5000", Name: "<rent> & more, " + mode.String(),
					OnUnfunded: types.OnUnfundedSuspend, Call: types.TimerCall{Messages: packed(t, send("alice", "bob", 1_500_000))},
					Bid: &types.Bid{Static: &types.StaticBid{
						MaxFeePerCycle:         decimal.Of(math.LegacyMustNewDecFromStr("0.0107")),
						MaxPriorityFeePerCycle: decimal.Of(math.LegacyZeroDec()),
					}},
				},
			}, &types.MsgSetAgent{Sender: alice.Address.String()}))
			builder.SetGasLimit(appchain.TxGas)
			builder.SetFeeAmount(appchain.TxFee)
			known := c.App.Accounts.GetAccount(c.Ctx(), alice.Address)
			signer := authsigning.SignerData{
				Address: alice.Address.String(), ChainID: appchain.ChainID, AccountNumber: known.GetAccountNumber(), Sequence: known.GetSequence(),
				PubKey: alice.Key.PubKey(),
			}
			// What is signed says who signs, in which mode.
			require.NoError(t, builder.SetSignatures(signing.SignatureV2{
				PubKey: signer.PubKey, Data: &signing.SingleSignatureData{SignMode: mode}, Sequence: signer.Sequence,
			}))
			signed, err := clienttx.SignWithPrivKey(c.Ctx(), mode, signer, builder, alice.Key, config, signer.Sequence)
			require.NoError(t, err)
			require.NoError(t, builder.SetSignatures(signed))
			shown, err := authsigning.GetSignBytesAdapter(c.Ctx(), config.SignModeHandler(), mode, signer, builder.GetTx())
			require.NoError(t, err)
			require.Equal(t, mode == signing.SignMode_SIGN_MODE_TEXTUAL, strings.Contains(string(shown), "1.5 TMR"))
			tx, err := config.TxEncoder()(builder.GetTx())
			require.NoError(t, err)
			result := c.NextBlock(tx).TxResults[0]
			require.Zero(t, result.Code, result.Log)
		})
	}
	require.Len(t, timersOf(t, c, alice.Address), 3)
}

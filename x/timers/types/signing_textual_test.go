package types_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	bankv1beta1 "cosmossdk.io/api/cosmos/bank/v1beta1"

	"github.com/cosmos/cosmos-sdk/types/module/testutil"
	"github.com/cosmos/cosmos-sdk/types/tx/signing"
	authsigning "github.com/cosmos/cosmos-sdk/x/auth/signing"
	authtx "github.com/cosmos/cosmos-sdk/x/auth/tx"
	"github.com/cosmos/cosmos-sdk/x/bank"

	"github.com/cosmos-timers/timers/x/timers"
)

// TestTextualSignBytes: devices that sign in mode textual show these screens, and sign them. A golden file has what is signed,
// a screen a line: indented as on the device, with an asterisk where only experts see it.
func TestTextualSignBytes(t *testing.T) {
	encoding := testutil.MakeTestEncodingConfig(timers.AppModule{}, bank.AppModule{})
	registerGuests(encoding.InterfaceRegistry)
	config, err := authtx.NewTxConfigWithOptions(encoding.Codec, authtx.ConfigOptions{
		EnabledSignModes: append(authtx.DefaultSignModes, signing.SignMode_SIGN_MODE_TEXTUAL),
		TextualCoinMetadataQueryFn: func(context.Context, string) (*bankv1beta1.Metadata, error) {
			return &bankv1beta1.Metadata{
				Base: "stake", Display: "STAKE", DenomUnits: []*bankv1beta1.DenomUnit{{Denom: "stake"}, {Denom: "STAKE", Exponent: 6}},
			}, nil
		},
	})
	require.NoError(t, err)
	for _, s := range goldenMessages() {
		t.Run(s.name, func(t *testing.T) {
			builder := config.NewTxBuilder()
			require.NoError(t, builder.SetMsgs(s.msg))
			builder.SetGasLimit(200_000)
			bz, err := authsigning.GetSignBytesAdapter(context.Background(), config.SignModeHandler(), signing.SignMode_SIGN_MODE_TEXTUAL,
				authsigning.SignerData{Address: alice, ChainID: "chain", AccountNumber: 1, Sequence: 2}, builder.GetTx())
			require.NoError(t, err)
			requireGolden(t, "textual/"+s.name+".txt", screens(t, bz))
		})
	}
}

// screens prints what mode textual signs: CBOR of a map whose only entry is the list of screens, each a map of title (1),
// content (2), indentation (3) and whether only experts see it (4).
func screens(t *testing.T, bz []byte) string {
	t.Helper()
	value, rest := cbor(t, bz)
	require.Empty(t, rest)
	var text strings.Builder
	for _, screen := range value.(map[uint64]any)[1].([]any) {
		fields := screen.(map[uint64]any)
		indent, _ := fields[3].(uint64)
		if expert, _ := fields[4].(bool); expert {
			text.WriteString("* ")
		}
		text.WriteString(strings.Repeat("> ", int(indent)))
		if title, ok := fields[1].(string); ok {
			fmt.Fprintf(&text, "%s: ", title)
		}
		fmt.Fprintf(&text, "%s\n", strings.ReplaceAll(fmt.Sprint(fields[2]), "\n", `\n`))
	}
	return text.String()
}

// cbor decodes one value of the few kinds that screens have, and returns what follows it.
func cbor(t *testing.T, bz []byte) (value any, rest []byte) {
	t.Helper()
	require.NotEmpty(t, bz)
	major, number, rest := bz[0]>>5, uint64(bz[0]&31), bz[1:]
	if width := map[uint64]int{24: 1, 25: 2, 26: 4, 27: 8}[number]; width > 0 && major != 7 {
		require.GreaterOrEqual(t, len(rest), width)
		number, rest = binary.BigEndian.Uint64(append(make([]byte, 8-width), rest[:width]...)), rest[width:]
	}
	switch major {
	case 0:
		return number, rest
	case 3:
		require.GreaterOrEqual(t, uint64(len(rest)), number)
		return string(rest[:number]), rest[number:]
	case 4:
		list := make([]any, number)
		for i := range list {
			list[i], rest = cbor(t, rest)
		}
		return list, rest
	case 5:
		entries := map[uint64]any{}
		for range number {
			var key, entry any
			key, rest = cbor(t, rest)
			entry, rest = cbor(t, rest)
			entries[key.(uint64)] = entry
		}
		return entries, rest
	case 7:
		return number == 21, rest
	}
	require.Fail(t, "no kind of a screen", "%d", major)
	return nil, nil
}

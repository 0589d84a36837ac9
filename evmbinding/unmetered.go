package evmbinding

import (
	"context"
	"slices"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// UnmeteredMessages are those of x/erc20 that call a token's contract with 25 million EVM gas, however little is left
// to their caller, who is charged when they return. Such a fire could use as much as ten lanes. No timer runs them,
// whoever owns it; a chain also names them in denied_messages, so that they are refused when they are scheduled.
var UnmeteredMessages = []string{
	"/cosmos.evm.erc20.v1.MsgConvertCoin",
	"/cosmos.evm.erc20.v1.MsgConvertERC20",
	"/cosmos.evm.erc20.v1.MsgRegisterERC20",
}

// checkMetered refuses UnmeteredMessages in fires: ErrMessageNotAllowed.
func checkMetered(ctx context.Context, req any) error {
	if _, fires := actors.FireMeter(ctx); !fires {
		return nil
	}
	if msg, ok := req.(sdk.Msg); ok && slices.Contains(UnmeteredMessages, sdk.MsgTypeURL(msg)) {
		return types.ErrMessageNotAllowed.Wrapf("%s calls contracts with gas of its own", sdk.MsgTypeURL(msg))
	}
	return nil
}

package wasmbinding

import (
	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	wasmvmtypes "github.com/CosmWasm/wasmvm/v3/types"

	storetypes "cosmossdk.io/store/types"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/actors"
)

// meterSubmessages books what a submessage with a gas limit of its own writes as cells. wasmd runs it on a plain meter
// and charges the total as one sum, which the fire's meter would book as cycles (x/timers/README.md, "1.1 Units").
//
// While the submessage runs, its writes count against its own limit, at the store's price; when it is done, they are
// taken off its meter and booked on the fire's. A submessage that runs out of its limit is charged the limit, in
// cycles, as wasmd does: what it wrote is dropped. Its limit bounds what is booked late.
func meterSubmessages(next wasmkeeper.Messenger) wasmkeeper.Messenger {
	return wasmkeeper.MessageHandlerFunc(func(
		ctx sdk.Context, contract sdk.AccAddress, port string, msg wasmvmtypes.CosmosMsg,
	) ([]sdk.Event, [][]byte, [][]*codectypes.Any, error) {
		limited := ctx.GasMeter()
		fire, within := actors.FireMeter(ctx)
		if _, counted := limited.(*writeCounter); counted || !within || limited == fire {
			return next.DispatchMsg(ctx, contract, port, msg)
		}
		counter := &writeCounter{GasMeter: limited}
		events, data, responses, err := next.DispatchMsg(ctx.WithGasMeter(counter), contract, port, msg)
		limited.RefundGas(counter.writes, "written bytes are cells")
		fire.ConsumeGas(counter.writes, storetypes.GasWritePerByteDesc)
		return events, data, responses, err
	})
}

// writeCounter adds up what is charged for written bytes.
type writeCounter struct {
	storetypes.GasMeter
	writes storetypes.Gas
}

// ConsumeGas implements storetypes.GasMeter.
func (m *writeCounter) ConsumeGas(amount storetypes.Gas, descriptor string) {
	m.GasMeter.ConsumeGas(amount, descriptor)
	if descriptor == storetypes.GasWritePerByteDesc {
		m.writes += amount
	}
}

package evmbinding

import (
	"bytes"

	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// Facade is the ABI of what answers at a schedule's address, of contracts/IHRC1215.sol.
var Facade = interfaceOf("IHRC1215ScheduleFacade")

var facadeMethods = map[string]func(*invocation) ([]any, error){
	"deleteSchedule": (*invocation).deleteThis,
}

// schedulePrefix begins the address of a schedule. No key and no contract has an address that begins so: to find one
// takes 2^96 tries.
var schedulePrefix = common.FromHex("0x000000000000000000001215")

// idBytesInAddress of a timer's id follow in the address of its schedule.
const idBytesInAddress = common.AddressLength - 12

// scheduleAddress is where the schedule of a timer is, given its id.
func scheduleAddress(id []byte) common.Address {
	return common.BytesToAddress(append(bytes.Clone(schedulePrefix), id[:idBytesInAddress]...))
}

// idWithin is the beginning of the id of the timer whose schedule is at an address; nil if none can be there.
func idWithin(address common.Address) []byte {
	id, found := bytes.CutPrefix(address.Bytes(), schedulePrefix)
	if !found {
		return nil
	}
	return id
}

// Facades wraps what x/vm's keeper finds precompiles of tokens with, x/erc20's keeper or nil: at each address that a
// schedule may have, the facade of HIP-1215 answers, whether there is a schedule or not. An app makes x/vm's keeper with
// it, before Wire. For any other address it compares 12 bytes, and reads nothing.
func (s *Seconds) Facades(tokens evmtypes.Erc20Keeper) evmtypes.Erc20Keeper {
	return &facades{tokens, s}
}

type facades struct {
	tokens  evmtypes.Erc20Keeper
	seconds *Seconds
}

// GetERC20PrecompileInstance implements types.Erc20Keeper.
func (f *facades) GetERC20PrecompileInstance(ctx sdk.Context, address common.Address) (vm.PrecompiledContract, bool, error) {
	if f.seconds.hrc1215 != nil && idWithin(address) != nil {
		at := *f.seconds.hrc1215
		at.abi, at.methods, at.ContractAddress = Facade, facadeMethods, address
		return facade{&at}, true, nil
	}
	if f.tokens == nil {
		return nil, false, nil
	}
	return f.tokens.GetERC20PrecompileInstance(ctx, address)
}

// facade is HIP-1215's precompile at the address of a schedule.
type facade struct{ *Precompile }

// RequiredGas implements vm.PrecompiledContract. x/vm makes an account at the address that is called, so that a call
// takes the EVM's price of one.
func (f facade) RequiredGas(input []byte) uint64 {
	return params.CallNewAccountGas + f.Precompile.RequiredGas(input)
}

// deleteThis cancels the caller's call whose address is called.
func (c *invocation) deleteThis() ([]any, error) { return c.deleteAt(c.ContractAddress) }

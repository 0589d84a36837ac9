package evmbinding

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Address of the precompile, and msg.sender of callbacks. It is of digits alone: x/vm compares addresses of precompiles
// as text, in the mixed case of EIP-55.
var Address = common.HexToAddress("0x0000000000000000000000000000000000001215")

//go:embed contracts/abi.json
var abiJSON []byte

// ABI is the precompile's, contracts/ITimers.sol.
var ABI = interfaceOf("ITimers")

// Receiver is the ABI of contracts that are called back.
var Receiver = interfaceOf("ITimerReceiver")

func interfaceOf(name string) abi.ABI {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(abiJSON, &all); err != nil {
		panic(fmt.Errorf("evmbinding: contracts/abi.json: %w", err))
	}
	parsed, err := abi.JSON(strings.NewReader(string(all[name])))
	if err != nil {
		panic(fmt.Errorf("evmbinding: contracts/abi.json: %s: %w", name, err))
	}
	return parsed
}

// callArguments are those of the payload of HandlerCall.
var callArguments = abi.Arguments{{Type: mustType("address")}, {Type: mustType("uint256")}, {Type: mustType("bytes")}}

func mustType(name string) abi.Type {
	parsed, err := abi.NewType(name, "", nil)
	if err != nil {
		panic(err)
	}
	return parsed
}

// EncodeCall is the payload of HandlerCall: abi.encode(to, value, data). The value is in wei, and below 2^256.
func EncodeCall(to common.Address, value *big.Int, data []byte) ([]byte, error) {
	if value.Sign() < 0 || value.BitLen() > 256 {
		return nil, types.ErrInvalidPayload.Wrapf("value %s is not in uint256", value)
	}
	return callArguments.Pack(to, value, data)
}

// decodeCall reads what EncodeCall made, and nothing else: one call has one payload.
func decodeCall(payload []byte) (to common.Address, value *big.Int, data []byte, err error) {
	values, err := callArguments.Unpack(payload)
	if err != nil {
		return to, nil, nil, types.ErrInvalidPayload.Wrap("want abi.encode(address, uint256, bytes)")
	}
	to, value, data = values[0].(common.Address), values[1].(*big.Int), values[2].([]byte) //nolint:errcheck // the types of callArguments
	again, err := EncodeCall(to, value, data)
	if err == nil && string(again) != string(payload) {
		err = types.ErrInvalidPayload.Wrap("want abi.encode(address, uint256, bytes) and nothing after or between")
	}
	return to, value, data, err
}

// What follows has the names and the order of contracts/ITimers.sol; what an owner states is in spec.go.

type info struct {
	Id          [32]byte
	Owner       common.Address
	Name        string
	Status      uint8
	HoldReason  uint8
	Due         uint64
	DueTime     uint64
	ExpiresAt   uint64
	ExpiresTime uint64
	GasLimit    uint64
	ByteLimit   uint64
	Seq         uint64
	Fires       uint64
	Deliveries  uint64
	Left        uint64
	LastSuccess bool
	LastPaid    *big.Int
}

type quote struct {
	GasPrice     *big.Int
	BytePrice    *big.Int
	MaxCost      *big.Int
	GasLimit     uint64
	ByteLimit    uint64
	IntrinsicGas uint64
	WaitBlocks   uint64
	PricedOut    bool
}

type lane struct {
	GasPrice  *big.Int
	BytePrice *big.Int
	LaneFee   *big.Int
	UsualTip  *big.Int
	UsedGas   uint64
	BlockGas  uint64
	MaxGas    uint64
	Paused    bool
}

type delivery struct {
	TimerId    [32]byte
	DeliverId  [32]byte
	FireSeq    uint64
	Due        uint64
	Occurrence uint64
	Index      uint64
	Trigger    string
	Changed    []changed
}

type changed struct {
	Source uint8
	Target common.Address
	Slot   [32]byte
	Name   string
	Key    []byte
}

package v2

import (
	"google.golang.org/protobuf/encoding/protowire"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// fields are those of a message of version 1, by their numbers.
type fields struct {
	numbers map[protowire.Number]uint64
	// bytes holds text, bytes and messages. One that may be repeated has several.
	bytes map[protowire.Number][][]byte
}

// read decodes a message without knowing its type.
func read(message []byte) (fields, error) {
	f := fields{map[protowire.Number]uint64{}, map[protowire.Number][][]byte{}}
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return f, types.ErrInternal.Wrapf("version 1: %v", protowire.ParseError(n))
		}
		message = message[n:]
		switch kind {
		case protowire.VarintType:
			f.numbers[number], n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			var value []byte
			value, n = protowire.ConsumeBytes(message)
			f.bytes[number] = append(f.bytes[number], value)
		default:
			return f, types.ErrInternal.Wrapf("version 1: field %d has wire type %d", number, kind)
		}
		if n < 0 {
			return f, types.ErrInternal.Wrapf("version 1: field %d: %v", number, protowire.ParseError(n))
		}
		message = message[n:]
	}
	return f, nil
}

func (f fields) uint64(number protowire.Number) uint64 { return f.numbers[number] }

func (f fields) uint32(number protowire.Number) uint32 { return uint32(f.numbers[number]) }

// last is the value of a field that is not repeated.
func (f fields) last(number protowire.Number) []byte {
	if all := f.bytes[number]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

func (f fields) texts(number protowire.Number) (texts []string) {
	for _, value := range f.bytes[number] {
		texts = append(texts, string(value))
	}
	return texts
}

// dec reads a decimal, which version 1 stored as an integer with 18 more digits.
func (f fields) dec(number protowire.Number) decimal.Dec {
	value, ok := math.NewIntFromString(string(f.last(number)))
	if !ok {
		return decimal.Dec{} // TimerConfig.Validate names the parameter
	}
	return decimal.Of(math.LegacyNewDecFromIntWithPrec(value, math.LegacyPrecision))
}

// configMessage converts an encoded MsgUpdateTimerConfig of version 1. A config that no chain could have taken over, as it
// lacks values or has negative ones, is left out.
func configMessage(stored []byte) ([]byte, error) {
	old, err := read(stored)
	if err != nil {
		return nil, err
	}
	msg := types.MsgUpdateTimerConfig{Authority: string(old.last(1))}
	if config, err := configOf(old.last(2)); err == nil {
		msg.Config = config
	}
	converted, err := msg.Marshal()
	if err != nil || new(types.MsgUpdateTimerConfig).Unmarshal(converted) != nil {
		return (&types.MsgUpdateTimerConfig{Authority: msg.Authority}).Marshal()
	}
	return converted, nil
}

// configOf converts a config. The parameters of all policies lay in one message, and version 1 had none of those that are
// set last: they get the defaults of version 2.
func configOf(stored []byte) (types.TimerConfig, error) {
	old, err := read(stored)
	if err != nil {
		return types.TimerConfig{}, err
	}
	tiers, err := read(old.last(33))
	if err != nil {
		return types.TimerConfig{}, err
	}
	reserve, ok := math.NewIntFromString(string(old.last(81)))
	if !ok {
		return types.TimerConfig{}, types.ErrInternal.Wrapf("version 1: reserve_price %.80q is no number", old.last(81))
	}
	config := types.TimerConfig{
		Policy: types.Policy(old.uint64(1)), FeeDenom: string(old.last(2)), LanePaused: old.uint64(3) != 0,
		MaxTtlBlocks: old.uint64(4), MinGasLimit: old.uint64(5), FireBaseCycles: old.uint64(6),
		MaxCyclesPerFire: old.uint64(7), MaxCellsPerFire: old.uint64(8), MaxTimersPerActor: old.uint32(9),
		MaxPayloadBytes: old.uint64(10), LaneTimerCycles: old.uint64(11), LaneTimerCells: old.uint64(12),
		GcCyclesPerBlock: old.uint64(13), GcCyclesPerRemoval: old.uint64(14), MaxFiresPerBlock: old.uint32(15),
		MaxFiresPerActor: old.uint32(16), CandidateWindow: old.uint32(17), SweepPerBlock: old.uint32(18),
		CycleBasefee: old.dec(19), CellBasefee: old.dec(20), ScheduleCycles: old.uint64(21), CancelCycles: old.uint64(22),
		AllowedMessages: old.texts(23), DeniedMessages: old.texts(24), ReceiptRetentionBlocks: old.uint64(25),
		PriorityTiers: types.PriorityTiers{
			Economy: tiers.dec(1), Standard: tiers.dec(2), Fast: tiers.dec(3), Urgent: tiers.dec(4),
		},
		FairnessWindowBlocks: old.uint64(34), FairnessUnit: types.FairnessUnit(old.uint64(35)),
		WeightMin: old.dec(36), WeightMax: old.dec(37), MedianSmoothing: old.dec(38), AdmissionsPerBlock: old.uint32(40),
		AgentCyclesPerCall: old.uint64(41), AgentCyclesPerBlock: old.uint64(42), MaxRetries: old.uint32(60),
		MaxWatchKeys: old.uint32(70), MaxMatchedKeys: old.uint32(71), MaxWatchHitsPerBlock: old.uint32(72),
		Eip1559: types.Eip1559Params{
			AuctionActivationHeight: old.uint64(26), MaxCyclesPerFireAuction: old.uint64(27), Target: old.dec(28),
			MaxChange: old.dec(29), MinLaneBasefee: old.dec(30), BasefeeResponse: types.BasefeeResponse(old.uint64(31)),
			LaneFeeMultiplier: old.dec(32), BidDeprecationBlocks: old.uint64(39),
		},
		Auction: types.AuctionParams{
			PaymentRule: types.PaymentRule(old.uint64(80)), ReservePrice: decimal.IntOf(reserve), LambdaStart: old.dec(82), LambdaMin: old.dec(83),
			LambdaMax: old.dec(84), LambdaStep: old.dec(85), AuctionWindowBlocks: old.uint64(86),
		},
		Score: types.ScoreParams{WAge: old.dec(90), WBid: old.dec(91), WFifo: old.dec(92)},
		Tip: types.TipParams{
			EpochBlocks: old.uint64(96), Decay: old.dec(97), WeightMin: old.dec(98), WeightMax: old.dec(99),
			WeightNeutral: old.dec(100), StarvationFloor: old.dec(101), StarvationBlocks: old.uint64(102),
			InactivityDecay: old.dec(103), ShareTip: old.dec(104), ShareOutcome: old.dec(105), ShareLateness: old.dec(106),
			ShareBudget: old.dec(107), LateBlocks: old.uint64(108),
		},
	}
	addParameters(&config)
	return config, config.Validate()
}

// addParameters sets what version 1 did not have, and raises what it bounded less.
func addParameters(config *types.TimerConfig) {
	config.MaxMessagesBytes = 65_536
	config.DefaultCellLimit = min(20_000, config.MaxCellsPerFire)
	config.PayloadCyclesPerByte, config.MessageCyclesPerByte = 3, 10
	config.MaxPayerRecordBytes = 2_560
	config.TierTipCap = decimal.Of(math.LegacyNewDec(10))
	config.ReservedShare = decimal.Of(math.LegacyNewDecWithPrec(1, 1))
	config.RingSize, config.EpochBlocks, config.EpochHorizon, config.MigrationsPerBlock = 256, 3_600, 720, 4_096
	config.AgentCyclesPerCall = max(config.AgentCyclesPerCall, 2*types.AgentBaseCycles)
	if config.AgentCyclesPerBlock > 0 {
		config.AgentCyclesPerBlock = max(config.AgentCyclesPerBlock, config.AgentCyclesPerCall)
	}
}

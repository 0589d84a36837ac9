package fees

import (
	"context"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// holding is the balance of the fee denom of an account. Its place is looked up once for all that a fire does with it: the
// pre-charge and, after the handler, the refund. It holds no amount.
type holding struct {
	balances Balances
	key      BalanceKey
	// at is set if the balances know places.
	at place
}

// holding is empty on a chain on which the bank moves what fires are charged.
func (f *Fees) holding(ctx context.Context, config *types.TimerConfig, addr sdk.AccAddress) holding {
	if f.Balances == nil {
		return holding{}
	}
	p := holding{balances: f.Balances, key: collections.Join(addr, config.FeeDenom)}
	if known, ok := f.Balances.(placer); ok {
		p.at = known.place(ctx, p.key)
	}
	return p
}

func (p *holding) isEmpty() bool { return p.balances == nil }

func (p *holding) get(ctx context.Context) (math.Int, error) {
	if p.at.isKnown() {
		return p.at.get()
	}
	return p.balances.Get(ctx, p.key)
}

// balance is what is there; nothing if that can't be read, as the bank has it.
func (p *holding) balance(ctx context.Context) math.Int {
	amount, err := p.get(ctx)
	if err != nil {
		return math.ZeroInt()
	}
	return amount
}

// set writes what is there, and was there before. The bank stores no balance of nothing.
func (p *holding) set(ctx context.Context, before, amount math.Int) error {
	switch {
	case amount.IsNegative():
		return types.ErrInternal.Wrapf("the balance of %s would be %s", p.key.K1(), amount)
	case amount.IsZero():
		return p.balances.Remove(watch.Muted(ctx), p.key)
	case p.at.isKnown() && before.IsPositive():
		return p.at.set(amount)
	default:
		return p.balances.Set(watch.Muted(ctx), p.key, amount)
	}
}

// place is where a balance lies in the bank's store.
type place struct {
	store store.KVStore
	key   []byte
	// err is why there is none.
	err error
}

func (p *place) isKnown() bool { return p.store != nil }

func (p *place) get() (math.Int, error) {
	if p.err != nil {
		return math.Int{}, p.err
	}
	value, err := p.store.Get(p.key)
	if err != nil {
		return math.Int{}, err
	}
	if value == nil {
		return math.Int{}, collections.ErrNotFound
	}
	return decodeAmount(value)
}

// set writes an amount as the bank's codec does.
func (p *place) set(amount math.Int) error {
	if p.err != nil {
		return p.err
	}
	return p.store.Set(p.key, decimal.AppendInt(nil, amount))
}

// plainDigits are those of an amount that certainly has 64 bits.
const plainDigits = 19

// decodeAmount reads an amount as the bank's codec does. All but plain digits goes the codec's way: the bank stored balances
// in another form once.
func decodeAmount(value []byte) (math.Int, error) {
	if len(value) == 0 || len(value) > plainDigits || value[0] == '0' {
		return banktypes.BalanceValueCodec.Decode(value)
	}
	var amount uint64
	for _, digit := range value {
		if digit < '0' || digit > '9' {
			return banktypes.BalanceValueCodec.Decode(value)
		}
		amount = 10*amount + uint64(digit-'0')
	}
	return math.NewIntFromUint64(amount), nil
}

package campaign

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/x/timers/fees"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/questions"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// environment is what happens to an application other than by transactions, the same for all: what Go modules and
// governance do at the beginning of a block, and how the module's neighbours fail.
type environment struct {
	// first are what modules do at the beginning of the block.
	first []*inner
	// modes of neighbours; "" is a neighbour that works.
	market, balances, tips, feegrant string
	// victim is who is refused.
	victim sdk.AccAddress
}

// inner is a call by a module, or a message of the authority.
type inner struct {
	schedule *timerskeeper.ScheduleRequest
	msg      sdk.Msg
	// id of the timer that it scheduled, and why it failed.
	id  string
	err error
}

// asker asks questions in an application; one that does not ask is nil.
func asker(a *app.App, seed int64) *questions.Asker {
	if seed == 0 {
		return nil
	}
	var actors []sdk.AccAddress
	for _, owner := range owners {
		actors = append(actors, owner.Address)
	}
	for _, module := range modules {
		actors = append(actors, moduleAddress(module))
	}
	return &questions.Asker{Timers: a.Timers, Messages: a.MsgServiceRouter(), Actors: actors, Random: rand.New(rand.NewSource(seed))}
}

// attach makes the application, which has not loaded its state, one of this environment.
func (e *environment) attach(a *app.App, seed int64) {
	asks := asker(a, seed)
	begin := a.BeginBlocker
	a.SetBeginBlocker(func(ctx sdk.Context) (sdk.BeginBlock, error) {
		response, err := begin(ctx)
		if err != nil {
			return response, err
		}
		own := ctx.WithEventManager(sdk.NewEventManager())
		ask(own, asks)
		for _, call := range e.first {
			branch, write := own.CacheContext()
			if call.err = call.run(branch, a); call.err == nil {
				write()
			}
		}
		response.Events = append(response.Events, own.EventManager().ABCIEvents()...)
		return response, nil
	})
	purse := a.Timers.Engine().Fees
	purse.Basefees = feeMarket{e}
	purse.Balances = balances{e, purse.Balances}
	purse.Tips = tips{e, purse.Tips}
	purse.Feegrant = grants{e, purse.Feegrant}
	for _, module := range modules {
		a.TimerModules.Register(module, types.DefaultHandler, handler(a, asks))
	}
	a.TimerModules.RegisterQuoter(bidder, func(ctx context.Context, about types.BidContext) (types.AgentQuote, error) {
		ask(ctx, asks)
		return quote(ctx, about)
	})
}

func ask(ctx context.Context, asks *questions.Asker) {
	if asks != nil {
		asks.Ask(sdk.UnwrapSDKContext(ctx))
	}
}

func (i *inner) run(ctx sdk.Context, a *app.App) error {
	if i.schedule != nil {
		timer, err := a.Timers.Schedule(ctx, *i.schedule)
		i.id = timer.IDHex()
		return err
	}
	result, err := a.MsgServiceRouter().Handler(i.msg)(ctx, i.msg)
	if err == nil {
		ctx.EventManager().EmitEvents(result.GetEvents())
	}
	return err
}

var errFault = errors.New("the neighbour fails")

// faults are the modes in which each neighbour can be.
var faults = map[string][]string{
	"market":   {"", "", "dear", "free", "error", "panic", "writes", "negative", "huge", "nil", "loops"},
	"balances": {"", "", "", "victim", "victim panics"},
	"tips":     {"", "", "error", "panic", "spends"},
	"feegrant": {"", "", "error", "panic"},
}

// feeMarket is a fee market.
type feeMarket struct{ *environment }

func (m feeMarket) Basefees(ctx context.Context, config *types.TimerConfig) (cycle, cell math.LegacyDec, err error) {
	cycle, cell = config.CycleBasefee.LegacyDec, config.CellBasefee.LegacyDec
	switch m.market {
	case "dear":
		return cycle.MulInt64(2), cell.MulInt64(3), nil
	case "free":
		return math.LegacyZeroDec(), math.LegacyZeroDec(), nil
	case "error":
		return cycle, cell, errFault
	case "panic":
		panic(errFault)
	case "writes":
		sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(30, storetypes.GasWritePerByteDesc)
	case "negative":
		return cycle.Neg(), cell, nil
	case "huge":
		return math.LegacyNewDec(1_000_000_000_000_000_000).MulInt64(2), cell, nil
	case "nil":
		return math.LegacyDec{}, math.LegacyDec{}, nil
	case "loops":
		for {
			sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(1_000, "loop")
		}
	}
	return cycle, cell, nil
}

// balances refuse the victim.
type balances struct {
	*environment
	fees.Balances
}

func (b balances) Get(ctx context.Context, key fees.BalanceKey) (math.Int, error) {
	return b.Balances.Get(ctx, key)
}

func (b balances) Set(ctx context.Context, key fees.BalanceKey, amount math.Int) error {
	if b.balances == "mints" {
		// No fault that the module can know of: the sabotage of a test.
		return b.Balances.Set(ctx, key, amount.AddRaw(1))
	}
	if b.balances != "" && b.victim.Equals(key.K1()) {
		if b.balances == "victim panics" {
			panic(errFault)
		}
		return errFault
	}
	return b.Balances.Set(ctx, key, amount)
}

// tips are not paid.
type tips struct {
	*environment
	types.TipCollector
}

func (t tips) PayTips(ctx context.Context, from string, coins sdk.Coins) error {
	switch t.tips {
	case "error":
		return errFault
	case "panic":
		panic(errFault)
	case "spends":
		return errors.Join(t.TipCollector.PayTips(ctx, from, coins), errFault)
	}
	return t.TipCollector.PayTips(ctx, from, coins)
}

// grants are not granted.
type grants struct {
	*environment
	types.FeegrantKeeper
}

func (g grants) UseGrantedFees(ctx context.Context, granter, grantee sdk.AccAddress, fee sdk.Coins, msgs []sdk.Msg) error {
	switch g.feegrant {
	case "error":
		return errors.Join(g.FeegrantKeeper.UseGrantedFees(ctx, granter, grantee, fee, msgs), errFault)
	case "panic":
		panic(errFault)
	}
	return g.FeegrantKeeper.UseGrantedFees(ctx, granter, grantee, fee, msgs)
}

func (g grants) GetAllowance(ctx context.Context, granter, grantee sdk.AccAddress) (feegrant.FeeAllowanceI, error) {
	return g.FeegrantKeeper.GetAllowance(ctx, granter, grantee)
}

// The Go modules of the chain, whose handlers do what the payload says, and one that bids for others.
var modules = []string{"campaign one", "campaign two"}

const bidder = "campaign bidder"

func moduleAddress(name string) sdk.AccAddress { return authtypes.NewModuleAddress(name) }

// work is what a payload asks a module's handler for.
type work struct {
	cycles, cells uint64
	end           string
}

func (w work) payload() []byte { return fmt.Appendf(nil, "%d %d %s", w.cycles, w.cells, w.end) }

// ends of a handler.
var ends = []string{
	"returns", "returns", "returns", "fails", "panics", "spends all", "pays", "pays all", "schedules", "cancels", "changes itself", "enters again",
}

// handler is that of all modules.
func handler(a *app.App, asks *questions.Asker) func(context.Context, types.Delivery) error {
	return func(c context.Context, d types.Delivery) error {
		ctx := sdk.UnwrapSDKContext(c)
		ask(ctx, asks)
		var w work
		if _, err := fmt.Sscanf(string(d.Payload), "%d %d", &w.cycles, &w.cells); err != nil {
			return err
		}
		_, w.end, _ = cutFields(string(d.Payload))
		ctx.GasMeter().ConsumeGas(w.cycles, "work")
		ctx.GasMeter().ConsumeGas(30*w.cells, storetypes.GasWritePerByteDesc)
		one := sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 1))
		switch w.end {
		case "fails":
			return errors.Join(a.Bank.SendCoins(ctx, d.Actor, rich.Address, one), types.ErrInvalidPayload)
		case "panics":
			_ = a.Bank.SendCoins(ctx, d.Actor, rich.Address, one)
			panic("as asked")
		case "spends all":
			for {
				ctx.GasMeter().ConsumeGas(999, "loop")
			}
		case "pays":
			return a.Bank.SendCoins(ctx, d.Actor, rich.Address, one)
		case "pays all":
			return a.Bank.SendCoins(ctx, d.Actor, rich.Address, a.Bank.SpendableCoins(ctx, d.Actor))
		case "schedules":
			_, err := a.Timers.Schedule(ctx, timerskeeper.ScheduleRequest{
				Actor: d.Actor, Spec: types.TimerSpec{
					Trigger: types.Trigger{Height: d.Height + 1 + d.Height%5}, Call: types.TimerCall{Payload: work{1_000, 10, "pays"}.payload()},
					GasLimit: 60_000,
				},
			})
			return err
		case "cancels":
			timers, err := a.Timers.TimersOf(ctx, d.Actor)
			if err != nil || len(timers) == 0 {
				return err
			}
			return a.Timers.Cancel(ctx, d.Actor, timers[len(timers)-1].Id)
		case "changes itself":
			_, err := a.Timers.Extend(ctx, d.Actor, d.TimerID, timerskeeper.End{Height: d.Height + 9})
			return errors.Join(err, a.Timers.Pause(ctx, d.Actor, d.TimerID))
		case "enters again":
			return a.Timers.EndBlock(ctx)
		}
		return nil
	}
}

// quote is what the bidding module answers: by the timer, now well, now badly.
func quote(c context.Context, about types.BidContext) (types.AgentQuote, error) {
	sdk.UnwrapSDKContext(c).GasMeter().ConsumeGas(3_000, "bid")
	good := types.AgentQuote{
		MaxFeePerCycle: math.LegacyNewDecWithPrec(2, 2), MaxPriorityFeePerCycle: math.LegacyNewDecWithPrec(1, 3), MaxFeePerCell: math.LegacyOneDec(),
	}
	switch (uint64(about.TimerID[0]) + about.Height) % 11 {
	case 0:
		return types.AgentQuote{}, errFault
	case 1:
		panic(errFault)
	case 2:
		good.MaxPriorityFeePerCycle = good.MaxPriorityFeePerCycle.Neg()
	case 3:
		for {
			sdk.UnwrapSDKContext(c).GasMeter().ConsumeGas(1_000, "bids for ever")
		}
	case 4:
		good.MaxFeePerCycle = math.LegacyNewDec(1_000_000)
	}
	return good, nil
}

// none is an id that no timer has.
var none = hex.EncodeToString(make([]byte, types.IDBytes))

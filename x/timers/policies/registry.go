package policies

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosmos/gogoproto/proto"

	"cosmossdk.io/math"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Constructor binds a policy to the parts of a chain's module.
type Constructor func(*Parts) Policy

// constructors of the module's own policies. The first one is in force while another has not started.
var constructors = []Constructor{NewFIFO, NewEIP1559}

// Registry holds the policies of a chain.
type Registry struct {
	state.NoHook
	policies []Policy
	// lockers are those of the policies that lock what is bid.
	lockers []Locker
	// leaves says which policy leaves messages of a type in the lane's state. It is looked up, never ranged over.
	leaves map[string]Policy
	// guests are the bidding agents and the policies.
	guests []Guest
	parts  *Parts
	// Unchecked accepts configs under which a policy does not do what it promises. Labs and tests set it, never a chain.
	Unchecked bool
}

// NewRegistry binds the module's own policies, and those that the chain registers. It panics if two have one id, which is an
// error of the wiring.
func NewRegistry(parts *Parts, more ...Constructor) *Registry {
	r := &Registry{parts: parts, leaves: map[string]Policy{}}
	r.register(parts.Agents)
	for _, bind := range append(slices.Clone(constructors), more...) {
		p := bind(parts)
		if _, twice := r.find(p.ID()); twice {
			panic(fmt.Errorf("x/timers: two policies have the id %d", p.ID()))
		}
		r.register(p)
		r.policies = append(r.policies, p)
		for _, state := range p.Messages().State {
			r.leaves[urlOf(state)] = p
		}
		if locker, locks := p.(Locker); locks {
			r.lockers = append(r.lockers, locker)
		}
	}
	if len(r.lockers) > 0 {
		parts.Records.Register(r)
	}
	return r
}

// All returns the policies, in the order in which they were registered.
func (r *Registry) All() []Policy { return r.policies }

func (r *Registry) find(id types.Policy) (Policy, bool) {
	i := slices.IndexFunc(r.policies, func(p Policy) bool { return p.ID() == id })
	if i < 0 {
		return nil, false
	}
	return r.policies[i], true
}

// At is the policy in force at a height. The first policy is in force instead of one that has not started, and of one that
// this binary does not know, which no validated config names.
func (r *Registry) At(config *types.TimerConfig, height uint64) Policy {
	if p, found := r.find(config.Policy); found && height >= p.Traits(config).From {
		return p
	}
	return r.policies[0]
}

// Validate refuses a config whose policy is not of this chain, that this policy refuses, or that has parameters of a policy
// which is not of this chain.
func (r *Registry) Validate(config *types.TimerConfig) error {
	if err := r.checkParams(config); err != nil {
		return err
	}
	if p, found := r.find(config.Policy); found {
		if r.Unchecked {
			return nil
		}
		return p.CheckConfig(config)
	}
	known := make([]string, len(r.policies))
	for i, p := range r.policies {
		known[i] = p.ID().String()
	}
	return types.ErrInvalidConfig.Wrapf("policy %s is unknown to this chain; available: %v", config.Policy, known)
}

// GasCap is the largest gas limit that may fire at a height.
func (r *Registry) GasCap(config *types.TimerConfig, height uint64) uint64 {
	return r.At(config, height).Traits(config).GasCap
}

// DefaultGasLimit is the gas limit of a timer that states none: the least of the caps of the policy in force at a height and
// of the one that the config selects, which may start later. So such a timer can fire under both.
func (r *Registry) DefaultGasLimit(config *types.TimerConfig, height uint64) uint64 {
	least := r.GasCap(config, height)
	if selected, found := r.find(config.Policy); found {
		least = min(least, selected.Traits(config).GasCap)
	}
	return least
}

// CheckLimits refuses limits with which a timer could not fire at a height.
func (r *Registry) CheckLimits(config *types.TimerConfig, height, gasLimit, cellLimit uint64) error {
	if err := r.CheckGasLimit(config, height, gasLimit); err != nil {
		return err
	}
	return config.CheckCellLimit(cellLimit)
}

// CheckGasLimit refuses a gas limit that could not fire at a height.
func (r *Registry) CheckGasLimit(config *types.TimerConfig, height, gasLimit uint64) error {
	if limit := r.GasCap(config, height); gasLimit < config.MinGasLimit || gasLimit > limit {
		return types.ErrGasLimitOutOfBounds.Wrapf("%d cycles, want %d to %d", gasLimit, config.MinGasLimit, limit)
	}
	return nil
}

// PricesOf are the prices of the block at ctx's height by the rules in force. They depend on the previous block and the
// chain's fee market, and are known before any of the block's transactions run.
func PricesOf(
	ctx context.Context, basefees fees.Basefees, rules market.Rules, config *types.TimerConfig, last *types.LaneState,
) market.Prices {
	prices := market.Prices{
		Height: types.HeightOf(ctx), Capacity: config.LaneCapacity(), Cycle: basefees.Cycle, Cell: basefees.Cell, P50: last.P50,
	}
	// Before the first block the lane basefee is the cycle basefee, as under fifo. eip1559 starts from there.
	before := market.Last{Basefee: prices.Cycle, Use: market.Use{Size: last.UsedSize, Fires: last.Fires}}
	if last.LaneBasefee != nil {
		before.Basefee = *last.LaneBasefee
	}
	prices.Lane = rules.LaneBasefee(prices.Cycle, before)
	return prices
}

// Prices are those of the block at ctx's height, given the lane's state after the previous block. They come with the
// basefees that they are made of.
func (r *Registry) Prices(ctx context.Context, config *types.TimerConfig, last *types.LaneState) (market.Prices, fees.Basefees) {
	basefees := r.parts.Fees.AskBasefees(ctx, config, last)
	rules := r.At(config, types.HeightOf(ctx)).Rules(config, last)
	return PricesOf(ctx, basefees, rules, config, last), basefees
}

// Accept checks a bid by the policy in force. It locks nothing; Relock does.
func (r *Registry) Accept(ctx context.Context, config *types.TimerConfig, bid *types.Bid) (Accepted, error) {
	if err := bid.Validate(); err != nil || bid == nil {
		return Accepted{}, err
	}
	if bid.Agent != "" {
		return r.acceptAgent(ctx, bid.Agent)
	}
	return r.At(config, types.HeightOf(ctx)).Accept(ctx, config, bid)
}

// acceptAgent checks the agent of a bid. It does not call the agent: an answer is valid only in the block in which it is given.
func (r *Registry) acceptAgent(ctx context.Context, text string) (Accepted, error) {
	agent, err := r.ParseAgent("bid.agent", text)
	if err != nil {
		return Accepted{}, err
	}
	return Accepted{Bid: &types.Bid{Agent: r.parts.Addresses.Text(agent)}}, r.parts.Agents.Check(ctx, agent)
}

// ParseAgent reads the address of an agent from a field of a message.
func (r *Registry) ParseAgent(field, text string) (sdk.AccAddress, error) {
	agent, err := r.parts.Addresses.Parse(field, text)
	if err != nil {
		return nil, types.ErrInvalidAgent.Wrapf("%s", err)
	}
	return agent, nil
}

// Relock makes the policy in force lock what a timer's bid requires under it, and others return what they locked before.
func (r *Registry) Relock(ctx context.Context, config *types.TimerConfig, t *types.Timer) error {
	inForce := r.At(config, types.HeightOf(ctx))
	for _, p := range r.lockers {
		if Policy(p) == inForce || t.BidLocked == "" {
			continue
		}
		if err := p.Relock(ctx, config, t, false); err != nil {
			return err
		}
	}
	return inForce.Relock(ctx, config, t, true)
}

// Deleted implements state.Hook: what is locked for a timer that leaves is returned.
func (r *Registry) Deleted(ctx context.Context, t *types.Timer) error {
	for _, p := range r.lockers {
		if t.BidLocked == "" {
			break
		}
		if err := p.Return(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// Follow returns what settles, in a block, the bids that timers locked under policies which are not in force.
func (r *Registry) Follow(b *Block, inForce Policy) (followers []Follower) {
	for _, p := range r.lockers {
		if Policy(p) != inForce {
			followers = append(followers, p.Follow(b))
		}
	}
	return followers
}

// Maintain lets policies work at the end of a block: the one in force, and those of which the lane's state has messages.
func (r *Registry) Maintain(ctx sdk.Context, b *Block, inForce Policy) error {
	for _, p := range r.policies {
		leaves := func(packed *codectypes.Any) bool { return r.leaves[packed.TypeUrl] == p }
		if p != inForce && !slices.ContainsFunc(b.State.Policies, leaves) {
			continue
		}
		if err := p.Maintain(ctx, b, p == inForce); err != nil {
			return err
		}
	}
	return nil
}

var (
	_ state.Component   = (*Registry)(nil)
	_ state.TimerReader = (*Registry)(nil)
	_ state.Hook        = (*Registry)(nil)
)

// InitGenesis implements state.Component: it refuses what a guest keeps that the chain has not registered, since that would be
// lost.
func (r *Registry) InitGenesis(_ context.Context, genesis *types.GenesisState) error {
	for _, packed := range slices.Concat(genesis.Lane.Policies, genesis.Policies) {
		if !r.keeps(packed.TypeUrl) {
			return types.ErrInvalidGenesis.Wrapf("policies: this chain has registered nothing that keeps %s", packed.TypeUrl)
		}
	}
	return nil
}

// keeps reports whether a guest of the chain keeps messages of a type.
func (r *Registry) keeps(typeURL string) bool {
	return slices.ContainsFunc(r.guests, func(g Guest) bool {
		return slices.ContainsFunc(g.Messages().State, func(state types.PolicyState) bool { return urlOf(state) == typeURL })
	})
}

// ExportGenesis implements state.Component: the guests export what they keep. What the lane's state still carries of a guest
// that a binary before had is left out, as Complete leaves out its parameters: no chain with this binary would take it.
func (r *Registry) ExportGenesis(_ context.Context, genesis *types.GenesisState) error {
	genesis.Lane.Policies = slices.DeleteFunc(slices.Clone(genesis.Lane.Policies), func(packed *codectypes.Any) bool { return !r.keeps(packed.TypeUrl) })
	return nil
}

// ReadTimers implements state.TimerReader. The module's account must hold the sum of the bids that the records state as
// locked, and the policy that returns them must be registered.
func (r *Registry) ReadTimers(ctx context.Context, head *types.GenesisState) state.TimerReading {
	locked := math.ZeroInt()
	return state.TimerReading{
		Timer: func(i int, t *types.Timer) error {
			if of := t.Locked(); len(r.lockers) == 0 && of.IsPositive() {
				return types.ErrInvalidGenesis.Wrapf("timers[%d] has locked %s: this chain has registered no policy that returns it", i, of)
			}
			locked = locked.Add(t.Locked())
			return nil
		},
		Done: func() error {
			if err := r.checkHeld(ctx, &head.Config, locked); err != nil {
				return types.ErrInvalidGenesis.Wrapf("%s, and the genesis of bank before that of %s", err, types.ModuleName)
			}
			return nil
		},
	}
}

// CheckInvariants implements state.Component.
func (r *Registry) CheckInvariants(ctx context.Context) error {
	config, err := r.parts.Configs.Get(ctx)
	if err != nil {
		return err
	}
	locked := math.ZeroInt()
	err = r.parts.Records.Walk(ctx, state.Range{}, func(t *types.Timer) (bool, error) {
		locked = locked.Add(t.Locked())
		return false, nil
	})
	if err != nil {
		return err
	}
	return r.checkHeld(ctx, &config, locked)
}

// checkHeld: the module's account holds what timers have locked, and nothing else.
func (r *Registry) checkHeld(ctx context.Context, config *types.TimerConfig, locked math.Int) error {
	if held := r.parts.Fees.Held(ctx, config); !held.Amount.Equal(locked) {
		return fmt.Errorf("the module's account %s holds %s, its timers have locked %s (bid_locked): want as much",
			r.parts.Addresses.Text(r.parts.Fees.Account), held, locked)
	}
	return nil
}

func urlOf(message proto.Message) string { return "/" + proto.MessageName(message) }

// register adds a guest, and makes its messages known to the chain's codec. It panics if its parameters have the name of another
// guest's or of a parameter of the config: --set NAME.field would name both.
func (r *Registry) register(g Guest) {
	known, ok := r.parts.Codec.(interface {
		InterfaceRegistry() codectypes.InterfaceRegistry
	})
	if !ok {
		panic(fmt.Errorf("x/timers: the codec %T has no registry of interfaces", r.parts.Codec))
	}
	RegisterInterfaces(known.InterfaceRegistry(), g)
	if params := g.Messages().Params; params != nil {
		name := types.PolicyName(urlOf(params))
		taken := slices.ContainsFunc(r.guests, func(other Guest) bool {
			theirs := other.Messages().Params
			return theirs != nil && types.PolicyName(urlOf(theirs)) == name
		})
		if taken || types.IsConfigField(name) {
			panic(fmt.Errorf("x/timers: the name %q of the parameters %s is taken", name, urlOf(params)))
		}
	}
	r.guests = append(r.guests, g)
}

// Complete returns a config with the parameters of each guest of the chain: those that it states, else their defaults. It leaves
// out what it states of guests that the chain does not have, as a config of a binary that had them may.
func (r *Registry) Complete(config types.TimerConfig) types.TimerConfig {
	stated := config.PolicyParams
	config.PolicyParams = nil
	for _, g := range r.guests {
		params := g.Messages().Params
		if params == nil {
			continue
		}
		i := slices.IndexFunc(stated, func(packed *codectypes.Any) bool { return packed.GetTypeUrl() == urlOf(params) })
		if i >= 0 {
			if cached, ok := stated[i].GetCachedValue().(types.PolicyParams); ok {
				params = cached
			}
		}
		config.SetParams(params)
	}
	return config
}

// checkParams refuses parameters of a guest that the chain does not have.
func (r *Registry) checkParams(config *types.TimerConfig) error {
	for _, packed := range config.PolicyParams {
		known := slices.ContainsFunc(r.guests, func(g Guest) bool {
			params := g.Messages().Params
			return params != nil && urlOf(params) == packed.GetTypeUrl()
		})
		if !known {
			return types.ErrInvalidConfig.Wrapf("policy_params: this chain has registered nothing with the parameters %.80s", packed.GetTypeUrl())
		}
	}
	return nil
}

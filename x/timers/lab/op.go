package lab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// The kinds of ops.
const (
	opSchedule  = "schedule"
	opCancel    = "cancel"
	opExtend    = "extend"
	opUpdate    = "update"
	opPause     = "pause"
	opResume    = "resume"
	opSysCancel = "sys_cancel"
	opSysExtend = "sys_extend"
	opConfig    = "config"
	opSend      = "send"
	opSet       = "set"
)

// Op is one thing that somebody does. Which fields matter depends on its kind.
type Op struct {
	// At is the block in which it runs; 0 for an op of a handler.
	At   uint64
	Kind string
	// As names the timer that it schedules, Timer the one that it acts on.
	As, Timer string
	// By is the account that does it; empty for the authority.
	By        string
	Trigger   types.Trigger
	GasLimit  uint64
	ExpiresAt uint64
	Bid       *types.Bid
	FeePayer  string
	// Retry and OnUnfunded say what becomes of fires that fail or can't be paid.
	Retry      *types.Retry
	OnUnfunded types.OnUnfunded
	// Do is the handler; nil leaves an updated timer's as it is.
	Do *Handler
	// To and Amount are those of a transfer.
	To     string
	Amount math.Int
	// Key is the scenario key that is changed.
	Key string
	// Set is the change of the config.
	Set configChange

	path string
}

// Handler is what a timer does when it fires: it spends cycles, writes cells, and then at most one of the rest.
type Handler struct {
	// Cycles on top of the intrinsic ones, and Cells: both exact.
	Cycles, Cells         uint64
	Fail, Panic, SpendAll bool
	// Ops that it runs as its owner.
	Ops []Op
	// Payload is the JSON that says so, as the timer carries it.
	Payload []byte
}

// introduces calls fn for every timer that the op or its handler may schedule.
func (op *Op) introduces(fn func(name string)) {
	if op.As != "" {
		fn(op.As)
	}
	if op.Do == nil {
		return
	}
	for i := range op.Do.Ops {
		op.Do.Ops[i].introduces(fn)
	}
}

// actingFor says whose handler an op belongs to; zero for an op of a block.
type actingFor struct {
	account string
	nesting int
}

func (a actingFor) handler() bool { return a.account != "" }

// blockOps and handlerOps are the kinds that a block and a handler may run.
var (
	blockOps   = []string{opSchedule, opCancel, opExtend, opUpdate, opPause, opResume, opSysCancel, opSysExtend, opConfig, opSend, opSet}
	handlerOps = []string{opSchedule, opCancel, opExtend, opUpdate, opPause, opResume, opSet}
)

// fields reads the fields that an op of its kind has.
func (p *parser) fields(o *object, op *Op, who actingFor) {
	switch op.Kind {
	case opSchedule:
		p.schedule(o, op, who)
	case opUpdate:
		p.update(o, op, who)
	case opCancel, opPause, opResume:
		p.target(o, op, who)
		op.By = p.actor(o, "by", who)
	case opExtend:
		p.target(o, op, who)
		op.By = p.actor(o, "by", who)
		op.ExpiresAt = o.need("expires_at").uint64(^uint64(0))
	case opSysCancel:
		p.target(o, op, who)
	case opSysExtend:
		p.target(o, op, who)
		op.ExpiresAt = o.need("expires_at").uint64(^uint64(0))
	case opConfig:
		op.Set = readConfigChange(o.need("set"))
	case opSend:
		op.By, op.To = p.account(o.need("from")), p.account(o.need("to"))
		amount := o.need("amount")
		if op.Amount = amount.integer(); op.Amount.IsNegative() {
			p.fail(amount.path, "want an integer from 0")
		}
	case opSet:
		op.By = p.actor(o, "by", who)
		op.Key = o.need("key").text("a key", maxNameBytes)
	}
}

func (p *parser) op(v value, who actingFor) Op {
	op := Op{path: v.path}
	if p.ops++; p.ops > MaxOps {
		p.fail(v.path, "more than %d ops", MaxOps)
	}
	if !v.want("an object", "an op") {
		return op
	}
	o := v.object()
	kind := o.need("op")
	op.Kind = kind.text("a kind of op", maxNameBytes)
	known := handlerOps
	if !who.handler() {
		known = blockOps
		op.At = p.at(o)
	}
	if !slices.Contains(known, op.Kind) {
		p.fail(kind.path, "unknown op %.80q; known: %s", op.Kind, strings.Join(known, ", "))
	}
	p.fields(o, &op, who)
	o.end()
	return op
}

func (p *parser) at(o *object) uint64 {
	v := o.need("at")
	at := v.uint64(^uint64(0))
	if at == 0 || at > p.scenario.Blocks {
		p.fail(v.path, "want a block from 1 to %d", p.scenario.Blocks)
	}
	return at
}

func (p *parser) account(v value) string {
	name := v.text("an account's name", maxNameBytes)
	if p.err == nil && !p.accounts[name] {
		p.fail(v.path, "there is no account %.80q", name)
	}
	return name
}

// actor reads who does it. A handler's op is its owner's; saying so is no error.
func (p *parser) actor(o *object, field string, who actingFor) string {
	if !who.handler() {
		return p.account(o.need(field))
	}
	if v := o.get(field); v.present() && p.account(v) != who.account {
		p.fail(v.path, "a handler acts as its owner %.80q", who.account)
	}
	return who.account
}

// target reads which timer the op acts on.
func (p *parser) target(o *object, op *Op, who actingFor) {
	v := o.need("timer")
	op.Timer = v.text("a timer's name", maxNameBytes)
	if who.handler() {
		p.mentions = append(p.mentions, mention{v.path, op.Timer})
	}
}

func (p *parser) schedule(o *object, op *Op, who actingFor) {
	op.By = p.actor(o, "actor", who)
	as := o.need("as")
	op.As = as.text("a timer's name", maxNameBytes)
	if _, twice := p.scenario.owners[op.As]; twice {
		p.fail(as.path, "another op schedules a timer %.80q", op.As)
	}
	p.scenario.owners[op.As] = op.By
	op.Trigger = p.trigger(o)
	op.GasLimit = o.get("gas_limit").uint64(^uint64(0))
	op.ExpiresAt = o.get("expires_at").uint64(^uint64(0))
	op.Bid = p.bid(o.get("bid"))
	if payer := o.get("fee_payer"); payer.present() {
		op.FeePayer = p.account(payer)
	}
	p.life(o, op)
	op.Do = p.handler(o.get("do"), op.By, who.nesting)
}

func (p *parser) update(o *object, op *Op, who actingFor) {
	p.target(o, op, who)
	op.By = p.actor(o, "by", who)
	op.GasLimit = o.get("gas_limit").uint64(^uint64(0))
	op.Bid = p.bid(o.get("bid"))
	op.Do = p.handler(o.get("do"), op.By, who.nesting)
}

// trigger reads what makes the timer due. Which kinds of trigger there are is for the module to say.
func (p *parser) trigger(o *object) types.Trigger {
	height, every, watch := o.get("height"), o.get("every"), o.get("watch")
	stated := 0
	for _, v := range []value{height, every, watch} {
		if v.present() {
			stated++
		}
	}
	if stated != 1 {
		p.fail(o.path, "want one of height, every and watch")
	}
	if every.present() {
		return types.Trigger{Interval: p.interval(o, every)}
	}
	if watch.present() {
		return types.Trigger{Watch: p.watch(o, watch)}
	}
	return types.Trigger{Height: height.uint64(^uint64(0))}
}

func (p *parser) interval(o *object, every value) *types.IntervalTrigger {
	interval := &types.IntervalTrigger{
		Every: every.uint64(^uint64(0)), First: o.get("first").uint64(^uint64(0)), Remaining: o.get("remaining").uint64(^uint64(0)),
	}
	if v := o.get("on_failure"); v.present() {
		switch text := v.text("roll or stop", maxNameBytes); text {
		case "roll":
			interval.OnFailure = types.OnFailureRoll
		case "stop":
			interval.OnFailure = types.OnFailureStop
		default:
			p.fail(v.path, "want roll or stop, not %.80q", text)
		}
	}
	return interval
}

// life reads what becomes of fires that fail or can't be paid.
func (p *parser) life(o *object, op *Op) {
	if v := o.get("retry"); v.present() {
		retry := v.object()
		op.Retry = &types.Retry{
			Max: uint32(retry.need("max").uint64(uint64(^uint32(0)))), After: retry.need("after").uint64(^uint64(0)),
		}
		retry.end()
	}
	if v := o.get("on_unfunded"); v.present() {
		switch text := v.text("destroy or suspend", maxNameBytes); text {
		case "destroy":
			op.OnUnfunded = types.OnUnfundedDestroy
		case "suspend":
			op.OnUnfunded = types.OnUnfundedSuspend
		default:
			p.fail(v.path, "want destroy or suspend, not %.80q", text)
		}
	}
}

// watch reads a watch; it is one shot unless it says how many.
func (p *parser) watch(o *object, v value) *types.WatchTrigger {
	trigger := &types.WatchTrigger{Remaining: 1}
	if remaining := o.get("remaining"); remaining.present() {
		trigger.Remaining = remaining.uint64(^uint64(0))
	}
	for _, item := range v.list(maxWatchKeys) {
		key := item.text("a key", maxNameBytes)
		trigger.Keys = append(trigger.Keys, types.WatchKey{Store: storeName, Prefix: settingKey(key)})
	}
	if len(trigger.Keys) == 0 {
		p.fail(v.path, "want at least one key")
	}
	return trigger
}

// bid reads what the timer is willing to pay. Whether such a bid is acceptable is for the module to say.
func (p *parser) bid(v value) *types.Bid {
	if !v.present() || p.err != nil {
		return nil
	}
	if v.kind() != "an object" {
		return &types.Bid{Price: v.integer().String()}
	}
	o := v.object()
	tier, agent := o.get("tier"), o.get("agent")
	switch {
	case tier.present():
		o.end()
		return &types.Bid{Tier: p.tier(tier)}
	case agent.present():
		o.end()
		return &types.Bid{Agent: p.agent(agent).String()}
	default:
		static := p.staticBid(o)
		o.end()
		return &types.Bid{Static: static}
	}
}

func (*parser) staticBid(o *object) *types.StaticBid {
	return &types.StaticBid{
		MaxFeePerCycle: o.need("max_fee").decimal(), MaxPriorityFeePerCycle: o.need("max_priority").decimal(),
	}
}

func (p *parser) tier(v value) types.PriorityTier {
	text := v.text("a tier", maxNameBytes)
	tier, ok := types.PriorityTier_value["PRIORITY_TIER_"+strings.ToUpper(text)]
	if p.err == nil && (!ok || tier == 0 || text != strings.ToLower(text)) {
		p.fail(v.path, "want economy, standard, fast or urgent, not %.80q", text)
	}
	return types.PriorityTier(tier)
}

// handler reads a handler, which keeps the JSON that it was read from as its payload.
func (p *parser) handler(v value, owner string, nesting int) *Handler {
	if !v.present() || p.err != nil {
		return nil
	}
	if nesting++; nesting > maxNesting {
		p.fail(v.path, "handlers within handlers more than %d deep", maxNesting)
		return nil
	}
	o := v.object()
	h := &Handler{
		Cycles: o.get("cycles").uint64(maxCycles), Cells: o.get("cells").uint64(MaxCells),
		Fail: o.get("fail").boolean(), Panic: o.get("panic").boolean(), SpendAll: o.get("spend_all").boolean(),
	}
	ops := o.get("ops")
	o.end()
	for _, item := range ops.list(MaxOps) {
		op := p.op(item, actingFor{account: owner, nesting: nesting})
		if p.err != nil {
			return nil
		}
		h.Ops = append(h.Ops, op)
	}
	endings := 0
	for _, is := range []bool{h.Fail, h.Panic, h.SpendAll, len(h.Ops) > 0} {
		if is {
			endings++
		}
	}
	if endings > 1 {
		p.fail(v.path, "want at most one of fail, panic, spend_all and ops")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, v.raw); err != nil {
		p.fail(v.path, "%v", err)
	}
	h.Payload = compact.Bytes()
	return h
}

// parseHandler reads a handler back from a timer's payload; no payload is a handler that does nothing.
func parseHandler(payload []byte, owner string, accounts map[string]bool) (*Handler, error) {
	if len(payload) == 0 {
		return &Handler{}, nil
	}
	if !json.Valid(payload) {
		return nil, fmt.Errorf("not JSON")
	}
	p := &parser{accounts: accounts, scenario: newScenario()}
	h := p.handler(value{r: &p.reader, path: "do", raw: payload}, owner, 0)
	return h, p.err
}

func coins(denom string, amount math.Int) sdk.Coins {
	return sdk.Coins{sdk.Coin{Denom: denom, Amount: amount}}
}

package scenario

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// parser reads the ops of a scenario, or the handler of one of its timers.
type parser struct {
	reader
	scenario *Scenario
	accounts map[string]bool
	// ops read so far.
	ops int
	// mentions are the timers that handlers act on, to be checked when all names are known.
	mentions []mention
}

type mention struct{ path, timer string }

// actingFor is the handler that an op belongs to; zero for an op of a block.
type actingFor struct {
	account string
	nesting int
}

func (a actingFor) handler() bool { return a.account != "" }

// blockOps and handlerOps are the kinds that a block and a handler may run.
var (
	blockOps   = []string{OpSchedule, OpCancel, OpExtend, OpUpdate, OpPause, OpResume, OpSysCancel, OpSysExtend, OpConfig, OpSend, OpSet, OpJump, OpSkip, OpRun}
	handlerOps = []string{OpSchedule, OpCancel, OpExtend, OpUpdate, OpPause, OpResume, OpSet, OpSkip, OpRun}
)

// fields reads the fields that an op of its kind has.
func (p *parser) fields(o *object, op *Op, who actingFor) {
	switch op.Kind {
	case OpSchedule:
		p.schedule(o, op, who)
	case OpUpdate:
		p.update(o, op, who)
	case OpCancel, OpPause, OpResume, OpSkip, OpRun:
		p.target(o, op, who)
		op.By = p.actor(o, "by", who)
		if op.Kind == OpSkip {
			op.Count = uint32(o.need("count").uint64(uint64(^uint32(0))))
			op.From = o.get("from").uint64(^uint64(0))
		}
		if at := o.get("resume_at"); op.Kind == OpResume && at.present() {
			op.ResumeAt = choice(at, map[string]types.ResumeAt{"now": types.ResumeNow, "next": types.ResumeNext}, "now or next")
		}
	case OpExtend:
		p.target(o, op, who)
		op.By = p.actor(o, "by", who)
		readEnd(o, op)
	case OpSysCancel:
		p.target(o, op, who)
	case OpSysExtend:
		p.target(o, op, who)
		readEnd(o, op)
	case OpConfig:
		op.Set = readConfigChange(o.need("set"))
	case OpSend:
		op.By, op.To = p.account(o.need("from")), p.account(o.need("to"))
		amount := o.need("amount")
		if op.Amount = amount.integer(); op.Amount.IsNegative() {
			p.fail(amount.path, "want an integer from 0")
		}
	case OpSet:
		op.By = p.actor(o, "by", who)
		op.Key = o.need("key").text("a key", maxNameBytes)
	case OpJump:
		op.Seconds = int64(o.need("seconds").uint64(maxBlockSeconds))
	}
}

// readEnd reads when a timer is to end: at a height, at a time, or at whichever comes first.
func readEnd(o *object, op *Op) {
	height, time := o.get("expires_at"), o.get("expires_time")
	if !height.present() && !time.present() {
		o.need("expires_at")
	}
	op.ExpiresAt, op.ExpiresTime = height.uint64(^uint64(0)), int64(time.uint64(math.MaxInt64))
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

// actor reads the account that acts. In a handler that is its owner, which may be stated.
func (p *parser) actor(o *object, field string, who actingFor) string {
	if !who.handler() {
		return p.account(o.need(field))
	}
	if v := o.get(field); v.present() && p.account(v) != who.account {
		p.fail(v.path, "a handler acts as its owner %.80q", who.account)
	}
	return who.account
}

// target reads the timer that the op acts on.
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
	if _, twice := p.scenario.Owners[op.As]; twice {
		p.fail(as.path, "another op schedules a timer %.80q", op.As)
	}
	p.scenario.Owners[op.As] = op.By
	readTrigger(o, op)
	op.GasLimit = o.get("gas_limit").uint64(^uint64(0))
	op.CellLimit = o.get("cell_limit").uint64(^uint64(0))
	op.ExpiresAt = o.get("expires_at").uint64(^uint64(0))
	op.ExpiresTime = int64(o.get("expires_time").uint64(math.MaxInt64))
	op.Bid = readBid(o.get("bid"), p.scenario.Agents)
	if payer := o.get("fee_payer"); payer.present() {
		op.FeePayer = p.account(payer)
	}
	op.MaxCharge = p.amount(o.get("max_charge"))
	// An empty label is none. One that is too long is the module's to refuse.
	if label := o.get("label"); label.present() && string(label.raw) != `""` {
		op.Label = label.text("a label", maxLabelBytes)
		// A handler may run more than once.
		p.scenario.Labels[op.Label] += 1 + min(who.nesting, 1)
	}
	if name := o.get("name"); name.present() {
		if op.Label != "" {
			p.fail(name.path, "want a name or a label, not both")
		}
		op.Name = name.text("a name", maxLabelBytes)
	}
	readOptions(o, op)
	op.Do = p.handler(o.get("do"), op.By, who.nesting)
}

func (p *parser) update(o *object, op *Op, who actingFor) {
	p.target(o, op, who)
	op.By = p.actor(o, "by", who)
	op.GasLimit = o.get("gas_limit").uint64(^uint64(0))
	op.CellLimit = o.get("cell_limit").uint64(^uint64(0))
	op.Bid = readBid(o.get("bid"), p.scenario.Agents)
	op.MaxCharge = p.amount(o.get("max_charge"))
	if name := o.get("name"); name.present() && string(name.raw) != `""` {
		op.Name = name.text("a name", maxLabelBytes)
	}
	for _, leaf := range updateLeaves {
		if o.get(leaf.key).present() {
			op.Fields = append(op.Fields, leaf.field)
		}
	}
	readTrigger(o, op)
	readOptions(o, op)
	op.Do = p.handler(o.get("do"), op.By, who.nesting)
}

// updateLeaves are the keys of an update that are one field of the spec each, beside the trigger and how it repeats.
var updateLeaves = []struct{ key, field string }{
	{"name", "name"},
	{"gas_limit", "gas_limit"},
	{"cell_limit", "cell_limit"},
	{"bid", "bid"},
	{"max_charge", "max_charge"},
	{"do", "call"},
	{"retry", "retry"},
	{"on_unfunded", "on_unfunded"},
	{"only_if", "only_if"},
}

// amount reads an integer from 0; empty if the field is absent.
func (p *parser) amount(v value) string {
	if !v.present() {
		return ""
	}
	n := v.integer()
	if n.IsNil() || n.IsNegative() {
		p.fail(v.path, "want an integer from 0")
		return ""
	}
	return n.String()
}

// handler reads a handler, and enters it into the scenario's table.
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
	h.Name = fmt.Sprintf("do %d", len(p.scenario.Handlers)+1)
	p.scenario.Handlers[h.Name] = h
	return h
}

// readOptions reads what happens when a fire fails and when its payer lacks funds, and what must hold when it fires.
func readOptions(o *object, op *Op) {
	for _, item := range o.get("only_if").list(maxWatchKeys) {
		op.OnlyIf = append(op.OnlyIf, readWatchKey(item))
	}
	if v := o.get("retry"); v.present() {
		retry := v.object()
		op.Retry = &types.Retry{
			Max: uint32(retry.need("max").uint64(uint64(^uint32(0)))), After: retry.need("after").uint64(^uint64(0)),
			Backoff: uint32(retry.get("backoff").uint64(uint64(^uint32(0)))),
		}
		for _, item := range retry.get("on").list(maxRetryErrors) {
			one := item.object()
			op.Retry.On = append(op.Retry.On, types.ErrorCode{
				Codespace: one.need("codespace").text("a codespace", maxNameBytes), Code: uint32(one.get("code").uint64(uint64(^uint32(0)))),
			})
			one.end()
		}
		retry.end()
	}
	if v := o.get("on_unfunded"); v.present() {
		op.OnUnfunded = choice(v, map[string]types.OnUnfunded{
			"destroy": types.OnUnfundedDestroy, "suspend": types.OnUnfundedSuspend, "skip": types.OnUnfundedSkip,
		}, "destroy, suspend or skip")
	}
}

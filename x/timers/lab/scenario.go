package lab

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Limits of a scenario file. They keep a file that somebody sent from filling the machine; no honest one comes near.
const (
	// MaxInputBytes bounds the file.
	MaxInputBytes = 64 << 20
	// MaxBlocks bounds `blocks`.
	MaxBlocks = 1_000_000
	// MaxOps bounds all ops of a file, those of handlers included.
	MaxOps = 1_000_000
	// MaxAccounts bounds `accounts`; every line prints them all.
	MaxAccounts = 10_000
	// MaxCells bounds what a handler of a scenario may want to write.
	MaxCells = 16 << 20

	// maxCycles bounds what a handler may want to spend, far above what any config lets it.
	maxCycles = uint64(1) << 50
	// maxBalanceBits bounds a balance, so that no sum of them overflows.
	maxBalanceBits = 128
	maxNameBytes   = 128
	maxNumberBytes = 128
	// maxNesting bounds handlers that schedule handlers.
	maxNesting   = 16
	maxWatchKeys = 1_024
)

// defaultFeeDenom is the fee denom of a scenario whose config names none.
const defaultFeeDenom = "utmr"

// Scenario is a timer workload written down. It is made by Parse, which checks it.
type Scenario struct {
	Config types.TimerConfig
	// Accounts by name.
	Accounts []Account
	// Blocks to run; the first has height 1.
	Blocks uint64
	// Ops in the order of the file.
	Ops []Op
	// owners: the name of a timer → the account that owns it, if it comes to be.
	owners map[string]string
	// agents are the scripted bidding agents by address.
	agents map[string]agent
}

func newScenario() *Scenario {
	return &Scenario{owners: map[string]string{}, agents: map[string]agent{}}
}

// Account is an account of a scenario and what it starts with, in the fee denom.
type Account struct {
	Name    string
	Balance math.Int
}

// AccountAddress is the address of a scenario's account.
func AccountAddress(name string) sdk.AccAddress {
	sum := sha256.Sum256([]byte("timers/scenario/" + name))
	return sum[:20]
}

// Read reads a scenario, of which nothing is trusted.
func Read(source io.Reader) (*Scenario, error) {
	data, err := io.ReadAll(io.LimitReader(source, MaxInputBytes+1))
	if err != nil {
		return nil, &InputError{Reason: err.Error()}
	}
	return Parse(data)
}

// Parse reads a scenario, of which nothing is trusted. The error is an *InputError and names the path in the file.
func Parse(data []byte) (*Scenario, error) {
	p := &parser{accounts: map[string]bool{}, scenario: newScenario()}
	switch {
	case len(data) > MaxInputBytes:
		p.fail("", "longer than %d bytes", MaxInputBytes)
	case !utf8.Valid(data):
		p.fail("", "not UTF-8")
	}
	var raw json.RawMessage
	if p.err == nil {
		if err := json.Unmarshal(data, &raw); err != nil {
			p.fail("", "not JSON: %v", err)
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	p.file(value{r: &p.reader, raw: raw})
	if p.err != nil {
		return nil, p.err
	}
	return p.scenario, nil
}

// parser reads a scenario, or the handler of one of its timers.
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

func (p *parser) file(v value) {
	if !v.want("an object", "an object") {
		return
	}
	o := v.object()
	p.config(o.get("config"))
	p.readAccounts(o.need("accounts"))
	blocks := o.need("blocks")
	if p.scenario.Blocks = blocks.uint64(MaxBlocks); p.scenario.Blocks == 0 {
		p.fail(blocks.path, "want an integer from 1 to %d", MaxBlocks)
	}
	ops := o.get("ops")
	o.end()
	for _, item := range ops.list(MaxOps) {
		op := p.op(item, actingFor{})
		if p.err != nil {
			return
		}
		p.scenario.Ops = append(p.scenario.Ops, op)
	}
	p.checkNames()
}

// config reads the config that the chain starts with.
func (p *parser) config(v value) {
	config := types.DefaultTimerConfig(defaultFeeDenom)
	change := readConfigChange(v)
	if p.err != nil {
		return
	}
	if err := change.apply(&config); err != nil {
		p.fail(v.path, "%v", err)
	} else if err := config.Validate(); err != nil {
		p.fail(v.path, "%v", err)
	}
	p.scenario.Config = config
}

func (p *parser) readAccounts(v value) {
	o := v.object()
	if len(o.names) > MaxAccounts {
		p.fail(v.path, "more than %d accounts", MaxAccounts)
	}
	for _, name := range o.names {
		member := o.get(name)
		if len(name) == 0 || len(name) > maxNameBytes {
			p.fail(member.path, "want a name of 1 to %d bytes", maxNameBytes)
		}
		balance := member.integer()
		if p.err != nil {
			return
		}
		if balance.IsNegative() || balance.BigInt().BitLen() > maxBalanceBits {
			p.fail(member.path, "want a balance from 0 to 2^%d - 1", maxBalanceBits)
		}
		p.accounts[name] = true
		p.scenario.Accounts = append(p.scenario.Accounts, Account{Name: name, Balance: balance})
	}
	slices.SortFunc(p.scenario.Accounts, func(a, b Account) int { return cmp.Compare(a.Name, b.Name) })
}

// Order returns the ops in the order in which they run, as indices: by block, and as in the file within a block.
func (s *Scenario) Order() []int {
	order := make([]int, len(s.Ops))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(s.Ops[i].At, s.Ops[j].At) })
	return order
}

// checkNames holds that every op names a timer that an op before it introduces. Handlers run later than the ops that
// state them: they may name any timer of the file.
func (p *parser) checkNames() {
	introduced := map[string]bool{}
	for _, i := range p.scenario.Order() {
		op := &p.scenario.Ops[i]
		if op.Timer != "" && !introduced[op.Timer] {
			p.fail(memberPath(op.path, "timer"), "no earlier op schedules a timer %.80q", op.Timer)
			return
		}
		op.introduces(func(name string) { introduced[name] = true })
	}
	for _, m := range p.mentions {
		if _, known := p.scenario.owners[m.timer]; !known {
			p.fail(m.path, "no op schedules a timer %.80q", m.timer)
			return
		}
	}
}

func sortedNames[V any](names map[string]V) []string { return slices.Sorted(maps.Keys(names)) }

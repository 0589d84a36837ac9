package scenario

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// defaultFeeDenom is the fee denom of a scenario whose config names none.
const defaultFeeDenom = "utmr"

// Read reads an untrusted scenario, like Parse.
func Read(source io.Reader) (*Scenario, error) {
	data, err := io.ReadAll(io.LimitReader(source, MaxInputBytes+1))
	if err != nil {
		return nil, &InputError{Reason: err.Error()}
	}
	return Parse(data)
}

// Parse reads an untrusted scenario. The error is an *InputError and names the path in the file.
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
	p.scenario.Notes = p.notes
	return p.scenario, nil
}

func (p *parser) file(v value) {
	if !v.want("an object", "an object") {
		return
	}
	o := v.object()
	p.config(o.get("config"))
	p.scenario.NoHeadroom = o.get("no_headroom").boolean()
	p.readAccounts(o.need("accounts"))
	blocks := o.need("blocks")
	if p.scenario.Blocks = blocks.uint64(MaxBlocks); p.scenario.Blocks == 0 {
		p.fail(blocks.path, "want an integer from 1 to %d", MaxBlocks)
	}
	p.times(o.get("start_time"), o.get("block_seconds"))
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

// times reads when the blocks are.
func (p *parser) times(start, distances value) {
	s := p.scenario
	if s.StartTime = defaultStartTime; start.present() {
		if s.StartTime = int64(start.uint64(maxStartTime)); s.StartTime == 0 {
			p.fail(start.path, "want seconds from 1 to %d", uint64(maxStartTime))
		}
	}
	switch {
	case !distances.present():
		s.BlockSeconds = []int64{defaultBlockSeconds}
	case distances.kind() != "a list":
		s.BlockSeconds = []int64{int64(distances.uint64(maxBlockSeconds))}
	default:
		for _, item := range distances.list(maxBlockDistances) {
			s.BlockSeconds = append(s.BlockSeconds, int64(item.uint64(maxBlockSeconds)))
		}
		if len(s.BlockSeconds) == 0 {
			p.fail(distances.path, "want a number, or a list of at least one")
		}
	}
}

// config reads the config that the chain starts with.
func (p *parser) config(v value) {
	config := types.DefaultTimerConfig(defaultFeeDenom)
	change := readConfigChange(v)
	if p.err != nil {
		return
	}
	if err := change.Apply(&config); err != nil {
		p.fail(v.path, "%v", err)
	} else if err := config.Validate(); err != nil {
		// Not %v, which adds the place in the source where the error was wrapped.
		p.fail(v.path, "%s", err)
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

// checkNames checks that every op names a timer that an earlier op introduces. Handlers run later than the ops that
// hold them: they may name any timer of the file.
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
		if _, known := p.scenario.Owners[m.timer]; !known {
			p.fail(m.path, "no op schedules a timer %.80q", m.timer)
			return
		}
	}
}

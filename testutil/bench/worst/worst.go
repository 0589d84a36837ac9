package worst

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"cosmossdk.io/collections"
	sdkmath "cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/testutil/bench/cputime"
	"github.com/cosmos-timers/timers/testutil/bench/figure"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// blocks of a mix that are looked at, from the one in which it is due.
	blocks = 3
	// writeWeight is how many reads a write counts for: it is read, branched, and committed to the tree.
	writeWeight = 8
	// denom of the fees.
	denom = "stake"
	// laneSends are as many bank sends as the default lane's cycles hold.
	laneSends = 2_000_000 / 15_771
)

// Found is a mix, and what its dearest block cost.
type Found struct {
	Config string `json:"config"`
	Policy string `json:"policy"`
	Mix    Mix    `json:"mix"`
	// Ratio is the weight of the store operations of the dearest block to that of a block of sends that fill the lane.
	Ratio float64 `json:"ratio"`
	// Time is the same of processor time, commit included, of the mix that takes longest, which is Slowest; 0 where it was not
	// measured.
	Time    float64 `json:"time,omitempty"`
	Slowest Mix     `json:"slowest"`
}

// weight of store operations.
func weight(c storecount.Counts) float64 { return float64(c.Reads() + writeWeight*c.Writes()) }

// floorWeight is the weight of a block of sends that fill the lane.
func floorWeight() (float64, error) {
	chain, err := lab.NewChain(lab.ChainOptions{Genesis: types.NewGenesis(denom), Balances: floorBalances()})
	if err != nil {
		return 0, err
	}
	if err := chain.BeginBlock(); err != nil {
		return 0, err
	}
	branch, _ := chain.Ctx().CacheContext()
	multi, counts := storecount.WrapMulti(branch.MultiStore(), nil)
	err = sends(chain, branch.WithMultiStore(multi))
	return weight(counts.All()), err
}

// firstSender is whose sends are the first of the floor. No one watches him.
const firstSender = 2

func floorBalances() []lab.Balance { return workload.Balances(firstSender + 2*laneSends) }

// sends fill the lane, each of another account to another one, and on a branch of its own.
func sends(chain *lab.Chain, ctx sdk.Context) error {
	coin := sdk.NewCoins(sdk.NewInt64Coin(denom, 1))
	for i := range laneSends {
		msg := banktypes.NewMsgSend(workload.Owner(firstSender+i), workload.Owner(firstSender+laneSends+i), coin)
		branch, commit := ctx.CacheContext()
		if _, err := chain.Messages.Handler(msg)(branch.WithGasMeter(storetypes.NewGasMeter(workload.SendGasLimit)), msg); err != nil {
			return err
		}
		commit()
	}
	return nil
}

// change changes the keys that are watched, as transactions do that pay for it.
func (m Mix) change(chain *lab.Chain) error {
	for i := range m[changed] {
		balance := sdkmath.NewInt(chain.Ctx().BlockHeight() + 1)
		if err := chain.Bank.Balances.Set(chain.Ctx(), collections.Join(ownerOf(changed, i), denom), balance); err != nil {
			return err
		}
	}
	return chain.Bank.SendCoins(chain.Ctx(), payer, workload.Owner(1),
		sdk.NewCoins(sdk.NewInt64Coin(denom, 1)))
}

// Count weighs the dearest block of a mix.
func Count(config Config, policy types.Policy, m Mix) (most float64, err error) {
	opts, err := m.options(config, policy)
	if err != nil {
		return 0, err
	}
	chain, err := lab.NewChain(opts)
	if err != nil {
		return 0, err
	}
	for range blocks {
		if err := chain.BeginBlock(); err != nil {
			return 0, err
		}
		if err := m.change(chain); err != nil {
			return 0, err
		}
		branch, _ := chain.Ctx().CacheContext()
		multi, counts := storecount.WrapMulti(branch.MultiStore(), nil)
		if err := chain.Timers.EndBlock(branch.WithMultiStore(multi)); err != nil {
			return 0, err
		}
		most = max(most, weight(counts.All()))
		if _, err := chain.EndBlock(); err != nil {
			return 0, err
		}
	}
	return most, nil
}

// Time is the processor time of the dearest block of a mix, commit included, to that of a block of sends on a chain that holds
// as many timers, of which none is due: the least of so many runs of each, in turns. What the same transactions take that change
// keys nobody watches is left out: they pay for it.
func Time(config Config, policy types.Policy, m Mix, runs int) (float64, error) {
	var least [3]time.Duration
	for run := range runs {
		for i, of := range []struct {
			mix   Mix
			block func(*lab.Chain) error
		}{{m, func(c *lab.Chain) error { return sends(c, c.Ctx()) }}, {m, m.change}, {Mix{}, m.change}} {
			opts, err := of.mix.options(config, policy)
			if err != nil {
				return 0, err
			}
			if i == 0 {
				postpone(opts.Genesis)
			}
			if i == 2 && m[changed] == 0 {
				continue
			}
			took, err := timeBlocks(opts, of.block)
			if err != nil {
				return 0, err
			}
			if run == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	return float64(least[1]-least[2]) / float64(least[0]), nil
}

// timeBlocks is the processor time of the dearest of a chain's first blocks.
func timeBlocks(opts lab.ChainOptions, transactions func(*lab.Chain) error) (most time.Duration, err error) {
	chain, err := lab.NewChain(opts)
	if err != nil {
		return 0, err
	}
	runtime.GC()
	for range blocks {
		took, err := cputime.Of(func() error {
			if err := chain.BeginBlock(); err != nil {
				return err
			}
			if err := transactions(chain); err != nil {
				return err
			}
			_, err := chain.EndBlock()
			return err
		})
		if err != nil {
			return 0, err
		}
		most = max(most, took)
	}
	return most, nil
}

// Search looks at so many mixes under a config and a policy: a third of them drawn, the rest the worst so far with a few genes
// changed.
func Search(config Config, policy types.Policy, mixes int, seed uint64, tell func(Found)) ([]Found, error) {
	floor, err := floorWeight()
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, uint64(policy)))
	var all []Found
	var worst Found
	for i := range mixes {
		m := draw(r)
		if i > mixes/3 {
			m = worst.Mix.mutated(r)
		}
		most, err := Count(config, policy, m)
		if err != nil {
			return nil, fmt.Errorf("mix %s: %w", m, err)
		}
		found := Found{Config: config.Name, Policy: plain.PolicyName(policy), Mix: m, Ratio: most / floor}
		if tell != nil {
			tell(found)
		}
		if all = append(all, found); found.Ratio > worst.Ratio {
			worst = found
		}
	}
	return all, nil
}

//go:embed testdata/mixes.txt
var kept []byte

// Kept are the mixes of the last search, the worst of each config and policy first.
func Kept() ([]Found, error) {
	var all []Found
	for lines := bufio.NewScanner(bytes.NewReader(kept)); lines.Scan(); {
		fields := strings.SplitN(lines.Text(), " ", 4)
		if len(fields) < 4 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		ratio, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			return nil, err
		}
		m, err := ParseMix(fields[3])
		if err != nil {
			return nil, err
		}
		all = append(all, Found{Config: fields[0], Policy: fields[1], Ratio: ratio, Mix: m})
	}
	return all, nil
}

// Text is how mixes are kept: a line each, the worst of each config and policy first.
func Text(all []Found) []byte {
	var out bytes.Buffer
	fmt.Fprintln(&out, "# config, policy, weighted store operations by those of a block of sends, and the mix (see mix.go)")
	slices.SortStableFunc(all, func(a, b Found) int {
		return cmp.Or(strings.Compare(a.Config, b.Config), strings.Compare(a.Policy, b.Policy), cmp.Compare(b.Ratio, a.Ratio))
	})
	for _, f := range all {
		fmt.Fprintf(&out, "%s %s %.2f %s\n", f.Config, f.Policy, f.Ratio, f.Mix)
	}
	return out.Bytes()
}

// timedMixes is how many of the mixes of a config and a policy are timed: the worst, and others from there to the mildest in equal
// steps. The block with the most store operations is not always the one that takes longest.
const timedMixes = 4

// Measure times the mixes of each config and policy that were kept, or the worst of the default policy if little time is given.
// It returns the worst of each, and the slowest.
func Measure(opts figure.Options) ([]Found, error) {
	all, err := Kept()
	if err != nil {
		return nil, err
	}
	runs, mixes, policies := 5, timedMixes, workload.Policies
	if opts.Quick {
		runs, mixes, policies = 2, 1, []types.Policy{types.PolicyEIP1559}
	}
	var measured []Found
	for _, config := range Configs {
		for _, policy := range policies {
			worst, err := worstOf(all, config, policy)
			if err != nil {
				return nil, err
			}
			opts.Tell("worst: %s, %s", worst.Config, worst.Policy)
			if worst.Slowest, err = slowest(all, config, policy, mixes); err != nil {
				return nil, err
			}
			if worst.Time, err = Time(config, policy, worst.Slowest, runs); err != nil {
				return nil, err
			}
			measured = append(measured, worst)
		}
	}
	return measured, nil
}

// slowest times so many of the mixes of each config, and returns the one that takes longest under this one.
func slowest(all []Found, config Config, policy types.Policy, mixes int) (m Mix, err error) {
	most := 0.0
	for _, of := range Configs {
		found := foundFor(all, of, policy)
		for i := range min(mixes, len(found)) {
			next := found[i*len(found)/mixes].Mix
			took, err := Time(config, policy, next, 1)
			if err != nil {
				return m, err
			}
			if took > most {
				most, m = took, next
			}
		}
	}
	return m, nil
}

// worstOf is the first, and so the worst, of the mixes of a config and a policy.
func worstOf(all []Found, config Config, policy types.Policy) (Found, error) {
	found := foundFor(all, config, policy)
	if len(found) == 0 {
		return Found{}, fmt.Errorf("no mix is kept for the config %s and the policy %s", config.Name, plain.PolicyName(policy))
	}
	return found[0], nil
}

// foundFor are the mixes of a config and a policy, the worst first.
func foundFor(all []Found, config Config, policy types.Policy) (found []Found) {
	name := plain.PolicyName(policy)
	for _, f := range all {
		if f.Config == config.Name && f.Policy == name {
			found = append(found, f)
		}
	}
	return found
}

// Table prints them.
func Table(worst []Found) *figure.Table {
	t := &figure.Table{
		Title:   "The most expensive block that was found under each config and policy, relative to a block of bank sends that fill the lane",
		Columns: []string{"config", "policy", "operations", "mix", "time", "mix that takes longest"},
		Notes: []string{
			"The narrow config has 1,000,000 for overhead_cycles_per_block and 100,000 for gc_cycles_per_block. Operations are weighted, a",
			"write 8 times a read. Time is processor time with commit, the least of runs in turns, of the slowest of some mixes; the sends are",
			"on a chain that holds as many timers and accounts, of which no timer is due.",
			"A mix is, in this order: timers ready, of each owner, their bids, payload bytes, failing of 100, interval; timers unfunded, of each",
			"payer; timers expired; on hold; watches of a key that changes, keys of each, whether the others have conditions; messages that are",
			"long to decode; watches that expired; timers whose time comes; calendars whose occurrence has passed; guards of each ready timer;",
			"whether what lacks funds skips a repetition; watched keys that change in every block; timers of former admins; paused ones; of",
			"100 ready timers those that schedule another.",
		},
	}
	for _, f := range worst {
		t.Row(f.Config, f.Policy, f.Ratio, f.Mix, f.Time, f.Slowest)
	}
	return t
}

package campaign

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// op is one operation of a history. What it does in detail follows from its dice and from the chain that it meets, so that
// a list of which some are dropped is still a history.
type op struct {
	kind string
	// number of the op in the list that was drawn; it names the timer that the op schedules.
	number int
	// target is the number of the op whose timer this one acts on.
	target int
	dice   uint64
}

func (o op) String() string {
	switch o.kind {
	case "update", "extend", "pause", "resume", "skip", "run", "cancel", "sys cancel", "sys extend", "sys release":
		return fmt.Sprintf("%d: %s timer %d (%#x)", o.number, o.kind, o.target, o.dice)
	default:
		return fmt.Sprintf("%d: %s (%#x)", o.number, o.kind, o.dice)
	}
}

// draws is where details come from.
func (o op) draws() draws { return draws{rand.New(rand.NewPCG(o.dice, 0))} }

// kinds of ops, each as often as it stands for in a thousand, about.
var kinds = func() (list []string) {
	for kind, weight := range map[string]int{
		"schedule": 210, "schedule module": 110, "schedule by contract": 40, "schedule as admin": 30, "schedule by reflect": 15,
		"update": 35, "extend": 35, "pause": 40, "resume": 40, "skip": 15, "run": 15, "cancel": 45, "sys cancel": 10, "sys extend": 10, "sys release": 20,
		"schedule remotely": 40, "remote": 10, "relay": 60, "transfer": 8, "handshake": 30,
		"agent": 15, "config": 12, "send": 90, "drain": 20, "grant": 15, "revoke": 6, "beat": 15, "contract": 15, "admin": 12,
		"delegate": 12, "propose": 4, "fault": 14, "check": 12, "query": 12, "garbage": 6, "block": 117,
	} {
		list = append(list, strings.Split(strings.Repeat(kind+"\n", weight), "\n")[:weight]...)
	}
	return sorted(list)
}()

// rare ops cost as much as thousands of others.
const (
	restartsPerMille = 2
	exportsPerMille  = 1
)

// drawOps draws a list. Its first op sets the config, its last ends a block.
func drawOps(seed uint64, count int) []op {
	d := draws{rand.New(rand.NewPCG(seed, 1))}
	ops := []op{{kind: "config", dice: d.Uint64()}}
	var scheduled []int
	for len(ops) < count-1 {
		o := op{kind: kinds[d.IntN(len(kinds))], number: len(ops), dice: d.Uint64()}
		switch rare := d.IntN(1_000_000); {
		case rare < 1_000*restartsPerMille:
			o.kind = "restart"
		case rare < 1_000*(restartsPerMille+exportsPerMille):
			o.kind = "export"
		}
		if strings.HasPrefix(o.kind, "schedule") {
			scheduled = append(scheduled, o.number)
		}
		if len(scheduled) > 0 {
			o.target = scheduled[len(scheduled)-1-d.IntN(min(len(scheduled), 90))]
		}
		ops = append(ops, o)
	}
	return append(ops, op{kind: "block", number: len(ops), dice: d.Uint64()})
}

// draws are random choices.
type draws struct{ *rand.Rand }

// between is a number from low to high.
func (d draws) between(low, high uint64) uint64 { return low + d.Uint64N(high-low+1) }

// one in so many.
func (d draws) one(in int) bool { return d.IntN(in) == 0 }

func pick[T any](d draws, list ...T) T { return list[d.IntN(len(list))] }

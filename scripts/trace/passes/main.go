// Command passes runs what scripts/trace traces: an empty block, the scheduling of a bank send, and its life from there to its
// receipt, under the default config. It writes the coverage of each to a directory of that name in the one that is named.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/coverage"

	"github.com/cosmos/gogoproto/proto"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "passes: %v\n", err)
		os.Exit(1)
	}
}

// alice has the chain's coins, and owns the timer.
var alice = sdk.AccAddress("alice_______________")

func run(dir string) error {
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{{Address: alice, Amount: math.NewInt(1_000_000_000)}}})
	if err != nil {
		return err
	}
	c := traced{chain}
	for range 3 { // what only the first blocks do is not traced
		if err := c.block(); err != nil {
			return err
		}
	}
	nothing := func() error { return nil }
	for _, pass := range []struct {
		name               string
		before, run, after func() error
	}{{"block", nothing, c.block, nothing}, {"schedule", c.BeginBlock, c.schedule, c.end}, {"life", c.BeginBlock, c.life, nothing}} {
		if err := pass.before(); err != nil {
			return err
		}
		if err := cover(filepath.Join(dir, pass.name), pass.run); err != nil {
			return fmt.Errorf("%s: %w", pass.name, err)
		}
		if err := pass.after(); err != nil {
			return err
		}
	}
	return nil
}

// cover writes what a pass covers to a directory that it makes.
func cover(dir string, pass func() error) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if err := coverage.ClearCounters(); err != nil {
		return err
	}
	if err := pass(); err != nil {
		return err
	}
	return errors.Join(coverage.WriteMetaDir(dir), coverage.WriteCountersDir(dir))
}

// traced is the chain that the passes are on.
type traced struct{ *lab.Chain }

func (c traced) end() error {
	_, err := c.EndBlock()
	return err
}

func (c traced) block() error {
	if err := c.BeginBlock(); err != nil {
		return err
	}
	return c.end()
}

// schedule sends one coin in five blocks.
func (c traced) schedule() error {
	payload, err := types.NewAccountPayload(&banktypes.MsgSend{
		FromAddress: alice.String(), ToAddress: alice.String(), Amount: sdk.NewCoins(sdk.NewInt64Coin(c.FeeDenom, 1)),
	})
	if err != nil {
		return err
	}
	bytes, err := payload.Marshal()
	if err != nil {
		return err
	}
	height := c.Height()
	_, _, err = c.Tx(&types.MsgScheduleTimer{
		Sender: alice.String(), Spec: types.TimerSpec{Trigger: types.Trigger{Height: height + 5}, Call: types.TimerCall{Payload: bytes}, GasLimit: 100_000, ExpiresAt: height + 50},
	})
	return err
}

// life ends with the block in which the timer fires.
func (c traced) life() error {
	if err := c.schedule(); err != nil {
		return err
	}
	if err := c.end(); err != nil {
		return err
	}
	for range 8 {
		if err := c.block(); err != nil {
			return err
		}
		for _, event := range c.Events() {
			if event.Type == proto.MessageName(&types.TimerFired{}) {
				return nil
			}
		}
	}
	return errors.New("the timer did not fire")
}

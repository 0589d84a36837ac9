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

func run(dir string) error {
	alice := sdk.AccAddress("alice_______________")
	chain, err := lab.NewChain(lab.ChainOptions{Balances: []lab.Balance{{Address: alice, Amount: math.NewInt(1_000_000_000)}}})
	if err != nil {
		return err
	}
	begin := chain.BeginBlock
	end := func() error {
		_, err := chain.EndBlock()
		return err
	}
	block := func() error {
		if err := begin(); err != nil {
			return err
		}
		return end()
	}
	schedule := func() error {
		payload, err := types.NewAccountPayload(&banktypes.MsgSend{
			FromAddress: alice.String(), ToAddress: alice.String(), Amount: sdk.NewCoins(sdk.NewInt64Coin(chain.FeeDenom, 1)),
		})
		if err != nil {
			return err
		}
		bytes, err := payload.Marshal()
		if err != nil {
			return err
		}
		height := chain.Height()
		_, _, err = chain.Tx(&types.MsgScheduleTimer{
			Sender: alice.String(), Trigger: types.Trigger{Height: height + 5}, Payload: bytes, GasLimit: 100_000, ExpiresAt: height + 50,
		})
		return err
	}
	life := func() error {
		if err := schedule(); err != nil {
			return err
		}
		if err := end(); err != nil {
			return err
		}
		for range 8 {
			if err := block(); err != nil {
				return err
			}
			for _, event := range chain.Events() {
				if event.Type == proto.MessageName(&types.TimerFired{}) {
					return nil
				}
			}
		}
		return errors.New("the timer did not fire")
	}
	for range 3 { // what only the first blocks do is not traced
		if err := block(); err != nil {
			return err
		}
	}
	nothing := func() error { return nil }
	for _, pass := range []struct {
		name               string
		before, run, after func() error
	}{{"block", nothing, block, nothing}, {"schedule", begin, schedule, end}, {"life", begin, life, nothing}} {
		into := filepath.Join(dir, pass.name)
		if err := os.MkdirAll(into, 0o750); err != nil {
			return err
		}
		if err := pass.before(); err != nil {
			return err
		}
		if err := coverage.ClearCounters(); err != nil {
			return err
		}
		if err := pass.run(); err != nil {
			return fmt.Errorf("%s: %w", pass.name, err)
		}
		if err := coverage.WriteMetaDir(into); err != nil {
			return err
		}
		if err := coverage.WriteCountersDir(into); err != nil {
			return err
		}
		if err := pass.after(); err != nil {
			return err
		}
	}
	return nil
}

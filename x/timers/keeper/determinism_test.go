package keeper_test

import (
	"errors"
	"fmt"
	"math/rand"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// replay runs the same blocks, drawn from a seed, and returns the hash after each and the events of all.
func replay(t *testing.T, seed int64, changes ...func(*types.TimerConfig)) (hashes []string, events []string) {
	t.Helper()
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		c.MaxFiresPerActor, c.LaneTimerCycles = 7, 600_000
		for _, change := range changes {
			change(c)
		}
	}))
	random := rand.New(rand.NewSource(seed))
	works := f.script(func(ctx sdk.Context, d types.Delivery) error {
		ctx.GasMeter().ConsumeGas(uint64(d.TimerID[0])*200, "works")
		_, err := f.Timers.Schedule(ctx, keeper.ScheduleRequest{
			Actor: robot, Spec: types.TimerSpec{Trigger: types.Trigger{Height: d.Height + 1 + uint64(d.TimerID[1])%4}, Call: types.TimerCall{Payload: []byte("none such")}, GasLimit: 60_000},
		})
		return err
	})
	fails := f.script(func(sdk.Context, types.Delivery) error { return errors.New("text that differs between nodes") })
	panics := f.script(func(sdk.Context, types.Delivery) error { panic(fmt.Sprintf("%p", f)) })
	var ids []string
	for range 40 {
		for range 3 {
			payload := [][]byte{works, fails, panics}[random.Intn(3)]
			ids = append(ids, f.schedule(robot, f.Height()+1+uint64(random.Intn(5)), payload, expiring(f.Height()+8)))
			ids = append(ids, f.schedule(alice, f.Height()+1+uint64(random.Intn(5)), f.pays(alice, bob, 1)))
		}
		// Most of these are gone by then: a refused transaction is part of the history too.
		_, _, _ = f.Tx(&types.MsgCancelTimer{Sender: alice.String(), Id: ids[random.Intn(len(ids))]})
		_, _, _ = f.Tx(&types.MsgUpdateTimer{Sender: robot.String(), Id: ids[random.Intn(len(ids))], Spec: types.TimerSpec{GasLimit: 90_000}, Fields: []string{"gas_limit"}})
		for _, event := range f.NextBlock() {
			events = append(events, fmt.Sprint(event))
		}
		hashes = append(hashes, fmt.Sprintf("%x", f.AppHash()))
	}
	return hashes, events
}

func TestTheSameBlocksGiveTheSameHash(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	hashes, events := replay(t, 1)
	for _, processors := range []int{1, 4} {
		runtime.GOMAXPROCS(processors)
		again, eventsAgain := replay(t, 1)
		require.Equal(t, hashes, again)
		require.Equal(t, events, eventsAgain)
	}
	others, _ := replay(t, 2)
	require.NotEqual(t, hashes, others, "the hash tells different blocks apart")
}

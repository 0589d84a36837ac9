package app_test

import (
	"fmt"
	"testing"

	wasmdata "github.com/CosmWasm/wasmd/x/wasm/keeper/testdata"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// hackatom and reflect are wasmd's own test contracts (CosmWasm/cosmwasm, Apache-2.0), which know nothing of timers. They
// come with the Go module of wasmd.

func TestATimerCallsAContractThatKnowsNothingOfTimers(t *testing.T) {
	c := appchain.New(t, "alice", "bob")
	code := c.StoreCode("alice", wasmdata.HackatomContractWasm())
	hackatom := c.Instantiate("alice", code, map[string]string{"verifier": address("alice"), "beneficiary": address("bob")}, 1_000_000)
	require.Len(t, hackatom, 32)
	// Hackatom can't schedule: the chain's own code does it for it.
	due := uint64(c.App.LastBlockHeight()) + 2
	_, err := c.App.Timers.Schedule(c.Ctx(), timerskeeper.ScheduleRequest{
		Actor: hackatom, Trigger: types.Trigger{Height: due}, Handler: "steal_funds", GasLimit: 200_000,
		Payload: []byte(fmt.Sprintf(`{"recipient":%q,"amount":[{"denom":%q,"amount":"76543"}]}`, address("bob"), app.FeeDenom)),
	})
	require.NoError(t, err)
	before := c.Balance(appchain.AccountOf("bob").Address)
	c.NextBlock()
	response := c.NextBlock()
	fired := appchain.Events(response, "timers.v1.TimerFired")
	require.Len(t, fired, 1)
	require.Equal(t, "true", fired[0]["success"], fired[0])
	require.Equal(t, before.AddRaw(76_543), c.Balance(appchain.AccountOf("bob").Address))
	require.Len(t, appchain.Events(response, "sudo"), 1, "the contract's events are kept")
	t.Log(fired[0])
}

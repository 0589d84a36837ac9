package app_test

import (
	"fmt"
	"testing"

	wasmdata "github.com/CosmWasm/wasmd/x/wasm/keeper/testdata"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
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

// beats is what the heartbeat says of itself.
type beats struct {
	Count   int    `json:"count"`
	TimerID string `json:"timer_id"`
	Last    struct {
		TimerID   string `json:"timer_id"`
		DeliverID string `json:"deliver_id"`
		FireSeq   int    `json:"fire_seq"`
		Payload   []byte `json:"payload"`
		Height    uint64 `json:"height"`
	} `json:"last"`
}

func TestAHeartbeatSchedulesItself(t *testing.T) {
	for name, custom := range map[string]bool{"as protobuf": false, "as JSON": true} {
		t.Run(name, func(t *testing.T) {
			c := appchain.New(t, "alice")
			code := c.StoreCode("alice", contracts.Heartbeat)
			// From its first call on: a contract that is being instantiated is one already.
			heartbeat := c.Instantiate("alice", code, map[string]any{"every": 2, "custom": custom, "start": true}, 1_000_000)
			var at beats
			c.QueryContract(heartbeat, `{"beats":{}}`, &at)
			require.Zero(t, at.Count)
			first := at.TimerID
			require.Len(t, first, 64, "the reply named the timer")
			for i := 1; i <= 3; i++ {
				require.Empty(t, appchain.Events(c.NextBlock(), "timers.v1.TimerFired"))
				timer := at.TimerID
				fired := appchain.Events(c.NextBlock(), "timers.v1.TimerFired")
				require.Len(t, fired, 1)
				require.Equal(t, "true", fired[0]["success"], fired[0])
				at = beats{}
				c.QueryContract(heartbeat, `{"beats":{}}`, &at)
				require.Equal(t, i, at.Count)
				require.NotEqual(t, timer, at.TimerID)
				require.Equal(t, timer, at.Last.TimerID)
				require.Equal(t, fired[0]["deliver_id"], at.Last.DeliverID)
				require.Equal(t, "beat", string(at.Last.Payload))
				require.Equal(t, uint64(c.App.LastBlockHeight()), at.Last.Height)
				require.Zero(t, at.Last.FireSeq)
			}
			t.Log(c.Balance(heartbeat))
		})
	}
}

package app_test

import (
	"fmt"
	"testing"

	wasmdata "github.com/CosmWasm/wasmd/x/wasm/keeper/testdata"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"

	errorsmod "cosmossdk.io/errors"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// passProposal has governance run messages, which takes a few blocks. Alice, the first account, has all the stake.
func passProposal(t *testing.T, c *appchain.Chain, number uint64, msgs ...sdk.Msg) {
	t.Helper()
	proposal, err := govv1.NewMsgSubmitProposal(msgs, sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 1)), address("alice"), "", "contracts", "pins", false)
	require.NoError(t, err)
	c.Deliver("alice", proposal)
	c.Deliver("alice", govv1.NewMsgVote(appchain.AccountOf("alice").Address, number, govv1.OptionYes, ""))
	for range 3 {
		c.NextBlock()
	}
	passed, err := c.App.Gov.Proposals.Get(c.Ctx(), number)
	require.NoError(t, err)
	require.Equal(t, govv1.StatusPassed, passed.Status, passed.FailedReason)
}

// blocksTo runs blocks up to a height and returns the last.
func blocksTo(t *testing.T, c *appchain.Chain, height uint64) (last *abci.ResponseFinalizeBlock) {
	t.Helper()
	require.Less(t, c.App.LastBlockHeight(), int64(height))
	for c.App.LastBlockHeight() < int64(height) {
		last = c.NextBlock()
	}
	return last
}

// requireFailed checks that a block fired one timer, that it failed so, and that its actor has none left.
func requireFailed(t *testing.T, c *appchain.Chain, block *abci.ResponseFinalizeBlock, actor sdk.AccAddress, want *errorsmod.Error) fired {
	t.Helper()
	events := appchain.Events(block, "timers.v1.TimerFired")
	require.Len(t, events, 1)
	require.Equal(t, actor.String(), events[0]["actor"])
	got := readFired(t, events[0])
	codespace, code := codeOf(want)
	require.False(t, got.success)
	require.Equal(t, [2]any{codespace, code}, [2]any{got.codespace, got.code}, got)
	require.Empty(t, timersOf(t, c, actor), "it leaves as usual")
	receipt := receiptsOf(t, c)
	require.Len(t, receipt, 1)
	require.Equal(t, [2]any{codespace, code}, [2]any{receipt[0].Codespace, receipt[0].Code})
	return got
}

// receiptsOf are those of the last block.
func receiptsOf(t *testing.T, c *appchain.Chain) []types.ReceiptInfo {
	t.Helper()
	query := c.App.GRPCQueryRouter().Route("/timers.v1.Query/Receipts")
	request, err := (&types.QueryReceiptsRequest{Height: uint64(c.App.LastBlockHeight())}).Marshal()
	require.NoError(t, err)
	answer, err := query(c.Ctx(), &abci.RequestQuery{Data: request})
	require.NoError(t, err)
	var receipts types.QueryReceiptsResponse
	require.NoError(t, receipts.Unmarshal(answer.Value))
	return receipts.Receipts
}

// Burner is wasmd's contract that has no sudo: migrating to it sends away what the contract had.
func TestAContractMigratedToCodeWithoutSudo(t *testing.T) {
	for name, refill := range map[string]bool{"with coins": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			c := appchain.New(t, "alice")
			code, next := c.StoreCode("alice", contracts.Heartbeat), c.StoreCode("alice", wasmdata.BurnerContractWasm())
			contract := c.InstantiateWithAdmin("alice", code, `{"every":4,"start":true}`, 1_000_000, address("alice"))
			due := timersOf(t, c, contract)[0].Status.Due
			c.Deliver("alice", &wasmtypes.MsgMigrateContract{
				Sender: address("alice"), Contract: contract.String(), CodeID: next, Msg: fmt.Appendf(nil, `{"payout":%q,"delete":0}`, address("alice")),
			})
			require.True(t, c.Balance(contract).IsZero())
			if refill {
				c.Deliver("alice", banktypes.NewMsgSend(appchain.AccountOf("alice").Address, contract, sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 1_000_000))))
			}
			block := blocksTo(t, c, due)
			if refill {
				got := requireFailed(t, c, block, contract, wasmtypes.ErrVMError)
				require.Greater(t, got.cycles, uint64(80_000), "looking for the entry point is charged as a call")
				return
			}
			require.Empty(t, appchain.Events(block, "timers.v1.TimerFired"))
			unfunded := appchain.Events(block, "timers.v1.TimerCancelledInsufficientFunds")
			require.Len(t, unfunded, 1)
			require.Equal(t, contract.String(), unfunded[0]["actor"])
			require.Empty(t, timersOf(t, c, contract))
		})
	}
}

// An admin is who may migrate a contract: its timers never need one.
func TestAContractThatLosesItsAdminKeepsItsTimers(t *testing.T) {
	c := appchain.New(t, "alice")
	contract := c.InstantiateWithAdmin("alice", c.StoreCode("alice", contracts.Heartbeat), `{"every":3,"start":true}`, 1_000_000, address("alice"))
	due := timersOf(t, c, contract)[0].Status.Due
	c.Deliver("alice", &wasmtypes.MsgClearAdmin{Sender: address("alice"), Contract: contract.String()})
	require.Empty(t, c.App.Wasm.GetContractInfo(c.Ctx(), contract).Admin)
	fired := appchain.Events(blocksTo(t, c, due), "timers.v1.TimerFired")
	require.Len(t, fired, 1)
	require.Equal(t, "true", fired[0]["success"], fired[0])
	migrate := &wasmtypes.MsgMigrateContract{Sender: address("alice"), Contract: contract.String(), CodeID: 1, Msg: []byte(`{}`)}
	require.NotZero(t, c.NextBlock(c.Sign("alice", migrate)).TxResults[0].Code)
	require.Len(t, timersOf(t, c, contract), 1, "the next beat waits")
}

// A fire pays what holds when it fires, whatever held when its timer was scheduled.
func TestCodeThatGovernanceUnpinsBeforeTheFire(t *testing.T) {
	c := appchain.New(t, "alice", "bob")
	code := c.StoreCode("alice", contracts.Heartbeat)
	authority := c.App.Wasm.GetAuthority()
	passProposal(t, c, 1, &wasmtypes.MsgPinCodes{Authority: authority, CodeIDs: []uint64{code}})
	// Enough for a beat of pinned code, and not for one of code that is not.
	const limit = 80_000
	contract := c.Instantiate("alice", code, fmt.Sprintf(`{"every":10,"start":true,"gas_limit":%d}`, limit), 1_000_000)
	pinned := appchain.Events(blocksTo(t, c, timersOf(t, c, contract)[0].Status.Due), "timers.v1.TimerFired")
	require.Len(t, pinned, 1)
	require.Equal(t, "true", pinned[0]["success"], pinned[0])

	due := timersOf(t, c, contract)[0].Status.Due
	passProposal(t, c, 2, &wasmtypes.MsgUnpinCodes{Authority: authority, CodeIDs: []uint64{code}})
	got := requireFailed(t, c, blocksTo(t, c, due), contract, types.ErrOutOfCycles)
	require.Equal(t, uint64(limit), got.cycles)
	var at beats
	c.QueryContract(contract, `{"beats":{}}`, &at)
	require.Equal(t, 1, at.Count, "what the failed beat wrote is dropped")

	// Its owner gives it more, and it beats again.
	roomy := c.Instantiate("alice", code, `{"every":2,"start":true,"gas_limit":150000}`, 1_000_000)
	fired := appchain.Events(blocksTo(t, c, timersOf(t, c, roomy)[0].Status.Due), "timers.v1.TimerFired")
	require.Len(t, fired, 1)
	require.Equal(t, "true", fired[0]["success"], fired[0])
}

// A contract that is missing from the state, its account alone being left, is an account like any other, and its timer's
// payload no messages. See TestAContractThatIsGoneFailsItsFire for one of which nothing is left.
func TestAMissingContractsTimerLeaves(t *testing.T) {
	c := appchain.New(t, "alice")
	contract := c.Instantiate("alice", c.StoreCode("alice", contracts.Heartbeat), `{"every":3,"start":true}`, 1_000_000)
	due := timersOf(t, c, contract)[0].Status.Due
	ctx := c.Ctx()
	ctx.KVStore(c.App.StoreKey(wasmtypes.StoreKey)).Delete(wasmtypes.GetContractAddressKey(contract))
	requireFailed(t, c, blocksTo(t, c, due), contract, types.ErrInvalidPayload)
}

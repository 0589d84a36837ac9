package campaign

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	wasmdata "github.com/CosmWasm/wasmd/x/wasm/keeper/testdata"
	abci "github.com/cometbft/cometbft/abci/types"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
	"github.com/cosmos-timers/timers/testutil/ledger"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/testutil/frozen"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Accounts of the chain. Alice has the stake; the poor can pay for a few fires, the broke for none.
var (
	alice, rich, richer, granter = account("alice"), account("rich"), account("richer"), account("granter")
	poor, broke                  = account("poor"), account("broke")
	admins                       = []appchain.Account{account("admin"), account("other admin")}
	owners                       = []appchain.Account{alice, rich, rich, richer, granter, poor, broke, admins[0]}
	accountNames                 = []string{"alice", "rich", "richer", "granter", "poor", "broke", "admin", "other admin"}
)

func account(name string) appchain.Account { return appchain.AccountOf(name) }

// image is the disk of a chain with everything that histories use, on which each of them starts.
type image struct {
	db   dbm.DB
	home string
	last *abci.RequestFinalizeBlock
	// contracts.
	hostile, agent, heartbeat, reflect sdk.AccAddress
	remotes                            []*remote
}

// theImage is made once.
var (
	theImage *image
	making   sync.Once
)

func imageOf(tb testing.TB) *image {
	tb.Helper()
	making.Do(func() { theImage = newImage(tb) })
	return theImage
}

func newImage(tb testing.TB) *image {
	tb.Helper()
	c := appchain.NewUnder(tb, func(config *types.TimerConfig) {
		config.RingSize, config.EpochBlocks, config.EpochHorizon = 8, 16, 4
	}, accountNames...)
	i := &image{}
	code := c.StoreCode("rich", contracts.Hostile)
	i.hostile = c.InstantiateWithAdmin("rich", code, `{}`, 10_000_000, admins[0].Address.String())
	i.agent = c.Instantiate("richer", code, `{}`, 1_000)
	i.heartbeat = c.Instantiate("rich", c.StoreCode("rich", contracts.Heartbeat), `{"every":2}`, 10_000_000)
	i.reflect = c.Instantiate("rich", c.StoreCode("rich", wasmdata.ReflectContractWasm()), `{}`, 10_000_000)
	i.remotes = newRemotes(tb, c)
	for _, module := range modules {
		c.Deliver("alice", banktypes.NewMsgSend(alice.Address, moduleAddress(module), utmr(1_000_000)))
	}
	c.Deliver("poor", banktypes.NewMsgSend(poor.Address, alice.Address, utmr(appchain.Funds.Int64()-200_000)))
	c.Deliver("broke", banktypes.NewMsgSend(broke.Address, alice.Address, utmr(appchain.Funds.Int64()-3_000)))
	i.db, i.home = c.Image(keeper{tb})
	i.last = c.Requests[len(c.Requests)-1]
	return i
}

// keeper is a test whose directories outlive it: the image is of the process.
type keeper struct{ testing.TB }

func (k keeper) TempDir() string {
	dir, err := os.MkdirTemp("", "campaign")
	require.NoError(k.TB, err)
	return dir
}

func utmr(amount int64) sdk.Coins { return sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, amount)) }

// copyDisk copies what an application has on disk.
func copyDisk(tb testing.TB, db dbm.DB, home string) (dbm.DB, string) {
	tb.Helper()
	copied, dir := dbm.NewMemDB(), tb.TempDir()
	entries, err := db.Iterator(nil, nil)
	require.NoError(tb, err)
	defer entries.Close()
	for ; entries.Valid(); entries.Next() {
		require.NoError(tb, copied.Set(entries.Key(), entries.Value()))
	}
	require.NoError(tb, os.CopyFS(dir, os.DirFS(home)))
	return copied, dir
}

// world is a history as it runs: two applications, and what must be true of both.
type world struct {
	*image
	tb  testing.TB
	env *environment
	// peers answer alike; the shadows do so in what concerns timers, for so many blocks: they are the applications from
	// which the peers were imported.
	peers   []*peer
	shadow  *peer
	shadows int

	ledger ledger.Ledger
	last   *abci.RequestFinalizeBlock
	// named are the timers that ops have scheduled, by the number of the op.
	named map[int]string
	block pending
	// parcels are the packets under way.
	parcels []parcel
	// supply that there must be, and what the lane has burned in all.
	supply, burned math.Int
	// done counts what was done, by what it was.
	done map[string]int
	// blocks are what each block did.
	blocks frozen.Log
}

// pending is the block that is being made.
type pending struct {
	txs       [][]byte
	numbers   []int
	first     []*inner
	firstOf   []int
	sequences map[string]uint64
	proposals uint64
}

func newWorld(tb testing.TB, seed uint64) *world {
	tb.Helper()
	d := draws{op{dice: seed}.draws().Rand}
	w := &world{image: imageOf(tb), tb: tb, env: &environment{}, named: map[int]string{}, done: map[string]int{}}
	w.last = w.image.last
	for range 2 {
		db, home := copyDisk(tb, w.db, w.home)
		w.peers = append(w.peers, open(db, home, drawSettings(d), w.env))
	}
	w.supply, w.burned = w.supplyNow(), w.lane().Burned
	return w
}

func (w *world) app() *app.App { return w.peers[0].app }

func (w *world) ctx() sdk.Context { return w.peers[0].ctx() }

// height of the last block.
func (w *world) height() uint64 { return uint64(w.app().LastBlockHeight()) }

func (w *world) lane() types.LaneState {
	lane, err := w.app().Timers.Engine().Lane.Get(w.ctx())
	require.NoError(w.tb, err)
	return lane
}

func (w *world) config() types.TimerConfig {
	config, err := w.app().Timers.Config(w.ctx())
	require.NoError(w.tb, err)
	return config
}

func (w *world) supplyNow() math.Int { return w.app().Bank.GetSupply(w.ctx(), app.FeeDenom).Amount }

// request is the next block with these transactions.
func (w *world) request() *abci.RequestFinalizeBlock {
	height := w.last.Height + 1
	return &abci.RequestFinalizeBlock{
		Height: height, Time: w.last.Time.Add(time.Second), Txs: w.block.txs, ProposerAddress: w.last.ProposerAddress,
		Hash: fmt.Appendf(nil, "block %d", height),
	}
}

// endBlock runs the block on all applications and checks what came of it.
func (w *world) endBlock(d draws) error {
	request := w.request()
	w.env.first = w.block.first
	response, err := w.peers[0].run(request, d.one(4))
	if err != nil {
		return err
	}
	for _, p := range w.peers[1:] {
		again, err := p.run(request, d.one(4))
		if err != nil {
			return fmt.Errorf("the second application: %w", err)
		}
		if err := same(response, again); err != nil {
			return fmt.Errorf("two applications differ at height %d: %w", request.Height, err)
		}
	}
	if err := w.follow(request, response); err != nil {
		return err
	}
	w.last = request
	events := slices.Clone(response.Events)
	for _, result := range response.TxResults {
		events = append(events, result.Events...)
	}
	w.blocks.Block(request.Height, response.AppHash, events)
	w.name(response)
	w.collect(response)
	w.block, w.env.first = pending{}, nil
	return errors.Join(w.ledger.Block(w.height(), timerEvents(response)), w.check(response))
}

// follow runs the block on the application that the others were imported from: its timers fare as theirs.
func (w *world) follow(request *abci.RequestFinalizeBlock, response *abci.ResponseFinalizeBlock) error {
	if w.shadows == 0 {
		w.shadow = nil
		return nil
	}
	w.shadows--
	before, err := w.shadow.run(request, false)
	if err != nil {
		return fmt.Errorf("the exported application: %w", err)
	}
	want, got := timerEvents(before), timerEvents(response)
	for i := range min(len(want), len(got)) {
		// They name the parent block, whose hash differs.
		delete(want[i].Attributes, "deliver_id")
		delete(got[i].Attributes, "deliver_id")
		if fmt.Sprint(want[i]) != fmt.Sprint(got[i]) {
			return fmt.Errorf("height %d: the exported application: %v, the imported one: %v", request.Height, want[i], got[i])
		}
	}
	if len(want) != len(got) {
		return fmt.Errorf("height %d: the exported application has %d events, the imported one %d", request.Height, len(want), len(got))
	}
	return nil
}

// timerEvents are the events of a block that are of the module, in their order.
func timerEvents(response *abci.ResponseFinalizeBlock) []ledger.Event {
	var begin, end []abci.Event
	for _, event := range response.Events {
		if slices.ContainsFunc(event.Attributes, func(a abci.EventAttribute) bool { return a.Key == "mode" && a.Value == "BeginBlock" }) {
			begin = append(begin, event)
		} else {
			end = append(end, event)
		}
	}
	found := eventsOf(begin)
	for _, result := range response.TxResults {
		if result.IsOK() {
			found = append(found, eventsOf(result.Events)...)
		}
	}
	return append(found, eventsOf(end)...)
}

func eventsOf(events []abci.Event) (found []ledger.Event) {
	for _, event := range events {
		if !ledger.Mine(event.Type) {
			continue
		}
		attributes := make(map[string]string, len(event.Attributes))
		for _, a := range event.Attributes {
			attributes[a.Key] = strings.Trim(a.Value, `"`)
		}
		found = append(found, ledger.Event{Type: event.Type, Attributes: attributes})
	}
	return found
}

// name notes which timers the ops of a block have scheduled, and what became of the ops.
func (w *world) name(response *abci.ResponseFinalizeBlock) {
	for i, result := range response.TxResults {
		number := w.block.numbers[i]
		if !result.IsOK() {
			w.done[fmt.Sprintf("refused %s/%d", result.Codespace, result.Code)]++
			continue
		}
		w.done["transactions"]++
		for _, event := range eventsOf(result.Events) {
			if strings.HasSuffix(event.Type, "TimerScheduled") {
				w.named[number] = event.Attributes["id"]
			}
		}
	}
	for i, call := range w.block.first {
		switch {
		case call.err != nil:
			w.done["refused by the module"]++
		case call.schedule != nil:
			w.done["calls"]++
			w.named[w.block.firstOf[i]] = call.id
		default:
			w.done["calls"]++
		}
	}
}

// check holds the state to the ledger, to the module's invariants, and to the conservation of coins.
func (w *world) check(response *abci.ResponseFinalizeBlock) error {
	ctx := w.ctx()
	if err := w.app().Timers.CheckInvariants(ctx); err != nil {
		return fmt.Errorf("height %d: %w", w.height(), err)
	}
	var stored []string
	if err := w.app().Timers.Engine().Records.Walk(ctx, state.Range{}, func(t *types.Timer) (bool, error) {
		stored = append(stored, t.IDHex())
		return false, nil
	}); err != nil {
		return err
	}
	if err := w.ledger.Is(stored); err != nil {
		return fmt.Errorf("height %d: %w", w.height(), err)
	}
	return w.checkCoins(ctx, response)
}

// checkCoins adds up all balances, and holds the supply to what was minted and burned. What the module's account burned is
// what the lane says.
func (w *world) checkCoins(ctx sdk.Context, response *abci.ResponseFinalizeBlock) error {
	sum := math.ZeroInt()
	w.app().Bank.IterateAllBalances(ctx, func(_ sdk.AccAddress, coin sdk.Coin) bool {
		if coin.Denom == app.FeeDenom {
			sum = sum.Add(coin.Amount)
		}
		return false
	})
	supply, burned, byTimers := w.supplyNow(), w.lane().Burned, math.ZeroInt()
	for _, event := range response.Events {
		if event.Type != banktypes.EventTypeCoinMint && event.Type != banktypes.EventTypeCoinBurn {
			continue
		}
		who, amount := attribute(event, "minter")+attribute(event, "burner"), coinsOf(attribute(event, "amount"))
		if event.Type == banktypes.EventTypeCoinMint {
			amount = amount.Neg()
		}
		w.supply = w.supply.Sub(amount)
		if who == moduleAddress(types.ModuleName).String() {
			byTimers = byTimers.Add(amount)
		}
	}
	if !sum.Equal(supply) || !supply.Equal(w.supply) {
		return fmt.Errorf("height %d: balances of %s in a supply of %s, want %s", w.height(), sum, supply, w.supply)
	}
	if lost := burned.Sub(w.burned); !lost.Equal(byTimers) {
		return fmt.Errorf("height %d: the lane burned %s, the module's account %s", w.height(), lost, byTimers)
	}
	w.burned = burned
	return nil
}

func attribute(event abci.Event, key string) string {
	for _, a := range event.Attributes {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}

func coinsOf(text string) math.Int {
	coins, err := sdk.ParseCoinsNormalized(text)
	if err != nil {
		panic(err)
	}
	return coins.AmountOf(app.FeeDenom)
}

// restart replaces the applications by others on the same disks, as if all nodes were started again with other settings.
func (w *world) restart(d draws) {
	for i, p := range w.peers {
		w.peers[i] = p.restart(w.tb, drawSettings(d), w.env)
	}
}

// export replaces the applications by others that import the state, which they export again unchanged.
func (w *world) export(d draws) error {
	exported, err := w.app().ExportAppStateAndValidators(false, nil, nil)
	if err != nil {
		return fmt.Errorf("height %d: export: %w", w.height(), err)
	}
	w.shadow, w.shadows = w.peers[0], 3
	for i := range w.peers {
		p := open(dbm.NewMemDB(), w.tb.TempDir(), drawSettings(d), w.env)
		if _, err := p.app.InitChain(&abci.RequestInitChain{
			ChainId: appchain.ChainID, Time: w.last.Time, InitialHeight: exported.Height,
			ConsensusParams: &exported.ConsensusParams, AppStateBytes: exported.AppState,
		}); err != nil {
			return fmt.Errorf("height %d: import: %w", w.height(), err)
		}
		w.peers[i] = p
	}
	// The first block after an import has no transactions, as accounts can't be read before it.
	if err := w.endBlock(d); err != nil {
		return err
	}
	want, err := w.shadow.app.ExportAppStateAndValidators(false, nil, []string{types.ModuleName})
	if err != nil {
		return err
	}
	got, err := w.app().ExportAppStateAndValidators(false, nil, []string{types.ModuleName})
	if err == nil && !bytes.Equal(withoutDeliveries(want.AppState), withoutDeliveries(got.AppState)) {
		err = fmt.Errorf("height %d: the state is not what was exported", w.height())
	}
	return err
}

// deliveries are what names the parent block, whose hash differs between chains.
var deliveries = regexp.MustCompile(`"deliver_id":"[^"]*"`)

func withoutDeliveries(state []byte) []byte { return deliveries.ReplaceAll(state, nil) }

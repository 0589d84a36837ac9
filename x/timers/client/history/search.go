package history

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"

	"github.com/cosmos-timers/timers/x/timers/client/event"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// What happens to timers at the end of a block, and what messages do to them: in a transaction, or at the end of a block
// too where a timer's handler or governance sends them.
var (
	endEvents = []timerEvent{
		&types.TimerFired{}, &types.TimerExpired{}, &types.TimerCancelledInsufficientFunds{},
		&types.TimerCancelledByGovernance{}, &types.TimerExtendedByGovernance{}, &types.TimerCancelledNotAdmin{},
		&types.TimerDeferredInsufficientFunds{}, &types.TimerAgentFailed{}, &types.TimerAgentBilled{},
	}
	messageEvents = []timerEvent{
		&types.TimerScheduled{}, &types.TimerUpdated{}, &types.TimerExtended{}, &types.TimerCancelled{},
		&types.TimerHeld{}, &types.TimerReleased{}, &types.TimerOccurrencesSkipped{}, &types.TimerBidLocked{}, &types.TimerBidSettled{},
		&types.TimerPriorityClampedAtSchedule{}, &types.TimerBidIgnored{},
	}
)

// search gathers the newest heights at which something happened, of each kind of event by itself, since the index
// knows no "or". What was not read whole bounds what is shown: no height is shown in part.
type search struct {
	node          client.CometRPC
	actor, prefix string
	limit         int
	before        uint64

	// blocks are heights with matching events of the block itself, txs the events of matching transactions by height.
	blocks map[int64]bool
	txs    map[int64][]abci.Event
	seen   map[string]bool
	// from is the lowest height that was read whole; 0 if all were.
	from int64
}

func (s *search) run(ctx context.Context) (*history, error) {
	for _, event := range slices.Concat(endEvents, messageEvents) {
		if err := s.searchBlocks(ctx, s.query(event)); err != nil {
			return nil, s.explain(err)
		}
	}
	for _, event := range messageEvents {
		if err := s.searchTxs(ctx, s.query(event)); err != nil {
			return nil, s.explain(err)
		}
	}
	newest := slices.Sorted(maps.Keys(s.heights()))
	slices.Reverse(newest)
	shown := newest
	if cut := slices.IndexFunc(newest, func(height int64) bool { return height < s.from }); cut >= 0 {
		// A height with more transactions than a page holds is shown in part, so that there is a next page at all.
		shown = newest[:max(cut, 1)]
	}
	shown = shown[:min(len(shown), s.limit)]
	h := &history{Events: []row{}}
	for _, height := range shown {
		if err := s.read(ctx, h, height); err != nil {
			return nil, err
		}
	}
	h.noteDue()
	if len(shown) > 0 && (len(shown) < len(newest) || s.from > 0) {
		h.Before = shown[len(shown)-1]
		return h, nil
	}
	status, err := s.node.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the node for its first block: %w", err)
	}
	if first := status.SyncInfo.EarliestBlockHeight; first > 1 {
		h.KnownFrom = first
	}
	return h, nil
}

// named are the ids of the actor's timers that the index knows by a name, the newest first. A name is what schedules, fires
// and ends tell.
func (s *search) named(ctx context.Context, name string) ([]string, error) {
	// What the index would hold escaped, and a query can't quote, is compared below.
	plain := name
	if at := strings.IndexFunc(name, func(r rune) bool { return strings.ContainsRune(`'"\<>&`, r) }); at >= 0 {
		plain = name[:at]
	}
	within := search{node: s.node, actor: s.actor, limit: maxHistory, txs: map[int64][]abci.Event{}, blocks: map[int64]bool{}}
	for _, event := range []timerEvent{&types.TimerScheduled{}, &types.TimerFired{}, &types.TimerCancelled{}, &types.TimerExpired{}} {
		query := within.query(event) + fmt.Sprintf(` AND %s.name CONTAINS '"%s'`, proto.MessageName(event), plain)
		err := within.searchBlocks(ctx, query)
		if err == nil {
			err = within.searchTxs(ctx, query)
		}
		if err != nil {
			return nil, s.explain(err)
		}
	}
	heights := slices.Sorted(maps.Keys(within.heights()))
	h, ids := &history{}, []string{}
	for _, height := range slices.Backward(heights) {
		if err := within.read(ctx, h, height); err != nil {
			return nil, err
		}
	}
	for _, row := range h.Events {
		named, ok := row.event.(interface{ GetName() string })
		if ok && named.GetName() == name && !slices.Contains(ids, row.Timer) {
			ids = append(ids, row.Timer)
		}
	}
	return ids, nil
}

// heights are those at which something was found.
func (s *search) heights() map[int64]bool {
	heights := maps.Clone(s.blocks)
	for height := range s.txs {
		heights[height] = true
	}
	return heights
}

// query asks for one kind of event. Values are JSON in the index, so that a string begins with its quote; a prefix of an
// id is found by that.
func (s *search) query(event timerEvent) string {
	name := proto.MessageName(event)
	text := fmt.Sprintf(`%s.actor='"%s"'`, name, s.actor)
	if s.prefix != "" {
		text += fmt.Sprintf(` AND %s.id CONTAINS '"%s'`, name, s.prefix)
	}
	return text
}

func (s *search) searchBlocks(ctx context.Context, query string) error {
	if s.before > 0 {
		query += fmt.Sprintf(" AND block.height<%d", s.before)
	}
	page, perPage := 1, s.limit
	found, err := s.node.BlockSearch(ctx, query, &page, &perPage, "desc")
	if err != nil {
		return err
	}
	lowest := int64(0)
	for _, block := range found.Blocks {
		lowest = block.Block.Height
		s.blocks[lowest] = true
	}
	if found.TotalCount > len(found.Blocks) {
		s.from = max(s.from, lowest)
	}
	return nil
}

func (s *search) searchTxs(ctx context.Context, query string) error {
	if s.before > 0 {
		query += fmt.Sprintf(" AND tx.height<%d", s.before)
	}
	page, perPage := 1, maxHistory
	found, err := s.node.TxSearch(ctx, query, false, &page, &perPage, "desc")
	if err != nil {
		return err
	}
	for _, tx := range found.Txs {
		if key := tx.Hash.String(); !s.seen[key] {
			if s.seen == nil {
				s.seen = map[string]bool{}
			}
			s.seen[key] = true
			s.txs[tx.Height] = append(s.txs[tx.Height], tx.TxResult.Events...)
		}
	}
	if n := len(found.Txs); n > 0 && found.TotalCount > n {
		// The lowest height may have more transactions than were read.
		s.from = max(s.from, found.Txs[n-1].Height+1)
	}
	return nil
}

// read adds what happened at a height: first what ended its block, then its transactions, since the newest comes first.
func (s *search) read(ctx context.Context, h *history, height int64) error {
	events := s.txs[height]
	if s.blocks[height] {
		results, err := s.node.BlockResults(ctx, &height)
		if err != nil {
			return fmt.Errorf("ask the node for the events of block %d: %w; it may have pruned them: try a page of newer heights (--%s), or another --%s",
				height, err, flagLimit, flags.FlagNode)
		}
		events = slices.Concat(events, results.FinalizeBlockEvents)
	}
	for _, found := range slices.Backward(events) {
		row, ok, err := readRow(height, found)
		if err != nil {
			return err
		}
		if ok && row.event.GetActor() == s.actor && strings.HasPrefix(row.Timer, s.prefix) {
			row.run = ranBy(events, found)
			h.Events = append(h.Events, row)
		}
	}
	return nil
}

// readRow reads an event, if it is one about a timer.
func readRow(height int64, found abci.Event) (row, bool, error) {
	if !event.Ours(found) {
		return row{}, false, nil
	}
	message, err := event.Parse(found)
	if err != nil {
		return row{}, false, fmt.Errorf("event %s at height %d: %w", found.Type, height, err)
	}
	typed, ok := message.(timerEvent)
	if !ok {
		return row{}, false, nil
	}
	text, err := json.Marshal(typed)
	return row{Height: height, Timer: typed.GetId(), Type: event.Kind(found), Event: text, event: typed}, true, err
}

// explain says in clear words what a node without an index answers.
func (*search) explain(err error) error {
	if text := err.Error(); strings.Contains(text, "indexing is disabled") || strings.Contains(text, "not supported via") {
		return fmt.Errorf("this node keeps no event index that can be searched (indexer in the section tx_index of its config.toml is not \"kv\"): "+
			"ask another with --%s: %w", flags.FlagNode, err)
	}
	return fmt.Errorf("search the node's event index: %w", err)
}

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"
	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/version"

	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagLimit  = "limit"
	flagBefore = "before"
	// defaultHistory and maxHistory are heights a page; a node answers no search with more than 100.
	defaultHistory, maxHistory = 20, 100
)

// timerEvent is an event about one timer.
type timerEvent interface {
	proto.Message
	GetId() string
	GetActor() string
}

// What happens to timers at the end of a block, and what messages do to them: in a transaction, or at the end of a block
// too where a timer's handler or governance sends them.
var (
	endEvents = []timerEvent{
		&types.TimerFired{}, &types.TimerExpired{}, &types.TimerCancelledInsufficientFunds{},
		&types.TimerCancelledByGovernance{}, &types.TimerExtendedByGovernance{},
	}
	messageEvents = []timerEvent{
		&types.TimerScheduled{}, &types.TimerUpdated{}, &types.TimerExtended{}, &types.TimerCancelled{},
		&types.TimerSetAside{}, &types.TimerReleased{}, &types.TimerBidLocked{}, &types.TimerBidSettled{},
	}
)

func newHistoryCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history [actor[/id-prefix]]",
		Short: "Show what happened to an actor's timers, or to one of them, newest first",
		Long: "Show what happened to an actor's timers, or to one of them, newest first: what fired with its outcome and its price, what expired, " +
			"what was scheduled, changed, paused and cancelled. Timers that are gone are found too, as long as the node remembers: " +
			"the chain's state keeps no history, so this comes from the event index of the node that is asked.",
		Example: fmt.Sprintf(`%[1]s query timers history alice
%[1]s query timers history alice/3fa9 --limit 50 --before 120000`, version.AppName),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			clientCtx, err := client.GetClientQueryContext(cmd)
			if err != nil {
				return err
			}
			j := newJob(cmd, clientCtx)
			h, err := j.readHistory(args[0])
			if err != nil {
				return err
			}
			return j.printHistory(h)
		},
	}
	cmd.SilenceUsage = true
	cmd.Flags().Int(flagLimit, defaultHistory, fmt.Sprintf("how many heights to show, at most %d", maxHistory))
	cmd.Flags().Uint64(flagBefore, 0, "show what happened below this height (default: the newest)")
	flags.AddQueryFlagsToCmd(cmd)
	flags.AddKeyringFlags(cmd.Flags())
	return cmd
}

// history is a page of what happened, newest first.
type history struct {
	Events []historyRow `json:"events"`
	// Before is the --before of the next page; 0 if there is none.
	Before int64 `json:"next_before,omitempty"`
}

type historyRow struct {
	Height int64           `json:"height"`
	Timer  string          `json:"timer"`
	Type   string          `json:"type"`
	Event  json.RawMessage `json:"event"`

	event timerEvent
}

func (j *job) readHistory(text string) (*history, error) {
	who, prefix, _ := strings.Cut(text, "/")
	actor, err := j.lookupAccount(who)
	if err != nil {
		return nil, fmt.Errorf("history of %.200q: %w", text, err)
	}
	if strings.Contains(text, "/") {
		if prefix, err = types.ParseTimerIDPrefix(prefix); err != nil {
			return nil, fmt.Errorf("history of %.200q: %w: want ACTOR or ACTOR/ID-PREFIX", text, err)
		}
	}
	limit, err := j.flags.GetInt(flagLimit)
	if err != nil {
		return nil, err
	}
	if limit < 1 || limit > maxHistory {
		return nil, fmt.Errorf("--%s %d is out of bounds: want 1 to %d", flagLimit, limit, maxHistory)
	}
	before, err := j.flags.GetUint64(flagBefore)
	if err != nil {
		return nil, err
	}
	node, err := j.GetNode()
	if err != nil {
		return nil, err
	}
	s := historySearch{node: node, actor: actor.text, prefix: prefix, limit: limit, before: before, txs: map[int64][]abci.Event{}, blocks: map[int64]bool{}}
	return s.run(j.ctx)
}

// historySearch gathers the newest heights at which something happened, of each kind of event by itself, since the index
// knows no "or". What was not read whole bounds what is shown: no height is shown in part.
type historySearch struct {
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

func (s *historySearch) run(ctx context.Context) (*history, error) {
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
	heights := map[int64]bool{}
	maps.Copy(heights, s.blocks)
	for height := range s.txs {
		heights[height] = true
	}
	newest := slices.Sorted(maps.Keys(heights))
	slices.Reverse(newest)
	shown := newest
	if cut := slices.IndexFunc(newest, func(height int64) bool { return height < s.from }); cut >= 0 {
		// A height with more transactions than a page holds is shown in part, so that there is a next page at all.
		shown = newest[:max(cut, 1)]
	}
	shown = shown[:min(len(shown), s.limit)]
	h := &history{Events: []historyRow{}}
	for _, height := range shown {
		if err := s.read(ctx, h, height); err != nil {
			return nil, err
		}
	}
	if len(shown) > 0 && (len(shown) < len(newest) || s.from > 0) {
		h.Before = shown[len(shown)-1]
	}
	return h, nil
}

// query asks for one kind of event. Values are JSON in the index, so that a string begins with its quote; a prefix of an
// id is found by that.
func (s *historySearch) query(event timerEvent) string {
	name := proto.MessageName(event)
	text := fmt.Sprintf(`%s.actor='"%s"'`, name, s.actor)
	if s.prefix != "" {
		text += fmt.Sprintf(` AND %s.id CONTAINS '"%s'`, name, s.prefix)
	}
	return text
}

func (s *historySearch) searchBlocks(ctx context.Context, query string) error {
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

func (s *historySearch) searchTxs(ctx context.Context, query string) error {
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
func (s *historySearch) read(ctx context.Context, h *history, height int64) error {
	events := s.txs[height]
	if s.blocks[height] {
		results, err := s.node.BlockResults(ctx, &height)
		if err != nil {
			return fmt.Errorf("ask the node for the events of block %d: %w; it may have pruned them: try a page of newer heights (--%s), or another --%s",
				height, err, flagLimit, flags.FlagNode)
		}
		events = slices.Concat(events, results.FinalizeBlockEvents)
	}
	for _, event := range slices.Backward(events) {
		row, ok, err := s.row(height, event)
		if err != nil {
			return err
		}
		if ok {
			h.Events = append(h.Events, row)
		}
	}
	return nil
}

// row reads an event, if it is one of the wanted.
func (s *historySearch) row(height int64, event abci.Event) (historyRow, bool, error) {
	if !strings.HasPrefix(event.Type, "timers.v1.") {
		return historyRow{}, false, nil
	}
	// The SDK adds attributes of its own, which are no JSON.
	event.Attributes = slices.DeleteFunc(slices.Clone(event.Attributes), func(a abci.EventAttribute) bool {
		return a.Key == "mode" || a.Key == "msg_index"
	})
	message, err := sdk.ParseTypedEvent(event)
	if err != nil {
		return historyRow{}, false, fmt.Errorf("event %s at height %d: %w", event.Type, height, err)
	}
	typed, ok := message.(timerEvent)
	if !ok || typed.GetActor() != s.actor || !strings.HasPrefix(typed.GetId(), s.prefix) {
		return historyRow{}, false, nil
	}
	text, err := json.Marshal(typed)
	return historyRow{
		Height: height, Timer: typed.GetId(), Type: strings.TrimPrefix(event.Type, "timers.v1."), Event: text, event: typed,
	}, true, err
}

// explain says in clear words what a node without an index answers.
func (*historySearch) explain(err error) error {
	if text := err.Error(); strings.Contains(text, "indexing is disabled") || strings.Contains(text, "not supported via") {
		return fmt.Errorf("this node keeps no event index that can be searched (indexer in the section tx_index of its config.toml is not \"kv\"): "+
			"ask another with --%s: %w", flags.FlagNode, err)
	}
	return fmt.Errorf("search the node's event index: %w", err)
}

func (j *job) printHistory(h *history) error {
	if j.OutputFormat == flags.OutputFormatJSON {
		text, err := json.Marshal(h)
		if err != nil {
			return err
		}
		return j.PrintRaw(text)
	}
	if len(h.Events) == 0 {
		j.notef("nothing is found: nothing happened, or the node did not index it, or has pruned it")
		return nil
	}
	table := tabwriter.NewWriter(j.Output, 0, 0, 2, ' ', 0)
	_, err := fmt.Fprintln(table, "HEIGHT\tTIMER\tWHAT\tRESULT\tPAID\tNEXT DUE\tMORE")
	for _, row := range h.Events {
		what := row.words()
		_, err = fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", row.Height, row.Timer[:min(len(row.Timer), 12)], row.what(), what[0], what[1], what[2], what[3])
	}
	if err == nil {
		err = table.Flush()
	}
	if err == nil && h.Before > 0 {
		j.notef("older: --%s %d", flagBefore, h.Before)
	}
	return err
}

// what is the event in a word: fired, set aside.
func (r *historyRow) what() string {
	name := strings.TrimPrefix(r.Type, "Timer")
	if name == "CancelledInsufficientFunds" {
		return "unfunded"
	}
	var words strings.Builder
	for i, letter := range strings.Replace(name, "ByGovernance", "", 1) {
		if i > 0 && letter >= 'A' && letter <= 'Z' {
			words.WriteByte(' ')
		}
		words.WriteRune(letter)
	}
	return strings.ToLower(words.String())
}

// words are the result, what was paid, the next due height, and what else there is to say; a dash is nothing.
func (r *historyRow) words() [4]string {
	switch e := r.event.(type) {
	case *types.TimerFired:
		result, next := "ok", "-"
		if !e.Success {
			result = fmt.Sprintf("%s/%d", e.Codespace, e.Code)
		}
		if e.NextDue > 0 {
			next = fmt.Sprint(e.NextDue)
		}
		more := fmt.Sprintf("%d cycles, %d cells", e.Cycles, e.Cells)
		if e.Late > 0 {
			more += fmt.Sprintf(", %d late", e.Late)
		}
		if e.Retries > 0 {
			more += fmt.Sprintf(", retry %d next", e.Retries)
		}
		return [4]string{result, e.Paid, next, more}
	case *types.TimerScheduled:
		return [4]string{"-", "-", fmt.Sprint(e.Due), fmt.Sprintf("until %d", e.ExpiresAt)}
	case *types.TimerReleased:
		return [4]string{e.Reason.Word(), "-", fmt.Sprint(e.Due), ""}
	case *types.TimerSetAside:
		more := ""
		if e.Reason == types.Suspended {
			more = fmt.Sprintf("wants %s, has %s", e.Required, e.Available)
		}
		return [4]string{e.Reason.Word(), "-", "-", more}
	case *types.TimerCancelledInsufficientFunds:
		return [4]string{"-", "-", "-", fmt.Sprintf("wants %s, has %s", e.Required, e.Available)}
	case *types.TimerExtended:
		return [4]string{"-", "-", "-", fmt.Sprintf("until %d", e.ExpiresAt)}
	case *types.TimerExtendedByGovernance:
		return [4]string{"by governance", "-", "-", fmt.Sprintf("until %d", e.ExpiresAt)}
	case *types.TimerBidLocked:
		return [4]string{"-", "-", "-", fmt.Sprintf("%s more, %s in all", e.Amount, e.Locked)}
	case *types.TimerBidSettled:
		return [4]string{"-", e.Paid, "-", fmt.Sprintf("of a bid of %s: %s back, %s locked now", e.Bid, e.Returned, e.Locked)}
	case *types.TimerCancelledByGovernance:
		return [4]string{"by governance", "-", "-", ""}
	default:
		return [4]string{"-", "-", "-", ""}
	}
}

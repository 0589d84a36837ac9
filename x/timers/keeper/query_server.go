package keeper

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/engine"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// server answers queries. Those at a height answer as of the end of that block.
type server struct {
	engine *engine.Engine
}

// Module is what queries need of the module; *keeper.Keeper is one.
type Module interface {
	Engine() *engine.Engine
}

// NewQueryServer returns the module's query server. It keeps nothing, and answers queries side by side.
func NewQueryServer(m Module) types.QueryServer { return &server{m.Engine()} }

var _ types.QueryServer = (*server)(nil)

// text is the bech32 form of an address.
func (s *server) text(addr sdk.AccAddress) string { return s.engine.Addresses.Text(addr) }

// Params implements types.QueryServer.
func (s *server) Params(ctx context.Context, req *types.QueryParamsRequest) (*types.QueryParamsResponse, error) {
	beginQuery(ctx)
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	config, err := s.engine.Configs.Get(ctx)
	if err != nil {
		return nil, err
	}
	response := &types.QueryParamsResponse{
		Config: s.engine.Policies.Complete(config),
		Opcodes: types.Opcodes{
			SysCancelTimer:       types.OpcodeSysCancelTimer,
			SysUpdateTimerConfig: types.OpcodeSysUpdateTimerConfig,
			SysExtendTimer:       types.OpcodeSysExtendTimer,
		},
		Authority: s.engine.Authority.In(sdk.UnwrapSDKContext(ctx)),
	}
	next, found, err := s.engine.Configs.Next(ctx)
	if err != nil {
		return nil, err
	}
	latest := &response.Config
	if found {
		next = s.engine.Policies.Complete(next)
		response.NextConfig, latest = &next, &next
	}
	if response.Expected, err = latest.Hash(req.GetFields()); err != nil {
		return nil, invalidArgument(err)
	}
	charge(ctx, response)
	return response, nil
}

// Timer implements types.QueryServer.
func (s *server) Timer(ctx context.Context, req *types.QueryTimerRequest) (*types.QueryTimerResponse, error) {
	beginQuery(ctx)
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	looking, err := state.Lookups(ctx)
	if err != nil {
		return nil, err
	}
	timer, err := s.asked(looking, req)
	if err != nil {
		return nil, err
	}
	info, err := s.whole(looking, &timer, req.Verdict)
	return &types.QueryTimerResponse{Timer: info}, err
}

// asked is the timer that a request names, by its id or by its name.
func (s *server) asked(ctx context.Context, req *types.QueryTimerRequest) (types.Timer, error) {
	if req.GetName() == "" {
		return s.named(ctx, req.GetActor(), req.GetId())
	}
	if req.Id != "" {
		return types.Timer{}, status.Errorf(codes.InvalidArgument, "id %.80q and name %.80q are stated: state one", req.Id, req.Name)
	}
	actor, err := s.engine.Addresses.Parse("actor", req.Actor)
	if err != nil {
		return types.Timer{}, invalidArgument(err)
	}
	scheduler, err := s.engine.Addresses.Parse("scheduler", cmp.Or(req.Scheduler, req.Actor))
	if err != nil {
		return types.Timer{}, invalidArgument(err)
	}
	timer, err := s.engine.Records.Named(ctx, actor, scheduler, req.Name)
	switch {
	case errors.Is(err, types.ErrTimerNotFound):
		return timer, status.Error(codes.NotFound, err.Error())
	case errors.Is(err, types.ErrAmbiguousTimerID):
		return timer, invalidArgument(err)
	}
	return timer, err
}

// named is the timer of an actor whose id begins with a prefix that no other of them has.
func (s *server) named(ctx context.Context, actorText, id string) (types.Timer, error) {
	actor, err := s.engine.Addresses.Parse("actor", actorText)
	if err != nil {
		return types.Timer{}, invalidArgument(err)
	}
	prefix, err := types.ParseIDPrefix(id)
	if err != nil {
		return types.Timer{}, invalidArgument(err)
	}
	entries, err := s.engine.Owners.Named(ctx, actor, prefix)
	if err != nil {
		return types.Timer{}, err
	}
	var found []types.Timer
	for _, entry := range entries {
		timer, err := s.engine.Records.Load(ctx, entry)
		if err != nil {
			return types.Timer{}, err
		}
		if strings.HasPrefix(timer.IDHex(), prefix) && timer.Owner().Equals(actor) {
			found = append(found, timer)
		}
	}
	switch len(found) {
	case 0:
		return types.Timer{}, status.Error(codes.NotFound, types.ErrTimerNotFound.Wrapf("%s has no live timer %s", actorText, prefix).Error())
	case 1:
		return found[0], nil
	default:
		return types.Timer{}, invalidArgument(types.ErrAmbiguousTimerID.Wrapf(
			"%s fits %d timers of %s, %s and %s among them; state more digits",
			prefix, len(found), actorText, found[0].IDHex(), found[1].IDHex()))
	}
}

// TimersByActor implements types.QueryServer. The config bounds an actor's timers, so its entries are read whole and
// paged in memory; records are read for the page alone.
func (s *server) TimersByActor(
	ctx context.Context, req *types.QueryTimersByActorRequest,
) (*types.QueryTimersByActorResponse, error) {
	beginQuery(ctx)
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	looking, err := state.Lookups(ctx)
	if err != nil {
		return nil, err
	}
	ctx = looking
	actor, err := s.engine.Addresses.Parse("actor", req.GetActor())
	if err != nil {
		return nil, invalidArgument(err)
	}
	entries, err := s.engine.Owners.Of(ctx, actor)
	if err != nil {
		return nil, err
	}
	config, err := s.engine.Configs.Get(ctx)
	if err != nil {
		return nil, err
	}
	timers, page, err := pageOf(ctx, entries, req.Pagination, func(entry state.Entry) (types.TimerInfo, error) {
		timer, err := s.engine.Records.Load(ctx, entry)
		if err != nil {
			return types.TimerInfo{}, err
		}
		return s.listed(ctx, &config, &timer)
	})
	if err == nil {
		err = s.judge(ctx, timers, req.Verdict)
	}
	return &types.QueryTimersByActorResponse{Timers: timers, Pagination: page, Total: uint32(len(entries))}, err
}

// Due implements types.QueryServer.
func (s *server) Due(ctx context.Context, req *types.QueryDueRequest) (*types.QueryDueResponse, error) {
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	if req.GetTime() != 0 {
		return s.dueByTime(ctx, req)
	}
	if req.GetHeight() == 0 || req.GetHeight() == ^uint64(0) {
		return nil, status.Errorf(codes.InvalidArgument, "height is %d, want 1 to %d, or a time", req.GetHeight(), ^uint64(0)-1)
	}
	from := schedule.Key{Due: req.Height}
	if req.Until {
		from = schedule.Key{}
	}
	timers, page, err := s.queuePage(ctx, from, req.Height, req.Pagination, req.Verdict, func(*types.Timer) bool { return true })
	return &types.QueryDueResponse{Timers: timers, Pagination: page}, err
}

// dueByTime lists timers that wait for a time. The page's key is the time and the seq at which the next page starts.
func (s *server) dueByTime(ctx context.Context, req *types.QueryDueRequest) (*types.QueryDueResponse, error) {
	if req.Time < 0 || req.Time > types.MaxTime || req.Height != 0 {
		return nil, status.Errorf(codes.InvalidArgument, "time is %d and height %d, want a time from 1 to %d and no height",
			req.Time, req.Height, types.MaxTime)
	}
	within := state.ClassTimed.Between(uint64(req.Time), uint64(req.Time))
	if req.Until {
		within = state.ClassTimed.Between(0, uint64(req.Time))
	}
	var err error
	if within.From, err = firstOfPage(within.From, req.Pagination); err != nil {
		return nil, err
	}
	timers, next, err := s.walkedPage(ctx, req.Pagination, within)
	return &types.QueryDueResponse{Timers: timers, Pagination: next}, err
}

// readyInQueueOrder lists the ready timers in the order of the queue.
func (s *server) readyInQueueOrder(ctx context.Context, page *sdkquery.PageRequest) (*types.QueryReadyResponse, error) {
	lane, err := s.engine.Lane.Get(ctx)
	if err != nil {
		return nil, err
	}
	now := types.MomentOf(ctx)
	canFire := func(t *types.Timer) bool { return !t.ExpiredAt(now.Next()) }
	timers, next, err := s.queuePage(ctx, state.CalendarKey(lane.LiveCursor), now.Height, page, true, canFire)
	return &types.QueryReadyResponse{Timers: timers, Pagination: next}, err
}

// OnHold implements types.QueryServer.
func (s *server) OnHold(
	ctx context.Context, req *types.QueryOnHoldRequest,
) (_ *types.QueryOnHoldResponse, err error) {
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	from, err := firstOfPage(schedule.Key{}, req.GetPagination())
	if err != nil {
		return nil, err
	}
	timers, next, err := s.walkedPage(ctx, req.GetPagination(), state.OnHold(from))
	return &types.QueryOnHoldResponse{Timers: timers, Pagination: next}, err
}

// checkTexts checks the lengths of all that a request states, before anything reads it.
func checkTexts(req any) error {
	if err := types.CheckText(sdkerrors.ErrInvalidRequest, req); err != nil {
		return invalidArgument(err)
	}
	return nil
}

func invalidArgument(err error) error { return status.Error(codes.InvalidArgument, err.Error()) }

// Agent implements types.QueryServer.
func (s *server) Agent(ctx context.Context, req *types.QueryAgentRequest) (*types.QueryAgentResponse, error) {
	beginQuery(ctx)
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	actor, err := s.engine.Addresses.Parse("actor", req.GetActor())
	if err != nil {
		return nil, invalidArgument(err)
	}
	agent, err := s.engine.Agents.Of(ctx, actor)
	response := &types.QueryAgentResponse{}
	if len(agent) > 0 {
		response.Agent = s.text(agent)
	}
	charge(ctx, response)
	return response, err
}

const (
	// MaxPageEntries bounds a page of a query, whatever the request asks for.
	MaxPageEntries = 1_000
	// MaxPageBytes bounds the entries of a page in bytes, as protobuf encodes them. A page that it cuts short has a
	// next_key. An entry is always shorter.
	MaxPageBytes = 1 << 20
	// MaxPageOffset bounds the entries that a page may skip, since skipping reads them. A next_key skips nothing.
	MaxPageOffset = 10_000
	// GasPerByte is charged for each byte of an answer, in addition to what is read for it: it pays for encoding it, as a
	// rule in JSON.
	GasPerByte = 50
	// QueryGas is charged for each query that contracts and modules may make, before it reads anything, whatever comes of
	// it: it pays for the request, the look-up and the answer's frame.
	QueryGas = 10_000
	// DecodeGasPerByte is charged for each byte of messages that the query Timer decodes, before it does.
	DecodeGasPerByte = 100
)

// sized is a message whose encoded length is known.
type sized interface{ Size() int }

// beginQuery charges a query as such.
func beginQuery(ctx context.Context) {
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(QueryGas, "query")
}

// charge consumes gas for what an answer holds. Contracts and modules pay it; a node may limit it for queries from outside
// (query-gas-limit).
func charge(ctx context.Context, part sized) {
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(GasPerByte*uint64(part.Size()), "bytes of an answer")
}

// room is what is left of a page.
type room struct{ entries, bytes uint64 }

func newRoom(entries uint64) *room { return &room{entries, MaxPageBytes} }

// take reports whether an entry fits the page, and charges it. The first one always does, so that every page continues.
func (r *room) take(ctx context.Context, entry sized) bool {
	size := uint64(entry.Size())
	if r.entries == 0 || size > r.bytes && r.bytes < MaxPageBytes {
		return false
	}
	charge(ctx, entry)
	r.entries--
	r.bytes -= min(size, r.bytes)
	return true
}

// queuePage reads one page of the queue from a key to a height. The page's key is the queue key at which the next page
// starts.
func (s *server) queuePage(
	ctx context.Context, from schedule.Key, height uint64, page *sdkquery.PageRequest, verdict bool, keep func(*types.Timer) bool,
) ([]types.TimerInfo, *sdkquery.PageResponse, error) {
	config, err := s.engine.Configs.Get(ctx)
	if err != nil {
		return nil, nil, err
	}
	limit, offset, err := walkBounds(page)
	if err != nil {
		return nil, nil, err
	}
	from, err = firstOfPage(from, page)
	if err != nil {
		return nil, nil, err
	}
	var infos []types.TimerInfo
	var failure error
	left := newRoom(limit)
	_, next, complete, err := s.engine.Records.Page(ctx, from, height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		switch {
		case !keep(&e.Value):
			return schedule.Pass
		case offset > 0:
			offset--
			return schedule.Pass
		}
		info, err := s.listed(ctx, &config, &e.Value)
		if failure = err; err != nil || !left.take(ctx, &info) {
			return schedule.Stop
		}
		infos = append(infos, info)
		return schedule.Pass
	})
	if err == nil {
		err = failure
	}
	if err != nil {
		return nil, nil, err
	}
	response := &sdkquery.PageResponse{}
	if !complete {
		response.NextKey = pageKey(next)
	}
	return infos, response, s.judge(ctx, infos, verdict)
}

// walkedPage reads one page of the records of a range. The page's key is that of the record with which the next page starts.
func (s *server) walkedPage(
	ctx context.Context, page *sdkquery.PageRequest, within state.Range,
) (infos []types.TimerInfo, next *sdkquery.PageResponse, err error) {
	limit, offset, err := walkBounds(page)
	if err != nil {
		return nil, nil, err
	}
	config, err := s.engine.Configs.Get(ctx)
	if err != nil {
		return nil, nil, err
	}
	next = &sdkquery.PageResponse{}
	left := newRoom(limit)
	err = s.engine.Records.Walk(ctx, within, func(t *types.Timer) (bool, error) {
		if offset > 0 {
			offset--
			return false, nil
		}
		info, err := s.listed(ctx, &config, t)
		if err != nil {
			return true, err
		}
		if !left.take(ctx, &info) {
			next.NextKey = pageKey(state.RecordKey(t))
			return true, nil
		}
		infos = append(infos, info)
		return false, nil
	})
	return infos, next, err
}

// firstOfPage is the first key that a page may hold: from, or that of the page if it comes later.
func firstOfPage(from schedule.Key, page *sdkquery.PageRequest) (schedule.Key, error) {
	if len(page.GetKey()) == 0 {
		return from, nil
	}
	first, err := parsePageKey(page.Key)
	if err == nil && first.Compare(from) < 0 {
		first = from
	}
	return first, err
}

func parsePageKey(key []byte) (schedule.Key, error) {
	if len(key) != 16 {
		return schedule.Key{}, status.Errorf(codes.InvalidArgument, "page key has %d bytes, want the 16 of a next_key", len(key))
	}
	return schedule.Key{Due: binary.BigEndian.Uint64(key), Seq: binary.BigEndian.Uint64(key[8:])}, nil
}

func pageKey(key schedule.Key) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, key.Due), key.Seq)
}

// errReverse refuses to list from the end.
var errReverse = status.Error(codes.InvalidArgument, "reverse is not supported: this list has one order only")

// errCount refuses to count a list that is not counted otherwise.
var errCount = status.Error(codes.InvalidArgument, "count_total is not supported: to count this list is to read all of it")

// pageLimit is the limit of a page, with the SDK's default and a bound of its own.
func pageLimit(page *sdkquery.PageRequest) uint64 {
	limit := page.GetLimit()
	if limit == 0 {
		limit = sdkquery.DefaultLimit
	}
	return min(limit, MaxPageEntries)
}

// pageBounds reads limit and offset.
func pageBounds(page *sdkquery.PageRequest) (limit, offset uint64, err error) {
	if len(page.GetKey()) > 0 && page.GetOffset() > 0 {
		return 0, 0, status.Error(codes.InvalidArgument, "state a page key or an offset, not both")
	}
	return pageLimit(page), page.GetOffset(), nil
}

// inOrder refuses what a list that is walked in its own order can't do.
func inOrder(page *sdkquery.PageRequest) error {
	switch {
	case page.GetReverse():
		return errReverse
	case page.GetCountTotal():
		return errCount
	default:
		return nil
	}
}

// walkBounds is pageBounds for lists that are walked, in their own order, to reach an offset.
func walkBounds(page *sdkquery.PageRequest) (limit, offset uint64, err error) {
	if err := inOrder(page); err != nil {
		return 0, 0, err
	}
	limit, offset, err = pageBounds(page)
	if err == nil && offset > MaxPageOffset {
		err = status.Errorf(codes.InvalidArgument, "offset is %d, want at most %d; a next_key goes further", offset, MaxPageOffset)
	}
	return limit, offset, err
}

// pageOf takes a page of a list in memory, whose entries are made as they are taken. The page's key is the position at
// which the next page starts; in reverse, that from the end.
func pageOf[T, E any, P interface {
	*E
	sized
}](ctx context.Context, all []T, page *sdkquery.PageRequest, entry func(T) (E, error)) ([]E, *sdkquery.PageResponse, error) {
	limit, first, err := pageStart(page)
	if err != nil {
		return nil, nil, err
	}
	total := uint64(len(all))
	response := &sdkquery.PageResponse{Total: total}
	var taken []E
	left := newRoom(limit)
	for position := first; position < total; position++ {
		at := position
		if page.GetReverse() {
			at = total - 1 - position
		}
		e, err := entry(all[at])
		if err != nil {
			return nil, nil, err
		}
		if !left.take(ctx, P(&e)) {
			response.NextKey = positionKey(position)
			break
		}
		taken = append(taken, e)
	}
	return taken, response, nil
}

// pageStart reads the limit of a page and the position that it begins at, for lists whose key is a position.
func pageStart(page *sdkquery.PageRequest) (limit, first uint64, err error) {
	limit, first, err = pageBounds(page)
	if err != nil {
		return 0, 0, err
	}
	if key := page.GetKey(); len(key) > 0 {
		if first, err = parsePosition(key); err != nil {
			return 0, 0, err
		}
	}
	// A position beyond every list, small enough that the end of a page can be computed without overflow.
	return limit, min(first, 1<<62), nil
}

func positionKey(position uint64) []byte { return binary.BigEndian.AppendUint64(nil, position) }

func parsePosition(key []byte) (uint64, error) {
	if len(key) != 8 {
		return 0, status.Errorf(codes.InvalidArgument, "page key has %d bytes, want the 8 of a next_key", len(key))
	}
	return binary.BigEndian.Uint64(key), nil
}

// unready are the verdicts on timers that are not ready. What the next block makes of those that are, judge asks.
var unready = map[types.TimerPhase]types.Verdict{
	types.PhasePending: types.VerdictPending, types.PhaseWatching: types.VerdictWatching,
	types.PhaseOnHold: types.VerdictOnHold, types.PhaseExpired: types.VerdictExpired,
}

// judge gives those of some timers their verdicts that are ready, or due in the next block, if they are asked for. It runs that
// block's steps on a branch if there are any.
func (s *server) judge(goCtx context.Context, infos []types.TimerInfo, asked bool) error {
	ready, now := map[uint64]*types.TimerInfo{}, types.HeightOf(goCtx)
	for i := range infos {
		t := &infos[i]
		if t.Status.Phase == types.PhaseReady || t.Status.Phase == types.PhasePending && t.Status.HoldReason == types.NotOnHold && t.Status.Due <= now+1 {
			ready[t.Status.Seq], t.Status.Verdict = t, types.VerdictUnspecified
		}
	}
	if len(ready) == 0 || !asked {
		return nil
	}
	ctx, next, err := s.engine.Preview(sdk.UnwrapSDKContext(goCtx))
	if err != nil {
		return err
	}
	for len(ready) > 0 {
		timer, verdict, found, err := next.Next(ctx)
		ctx.GasMeter().ConsumeGas(CompareGas, "compare timers")
		if err != nil {
			return err
		}
		if !found {
			break
		}
		if info, asked := ready[timer.Seq]; asked {
			info.Status.Verdict = verdict
			delete(ready, timer.Seq)
		}
	}
	for i := range infos {
		if ready[infos[i].Status.Seq] == nil {
			continue
		}
		t, found, err := s.engine.Records.InQueue(ctx, state.KeyOf(infos[i].Status.Due, infos[i].Status.Seq))
		if err != nil {
			return err
		}
		infos[i].Status.Verdict = types.VerdictOnHold // The block puts it on hold before it is tried.
		if found {
			if infos[i].Status.Verdict, err = next.Missed(ctx, &t); err != nil {
				return err
			}
		}
	}
	return nil
}

// whole is a timer with its payload, whatever its length, and its messages; and the verdict on it if that is asked for.
func (s *server) whole(ctx context.Context, t *types.Timer, verdict bool) (types.TimerInfo, error) {
	config, err := s.engine.Configs.Get(ctx)
	if err != nil {
		return types.TimerInfo{}, err
	}
	info, err := s.listed(ctx, &config, t)
	if err != nil {
		return info, err
	}
	judged := []types.TimerInfo{info}
	if err = s.judge(ctx, judged, verdict); err != nil {
		return info, err
	}
	info = judged[0]
	if info.Spec.Call.Payload, err = s.engine.Records.Payload(ctx, t); err != nil {
		return info, err
	}
	if size := uint64(len(info.Spec.Call.Payload)); size <= market.MaxMessagesBytes {
		sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(DecodeGasPerByte*size, "decode messages")
		if messages := s.messagesOf(ctx, t, info.Spec.Call.Payload); len(messages) > 0 {
			info.Spec.Call = types.TimerCall{Messages: messages}
		}
	}
	charge(ctx, &info)
	return info, nil
}

// messagesOf decodes a payload that is messages to the runtime that serves the actor. Any other is shown as bytes alone,
// even if its bytes could be read as messages: they would not run. So is
// one that these would not be encoded to.
func (s *server) messagesOf(ctx context.Context, t *types.Timer, payload []byte) []*codectypes.Any {
	runtime, err := s.engine.Router.Route(ctx, t.Actor)
	if err != nil {
		return nil
	}
	runner, ok := runtime.(types.MessageRuntime)
	if !ok || !runner.RunsMessages(t.CallWith(payload)) {
		return nil
	}
	var messages types.AccountPayload
	_, unsafe := types.ScanPayload(payload, func([]byte) error { return nil })
	if unsafe != nil || s.engine.Codec.Unmarshal(payload, &messages) != nil {
		return nil
	}
	if again, err := messages.Marshal(); err != nil || !bytes.Equal(again, payload) {
		return nil
	}
	return messages.Messages
}

// listed is a timer as lists show it: what its record holds. Nothing is decoded, so that a list takes no more time than
// its length says.
func (s *server) listed(ctx context.Context, config *types.TimerConfig, t *types.Timer) (types.TimerInfo, error) {
	size := uint64(len(t.Spec.Call.Payload))
	if t.PayloadSeq != 0 {
		size = t.PayloadBytes // it is not read for its length
	}
	info := types.TimerInfo{
		Id: t.IDHex(), Actor: s.text(t.Actor), Spec: t.Spec,
		Status: types.TimerStatus{
			Phase: t.PhaseAt(types.MomentOf(ctx)), Tier: config.TierOf(t.Due, types.HeightOf(ctx)),
			Due: t.Due, DueTime: t.DueTime, Since: t.Since, ExpiresAt: t.ExpiresAt, ExpiresTime: t.ExpiresTime,
			GasLimit: t.GasLimit, CellLimit: t.CellLimit, FeePayer: s.text(t.Payer()), Start: t.Start, Left: t.Left(),
			PayloadBytes: size, RunsMessages: t.RunsMessages, ScheduleHeight: t.ScheduleHeight, Seq: t.Seq,
			HoldReason: t.HoldReason, FireSeq: t.FireSeq, Deliveries: t.Deliveries, Tried: t.Tried, Retries: t.Retries,
			Failures: t.Failures, Skips: t.Skips, LastOutcome: t.LastOutcome, Recurrence: t.Recurrence, Renewal: t.Renewal,
			BidLocked: t.BidLocked, UnfundedSince: t.UnfundedSince, TipCap: t.TipCap,
		},
	}
	if len(t.Scheduler) > 0 {
		info.Scheduler = s.text(t.Scheduler)
	}
	info.Status.Verdict = unready[info.Status.Phase]
	matched, err := s.engine.Watches.MatchedSoFar(ctx, t)
	info.Status.Matched = matched
	return info, err
}

func (s *server) receiptInfo(r *types.Receipt) types.ReceiptInfo {
	return types.ReceiptInfo{
		TimerId: hex.EncodeToString(r.TimerId), DeliverId: hex.EncodeToString(r.DeliverId), Actor: s.text(r.Actor),
		FireSeq: r.FireSeq, Success: r.Success, Codespace: r.Codespace, Code: r.Code,
		Cycles: r.Cycles, Cells: r.Cells, Paid: r.Paid.String(), Tip: r.Tip.String(),
		Bid: r.Bid, BidPaid: r.BidPaid, Matched: r.Matched, MatchedOmitted: r.MatchedOmitted, ScoreBid: r.ScoreBidText(), Late: r.Late, Occurrence: r.Occurrence, Index: r.Index,
		Guarded: r.Guarded,
	}
}

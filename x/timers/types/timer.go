package types

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/sha3"

	errorsmod "cosmossdk.io/errors"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/watch/condition"
)

// IDBytes is the length of a timer's id.
const IDBytes = 32

// TimerID derives the id of a timer: keccak256(actor ‖ height_be8 ‖ payload ‖ nonce_be8). The height is the first due
// height, the payload what the handler will be given, the nonce the seq that the timer is scheduled with.
func TimerID(actor []byte, height uint64, payload []byte, nonce uint64) []byte {
	h := sha3.NewLegacyKeccak256()
	h.Write(actor)
	h.Write(binary.BigEndian.AppendUint64(nil, height))
	h.Write(payload)
	h.Write(binary.BigEndian.AppendUint64(nil, nonce))
	return h.Sum(nil)
}

// DeliverID derives the id of one delivery of a timer:
// keccak256(height_be8 ‖ parent_app_hash ‖ timer_id ‖ fire_seq_be4).
func DeliverID(height uint64, parentAppHash, timerID []byte, fireSeq uint32) []byte {
	h := sha3.NewLegacyKeccak256()
	h.Write(binary.BigEndian.AppendUint64(nil, height))
	h.Write(parentAppHash)
	h.Write(timerID)
	h.Write(binary.BigEndian.AppendUint32(nil, fireSeq))
	return h.Sum(nil)
}

// IDHex is the id as people and events write it.
func (t *Timer) IDHex() string { return hex.EncodeToString(t.Id) }

// Key is the timer's place in the queue.
func (t *Timer) Key() QueueKey { return QueueKey{Due: t.Due, Seq: t.Seq} }

// DueSince is the height at which the timer became due this time, from which its rank and its lateness count.
func (t *Timer) DueSince() uint64 {
	if t.Since > 0 {
		return t.Since
	}
	return t.Due
}

// PlaceAt gives a timer that is due a later place in the queue. What counts from its due height goes on from that.
func (t *Timer) PlaceAt(due uint64) {
	if due <= t.Due {
		return
	}
	t.Since, t.Due = t.DueSince(), due
}

// Owner is the actor's address.
func (t *Timer) Owner() sdk.AccAddress { return t.Actor }

// Principal is who scheduled it: the actor, or the admin of a contract. It bids, pays unless another does, and alone changes
// the timer.
func (t *Timer) Principal() sdk.AccAddress {
	if len(t.Scheduler) == 0 {
		return t.Actor
	}
	return t.Scheduler
}

// Payer is the address debited at each fire.
func (t *Timer) Payer() sdk.AccAddress {
	if len(t.FeePayer) == 0 {
		return t.Principal()
	}
	return t.FeePayer
}

// Sponsored tells whether another account pays, by a fee allowance to the principal.
func (t *Timer) Sponsored() bool {
	return len(t.FeePayer) > 0 && !bytes.Equal(t.FeePayer, t.Principal())
}

// HandlerName is the handler to call.
func (t *Timer) HandlerName() string {
	if t.Spec.Call.Handler == "" {
		return DefaultHandler
	}
	return t.Spec.Call.Handler
}

// CallWith is what the timer calls with its payload, which its record may not hold.
func (t *Timer) CallWith(payload []byte) Call {
	return Call{Actor: t.Actor, Handler: t.HandlerName(), Payload: payload, Messages: t.RunsMessages}
}

// ExpiredAt tells whether the timer may no longer fire in a block: expires_at is the last height, and expires_time the last time.
func (t *Timer) ExpiredAt(now Moment) bool {
	return t.ExpiresAt != 0 && now.Height > t.ExpiresAt || t.ExpiresTime != 0 && now.Time > t.ExpiresTime
}

// LastHeight is the last height at which it may fire, as far as heights bound its life.
func (t *Timer) LastHeight() uint64 {
	if t.ExpiresAt == 0 {
		return MaxBlocks
	}
	return t.ExpiresAt
}

// PhaseAt is where the timer stands at the end of a block: one that was due and did not fire waits for the next.
func (t *Timer) PhaseAt(now Moment) TimerPhase {
	switch {
	case t.ExpiredAt(now.Next()):
		return PhaseExpired
	case t.HoldReason == Timed:
		return PhasePending
	case t.HoldReason == Watching:
		return PhaseWatching
	case t.HoldReason != NotOnHold:
		return PhaseOnHold
	case t.Due <= now.Height:
		return PhaseReady
	default:
		return PhasePending
	}
}

// Ask is what the timer asks of the lane: what its bid states, with no more of a tip than the max fee left when it was stated.
func (t *Timer) Ask() market.Ask {
	ask := t.Spec.Bid.Ask()
	if t.TipCap != "" && ask.Kind == market.Stated {
		if tipCap, err := decimal.Parse(t.TipCap); err == nil {
			ask.Stated.MaxPriority = math.LegacyMinDec(ask.Stated.MaxPriority, tipCap.LegacyDec)
		}
	}
	return ask
}

// Locked is how much of its bid is held for the timer, in fee denom.
func (t *Timer) Locked() math.Int {
	if t.BidLocked == "" {
		return math.ZeroInt()
	}
	locked, _ := ParseAmount(t.BidLocked)
	return locked
}

// SetLocked says how much of its bid is held for the timer.
func (t *Timer) SetLocked(amount math.Int) {
	t.BidLocked = ""
	if amount.IsPositive() {
		t.BidLocked = amount.String()
	}
}

// IsBefore tells whether the timer's place in the queue comes before a key.
func (t *Timer) IsBefore(key QueueKey) bool { return t.Key().Before(key) }

// ScoreBidText is what the fire paid for its place, empty for nothing.
func (r *Receipt) ScoreBidText() string {
	if r.ScoreBid == nil {
		return ""
	}
	return r.ScoreBid.String()
}

// TierOf is the tier of a due height, seen from the height now.
func (c *TimerConfig) TierOf(due, now uint64) TimerTier {
	sizes := schedule.TierSizes{RingSize: c.RingSize, EpochBlocks: c.EpochBlocks, EpochHorizon: c.EpochHorizon}
	switch sizes.TierOf(due, now) {
	case schedule.Near:
		return TimerTierNear
	case schedule.Epoch:
		return TimerTierEpoch
	default:
		return TimerTierFar
	}
}

// MaxWatchesPerKey bounds the timers that watch a key without a condition. What a change of it makes due comes in turns of their
// owners, so that whoever makes many owners delays others by no more than these (x/timers/README.md, "1.10 Watch").
const MaxWatchesPerKey = 10_000

// MaxWatchKeyBytes bounds a watched prefix, and the keys that can be watched whole: they are parts of keys in state.
const MaxWatchKeyBytes = 255

// Compare orders watched prefixes as state does: by store, then by bytes.
func (w WatchKey) Compare(other WatchKey) int {
	return cmp.Or(strings.Compare(w.Store, other.Store), bytes.Compare(w.Prefix, other.Prefix))
}

// Before tells whether a place comes before another.
func (q QueueKey) Before(other QueueKey) bool {
	return cmp.Or(cmp.Compare(q.Due, other.Due), cmp.Compare(q.Seq, other.Seq)) < 0
}

// Same tells whether two are one key.
func (w WatchedKey) Same(other WatchedKey) bool {
	return w.Store == other.Store && bytes.Equal(w.Key, other.Key)
}

// Validate checks the form of a watched prefix. Whether its store can be watched is for the chain's wiring to say.
func (w WatchKey) Validate() error {
	switch {
	case w.Store == "" || len(w.Store) > MaxWatchKeyBytes || strings.Contains(w.Store, "\x00"):
		return ErrInvalidWatch.Wrapf("store %.80q is not the name of a store, want 1 to %d bytes", w.Store, MaxWatchKeyBytes)
	case len(w.Prefix) == 0 || len(w.Prefix) > MaxWatchKeyBytes:
		return ErrInvalidWatch.Wrapf("a prefix of %d bytes in store %.80q, want 1 to %d", len(w.Prefix), w.Store, MaxWatchKeyBytes)
	case w.When == nil:
		return nil
	}
	if _, err := condition.Parse(condition.Op(w.When.Op), w.When.Value); err != nil {
		return ErrInvalidWatch.Wrapf("condition: %s", err)
	}
	return nil
}

// Validate checks the form of a trigger's keys: at least one, at most so many, none twice.
func (w *WatchTrigger) Validate() error {
	if len(w.Keys) == 0 || len(w.Keys) > int(market.MaxWatchKeys) {
		return ErrInvalidWatch.Wrapf("%d keys, want 1 to %d", len(w.Keys), market.MaxWatchKeys)
	}
	for i := range w.Keys {
		if err := w.Keys[i].Validate(); err != nil {
			return err
		}
		if slices.ContainsFunc(w.Keys[:i], func(other WatchKey) bool { return other.Compare(w.Keys[i]) == 0 }) {
			return ErrInvalidWatch.Wrapf("key %x of store %.80q is stated twice", w.Keys[i].Prefix, w.Keys[i].Store)
		}
	}
	if w.Level && (w.Cooldown == 0 || (&Trigger{Watch: w}).Conditions() == 0) {
		return ErrInvalidWatch.Wrapf("level with a cooldown of %d and %d conditions: want a cooldown from 1 on, and a key with a condition (when)",
			w.Cooldown, (&Trigger{Watch: w}).Conditions())
	}
	return nil
}

// ValidateOnlyIf checks the form of the conditions that must hold when a timer fires.
func ValidateOnlyIf(conditions []WatchKey) error {
	if len(conditions) > MaxOnlyIf {
		return ErrInvalidOnlyIf.Wrapf("%d conditions, want at most %d", len(conditions), MaxOnlyIf)
	}
	for _, key := range conditions {
		if err := key.Validate(); err != nil {
			return err
		}
		if key.When == nil {
			return ErrInvalidOnlyIf.Wrapf("key %x of store %.80q is stated without a condition: want when", key.Prefix, key.Store)
		}
	}
	return nil
}

// WatchKeys are what the timer watches, if it does.
func (t *Timer) WatchKeys() []WatchKey {
	if t.Spec.Trigger.Watch == nil {
		return nil
	}
	return t.Spec.Trigger.Watch.Keys
}

// Conditions is how many conditions a timer watches.
func (t *Timer) Conditions() int { return t.Spec.Trigger.Conditions() }

// AwaitsChange tells whether the timer watches, and waits for a change.
func (t *Timer) AwaitsChange() bool { return t.HoldReason == Watching && !t.Look }

// Watch lets the timer wait for changes from a height on. If it has conditions and look says so, they are looked at there first.
func (t *Timer) Watch(from uint64, look bool) {
	t.HoldReason, t.Due, t.Look = Watching, from, look && t.Conditions() > 0
}

// HeightOf is the height of the block that ctx belongs to.
func HeightOf(ctx context.Context) uint64 { return uint64(sdk.UnwrapSDKContext(ctx).BlockHeight()) }

// Moment is the height and the time of a block, by which triggers and lives are measured.
type Moment struct {
	Height uint64
	// Time is that of the header in whole seconds since 1970, rounded down, and at least 0.
	Time int64
}

// MomentOf is that of the block that ctx belongs to.
func MomentOf(ctx context.Context) Moment {
	unwrapped := sdk.UnwrapSDKContext(ctx)
	return Moment{uint64(unwrapped.BlockHeight()), max(0, unwrapped.BlockTime().Unix())}
}

// Next is the first moment at which the next block can be.
func (m Moment) Next() Moment { return Moment{m.Height + 1, m.Time} }

// Unmetered is a context in which the store charges nothing: for reads and writes of which the cost must not depend on
// what they happen to meet, and is charged apart or covered by another charge.
func Unmetered(ctx context.Context) sdk.Context {
	unwrapped := sdk.UnwrapSDKContext(ctx)
	if counting, counts := unwrapped.GasMeter().(interface{ Unmetered() storetypes.GasMeter }); counts {
		return unwrapped.WithGasMeter(counting.Unmetered())
	}
	return unwrapped.WithGasMeter(storetypes.NewInfiniteGasMeter())
}

// CodeOf is how state and events keep an error: without its text, which may differ between nodes.
func CodeOf(err error) (codespace string, code uint32) {
	codespace, code, _ = errorsmod.ABCIInfo(err, false)
	return codespace, code
}

// ReasonOf is what a refusal says of an error: the text of one of this module's, else the codespace and the code.
func ReasonOf(err error) string {
	if codespace, code := CodeOf(err); codespace != ModuleName {
		return fmt.Sprintf("%s error %d", codespace, code)
	}
	return err.Error()
}

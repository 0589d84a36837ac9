package types

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"

	"golang.org/x/crypto/sha3"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
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
	if t.Handler == "" {
		return DefaultHandler
	}
	return t.Handler
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

// StatusAt is where the timer stands at the end of a block: one that was due and did not fire waits for the next.
func (t *Timer) StatusAt(now Moment) TimerStatus {
	switch {
	case t.ExpiredAt(now.Next()):
		return TimerStatusExpired
	case t.HoldReason == Timed:
		return TimerStatusPending
	case t.HoldReason == Watching:
		return TimerStatusWatching
	case t.HoldReason != NotOnHold:
		return TimerStatusOnHold
	case t.Due <= now.Height:
		return TimerStatusReady
	default:
		return TimerStatusPending
	}
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

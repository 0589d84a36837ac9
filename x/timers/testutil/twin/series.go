package twin

import (
	"strconv"
	"strings"
)

// first is the first occurrence of the trigger as it is stated, after x, with no regard to what was delivered. Intervals `from: fire` and
// one-shots have none beyond their own.
func (s Spec) first(origin, x uint64) (uint64, bool) {
	switch s.Kind {
	case IntervalSchedule, Every:
		// §8: first + k × every; a calendar's anchor and each `seconds` after it.
		if x < origin {
			return origin, true
		}
		return x - (x-origin)%s.Every + s.Every, true
	case Listed:
		for _, at := range s.Listed {
			if at > x {
				return at, true
			}
		}
		return 0, false
	case Height, AfterBlocks, Time, IntervalFire:
		return origin, origin > x
	case Watch:
		return 0, false
	}
	return 0, false
}

// has: the trigger has this second or height (§3, another trigger).
func (s Spec) has(origin, x uint64) bool {
	if s.Kind == Watch || x == 0 {
		return false
	}
	at, ok := s.first(origin, x-1)
	return ok && at == x
}

// follow is the first of the timer's occurrences after x: those that came under a trigger before and stay (§3), then those of the
// trigger after the block that stated it.
func (s Spec) follow(st Status, x uint64) (uint64, bool) {
	for _, at := range kept(st) {
		if at > x {
			return at, true
		}
	}
	return s.first(st.origin, max(x, st.floor))
}

// delay is when the occurrence o comes: later than its own time by
// hash mod (min(jitter, gap to the next − 1, end − occurrence) + 1) (§8).
func (s Spec) delay(st Status, b Block, o uint64) uint64 {
	if s.Jitter == 0 || !s.nominal() || b.Jitter == nil || st.End <= o {
		return o
	}
	most := min(s.Jitter, st.End-o)
	if next, ok := s.follow(st, o); ok {
		most = min(most, next-o-1)
	}
	rest := uint64(0)
	for _, digit := range b.Jitter(o) {
		rest = (rest<<8 + uint64(digit)) % (most + 1)
	}
	return o + rest
}

// came are the occurrences after x that have come by now: whose delayed due is not in the future.
func (s Spec) came(st Status, b Block, x uint64) []uint64 {
	var out []uint64
	for o, ok := s.follow(st, x); ok && s.delay(st, b, o) <= s.now(b); o, ok = s.follow(st, o) {
		out = append(out, o)
	}
	return out
}

// pending are the occurrences not over whose own time has come, oldest first: what is in hand, which run may have taken early, and what
// came behind it. Resume and update judge by the own time (§8).
func (s Spec) pending(st Status, b Block) []uint64 {
	if !s.nominal() {
		if inHand(s, st, b) {
			return []uint64{st.Occurrence}
		}
		return nil
	}
	if !inHand(s, st, b) {
		return nil
	}
	out := []uint64{st.Occurrence}
	for o, ok := s.follow(st, max(st.Occurrence, st.done)); ok && o <= s.now(b); o, ok = s.follow(st, o) {
		out = append(out, o)
	}
	return out
}

// over: the window of an occurrence that came at `delayed` is over (§8 window).
func (s Spec) over(b Block, delayed uint64) bool {
	return s.nominal() && s.Window > 0 && s.now(b) > delayed+s.Window
}

// inHand: from its own time on (§8, §8a); a one-shot from its due on; what was tried, or taken by run, is in hand too; a watch from the
// change to its fire or last retry.
func inHand(s Spec, st Status, b Block) bool {
	if s.Kind == Watch {
		return st.caught
	}
	return st.tried || st.taken || st.Occurrence <= s.now(b)
}

// kept and keep hold the backlog as text, so that two statuses can be compared.
func kept(st Status) []uint64 {
	var out []uint64
	for _, field := range strings.Fields(st.backlog) {
		x, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			panic(err)
		}
		out = append(out, x)
	}
	return out
}

func keep(list []uint64) string {
	var b strings.Builder
	for _, x := range list {
		b.WriteString(strconv.FormatUint(x, 10))
		b.WriteByte(' ')
	}
	return b.String()
}

package twin

import "slices"

// check is what a spec must be whatever the block: §2, §8. One that it refuses is refused at scheduling and in an update.
func (s Spec) check() error {
	for _, err := range []error{s.checkTrigger(), s.checkRepeat(), s.checkRetry()} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s Spec) checkTrigger() error {
	switch s.Kind {
	case Height, AfterBlocks, Time:
		if s.At == 0 {
			return ErrInvalid
		}
	case IntervalFire, IntervalSchedule:
		if s.Every == 0 {
			return ErrInvalid
		}
	case Every:
		if s.Every < 60 { // §8: every{seconds ≥ 60}
			return ErrInvalid
		}
	case Listed:
		if len(s.Listed) == 0 || !slices.IsSorted(s.Listed) || len(slices.Compact(slices.Clone(s.Listed))) != len(s.Listed) {
			return ErrInvalid
		}
	case Watch:
		// §8: a condition is that of one whole key; `level` needs one, and a cooldown ≥ 1.
		if len(s.Keys) == 0 || s.When && len(s.Keys) != 1 || s.Level && (!s.When || s.Cooldown == 0) {
			return ErrInvalid
		}
	default:
		return ErrInvalid
	}
	if s.EndByTime && s.Kind != Watch {
		return ErrWrongClock
	}
	return nil
}

// checkRepeat: what is said of occurrences is refused where there are none (§8).
func (s Spec) checkRepeat() error {
	if !s.nominal() && (s.Missed != Latest || s.Window != 0 || s.Jitter != 0) {
		return ErrUnsupported
	}
	if !s.repeats() && (s.Remaining != 0 || s.Repeats || s.OnFailure != Roll || s.MaxFailures != 0 || s.Renew) {
		return ErrUnsupported
	}
	if s.Jitter > 86_400 || s.MaxFailures != 0 && s.OnFailure != Suspend {
		return ErrInvalid
	}
	if s.OnUnfunded == UnfundedSkip && !s.byClock() { // §8: for one that repeats by a clock, `skip`
		return ErrUnsupported
	}
	return nil
}

func (s Spec) checkRetry() error {
	if r := s.Retry; r != nil && (r.Max == 0 || r.Max > 10 || r.After == 0 || r.Backoff > 4 || len(r.On) > 8) {
		return ErrInvalid
	}
	return nil
}

// mostEnd is the last end that may be stated in a block (§2 end).
func (s Spec) mostEnd(l Limits, b Block, byTime bool) uint64 {
	if s.seconds() || byTime {
		return b.Time + l.MaxTTLSeconds
	}
	return b.Height + l.MaxTTLBlocks
}

// resolve is what follows from the trigger in a block (§2): the height of an `after`, an interval's default first, a calendar's anchor.
func (s Spec) resolve(b Block) uint64 {
	switch s.Kind {
	case Height, Time:
		return s.At
	case AfterBlocks:
		return b.Height + s.At
	case IntervalFire, IntervalSchedule:
		if s.First == 0 {
			return b.Height + s.Every
		}
		return s.First
	case Every:
		if s.First == 0 {
			return b.Time
		}
		return s.First
	case Listed, Watch:
		return 0
	}
	return 0
}

// checkPast: at scheduling nothing may be due now or earlier (§3); in an update an interval's `first` may have passed.
func (s Spec) checkPast(l Limits, b Block, origin uint64, update bool) error {
	switch s.Kind {
	case Height, AfterBlocks:
		if origin <= b.Height {
			return ErrPast
		}
		if origin > b.Height+l.MaxTTLBlocks {
			return ErrTTLTooLong
		}
	case Time:
		if origin <= b.Time {
			return ErrPast
		}
		if origin > b.Time+l.MaxTTLSeconds {
			return ErrTTLTooLong
		}
	case IntervalFire, IntervalSchedule:
		if origin <= b.Height && !update {
			return ErrPast
		}
	case Every, Listed, Watch:
	}
	return nil
}

// checkEnd: an end is later than now, and not before what it is in hand or waits is due (§3 extend, §8a). Of a watch that ends by time
// nothing is judged beforehand.
func (s Spec) checkEnd(st Status, b Block, end uint64) error {
	if end <= s.endNow(st, b) {
		return ErrExpiresTooSoon
	}
	if s.Kind == Watch && (st.endByTime || !st.caught) {
		return nil
	}
	if end < st.due {
		return ErrExpiresTooSoon
	}
	return nil
}

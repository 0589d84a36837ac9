// Package genesis checks the module's genesis state (x/timers/README.md, Genesis).
//
// It checks each record by itself, and what only the whole state shows: that records are in order, that none occurs twice,
// and that those that belong together agree.
package genesis

import (
	"bytes"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Check checks a genesis state whose timers come one at a time, in order: NewCheck, Timer for each of them, Done. The
// records of one kind are told apart by the number that they have in their list.
type Check struct {
	head *types.GenesisState
	// seqs and ids are those of the timers so far; hits are the seqs in watch_hits of which no timer has come yet.
	seqs map[uint64]struct{}
	ids  map[[types.IDBytes]byte]struct{}
	hits map[uint64]struct{}
	// values are the keys in watch_values of which no timer with a condition has come yet.
	values map[string]struct{}
	// counts are the keys in watch_counts that no timer so far watches without a condition.
	counts map[string]struct{}
}

// maxNextSeq leaves seqs for as many timers again, so that they don't begin again.
const maxNextSeq = uint64(1) << 62

// NewCheck checks all but the timers. Errors are types.ErrInvalidGenesis and types.ErrInvalidConfig.
func NewCheck(head *types.GenesisState) (*Check, error) {
	if err := types.CheckText(types.ErrInvalidGenesis, head); err != nil {
		return nil, err
	}
	if err := head.Config.Validate(); err != nil {
		return nil, err
	}
	if head.NextConfig != nil {
		if err := head.Config.ValidateChange(head.NextConfig); err != nil {
			return nil, err
		}
	}
	if head.NextSeq == 0 || head.NextSeq > maxNextSeq {
		return nil, types.ErrInvalidGenesis.Wrapf("next_seq is %d, want 1 to %d", head.NextSeq, maxNextSeq)
	}
	if err := validateLane(&head.Lane); err != nil {
		return nil, err
	}
	for _, validate := range []func(*types.GenesisState) error{
		validateFairness, validateWatchPending, validateNotes, validateConditions, validateTombstones, validateReady,
		(*types.GenesisState).ValidatePolicies, validateReceipts,
	} {
		if err := validate(head); err != nil {
			return nil, err
		}
	}
	hits, err := validateHits(head.WatchHits)
	c := &Check{
		head: head, seqs: map[uint64]struct{}{}, ids: map[[types.IDBytes]byte]struct{}{},
		hits: hits, values: valuesOf(head), counts: countsOf(head),
	}
	c.tombstones()
	return c, err
}

// Done ends a check after the last timer.
func (c *Check) Done() error {
	if len(c.hits) > 0 {
		return types.ErrInvalidGenesis.Wrapf("watch_hits has %d seqs that no timer has", len(c.hits))
	}
	if len(c.values) > 0 {
		return types.ErrInvalidGenesis.Wrapf("watch_values has %d keys that no timer has a condition on", len(c.values))
	}
	if len(c.counts) > 0 {
		return types.ErrInvalidGenesis.Wrapf("watch_counts has %d keys that no timer watches without a condition", len(c.counts))
	}
	return nil
}

// validateFairness checks the fires of the window one by one; what sums them up is derived from them.
func validateFairness(g *types.GenesisState) error {
	for i := range g.Fairness {
		fires := &g.Fairness[i]
		if err := sdk.VerifyAddressFormat(fires.Unit); err != nil {
			return types.ErrInvalidGenesis.Wrapf("fairness %d: unit: %s", i, err)
		}
		if fires.Fires == 0 || fires.Height < g.Lane.Fairness.From {
			return types.ErrInvalidGenesis.Wrapf("fairness %d: %d fires at height %d, want at least 1, at %d or later",
				i, fires.Fires, fires.Height, g.Lane.Fairness.From)
		}
		if i == 0 {
			continue
		}
		if before := &g.Fairness[i-1]; before.Height > fires.Height ||
			before.Height == fires.Height && bytes.Compare(before.Unit, fires.Unit) >= 0 {
			return types.ErrInvalidGenesis.Wrapf("fairness %d: not above the one before in (height, unit)", i)
		}
	}
	return nil
}

package market

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// window is the fairness window: the fires of units in the last blocks, the median over them and the weights that
// follow.
type window struct {
	config *Config
	recent map[string]uint64
	// blocks are the fires of the blocks in the window, the oldest first.
	blocks   []firesOf
	median   market.Median
	counts   histogram
	smoothed math.LegacyDec
	// weights that were computed in this block.
	weights map[string]uint32
}

type firesOf struct {
	height uint64
	units  map[string]uint64
}

func newWindow(config *Config) *window {
	return &window{config: config, recent: map[string]uint64{}, smoothed: math.LegacyZeroDec(), weights: map[string]uint32{}}
}

// weight of a unit in this block, in sixteenths.
func (w *window) weight(unit string) uint32 {
	weight, known := w.weights[unit]
	if !known {
		weight = w.config.Weights.Weight(w.recent[unit], w.smoothed)
		w.weights[unit] = weight
	}
	return weight
}

// advance adds the fires of a block, and drops those that are not in the window of the next.
func (w *window) advance(height uint64, units map[string]uint64) {
	clear(w.weights)
	for unit, fires := range units {
		w.change(unit, int64(fires))
	}
	if len(units) > 0 {
		w.blocks = append(w.blocks, firesOf{height, units})
	}
	for len(w.blocks) > 0 && w.blocks[0].height+w.config.FairnessBlocks <= height {
		for unit, fires := range w.blocks[0].units {
			w.change(unit, -int64(fires))
		}
		w.blocks = w.blocks[1:]
	}
	if err := w.median.Settle(context.Background(), &w.counts); err != nil {
		panic(err)
	}
	w.smoothed = market.SmoothMedian(w.config.MedianSmoothing, w.median.Value, w.smoothed)
}

func (w *window) change(unit string, by int64) {
	from := w.recent[unit]
	to := uint64(int64(from) + by)
	if w.recent[unit] = to; to == 0 {
		delete(w.recent, unit)
	}
	if err := w.median.Move(context.Background(), &w.counts, from, to); err != nil {
		panic(err)
	}
}

// histogram implements market.MedianCounts, ordered by the number of fires.
type histogram struct{ entries []histogramEntry }

type histogramEntry struct{ fires, units uint64 }

func (h *histogram) at(fires uint64) (int, bool) {
	return slices.BinarySearchFunc(h.entries, fires, func(e histogramEntry, fires uint64) int { return cmp.Compare(e.fires, fires) })
}

// Get implements market.MedianCounts.
func (h *histogram) Get(_ context.Context, fires uint64) (uint64, error) {
	if i, found := h.at(fires); found {
		return h.entries[i].units, nil
	}
	return 0, nil
}

// Set implements market.MedianCounts.
func (h *histogram) Set(_ context.Context, fires, units uint64) error {
	i, found := h.at(fires)
	switch {
	case found && units == 0:
		h.entries = slices.Delete(h.entries, i, i+1)
	case found:
		h.entries[i].units = units
	case units > 0:
		h.entries = slices.Insert(h.entries, i, histogramEntry{fires, units})
	}
	return nil
}

// Next implements market.MedianCounts.
func (h *histogram) Next(_ context.Context, fires uint64) (uint64, error) {
	i, found := h.at(fires)
	if found {
		i++
	}
	if i == len(h.entries) {
		return 0, fmt.Errorf("no unit has more than %d fires", fires)
	}
	return h.entries[i].fires, nil
}

// Prev implements market.MedianCounts.
func (h *histogram) Prev(_ context.Context, fires uint64) (uint64, error) {
	i, _ := h.at(fires)
	if i == 0 {
		return 0, fmt.Errorf("no unit has fewer than %d fires", fires)
	}
	return h.entries[i-1].fires, nil
}

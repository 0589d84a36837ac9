package report

import (
	"encoding/hex"

	"cosmossdk.io/log"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Log writes a block's line: at info if a timer fired, at debug otherwise.
func (b *Block) Log(logger log.Logger) {
	write := logger.Debug
	if b.Fired > 0 {
		write = logger.Info
	}
	write("end of block", "module", types.ModuleName, "height", b.Height, "fired", b.Fired, "failed", b.Failed,
		"expired", b.Expired, "unfunded", b.Unfunded, "not_admin", b.NotAdmin, "on_hold", b.OnHold, "ready", b.Deferred,
		"used_size", b.UsedSize, "lane_basefee", b.LaneBasefee, "storm", b.Storm)
}

// LogTimer writes at debug what happened to a timer.
func LogTimer(logger log.Logger, t *types.Timer, what string, keyValues ...any) {
	logger.Debug(what, append([]any{"module", types.ModuleName, "id", id(t.Id)}, keyValues...)...)
}

// LogFire writes at debug that a timer fired. A receipt holds no text of a handler.
func LogFire(logger log.Logger, runtime string, r *types.Receipt) {
	logger.Debug("a timer fired", "module", types.ModuleName, "id", id(r.TimerId), "runtime", runtime, "success", r.Success,
		"codespace", r.Codespace, "code", r.Code, "cycles", r.Cycles, "cells", r.Cells, "paid", r.Paid, "late", r.Late)
}

// id is written as hexadecimal, and only if its line is written at all.
type id []byte

func (i id) String() string { return hex.EncodeToString(i) }

package keeper

import (
	"context"
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// MigrateCalendar changes the calendar of a running chain from flat to tiered (x/timers/README.md, "2.4 Calendar"). It is
// called by the handler of an upgrade, before the transactions of a block. It is no error if the calendar is tiered
// already.
//
// It writes the config and one value more, however many timers are pending: those stay where they are until they fire or
// leave, and new ones are stored in the far tier. The chain behaves as if nothing had changed. There is no way back.
func (k *Keeper) MigrateCalendar(ctx context.Context) error {
	if err := k.engine.Records.Calendar().Begin(ctx); err != nil {
		return err
	}
	return k.engine.Configs.SetCalendar(ctx, types.CalendarTiered)
}

// checkCalendar: the calendar is the one that the config names.
func (k *Keeper) checkCalendar(ctx context.Context) error {
	config, err := k.Config(ctx)
	if err != nil {
		return err
	}
	tiered, err := k.engine.Records.Calendar().IsTiered(ctx)
	if err == nil && tiered != (config.Calendar == types.CalendarTiered) {
		err = fmt.Errorf("the config names calendar %s, and the far tier says that it is tiered: %t", config.Calendar, tiered)
	}
	return err
}

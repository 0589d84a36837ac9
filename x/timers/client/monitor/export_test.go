package monitor

import (
	"context"
	"io"
	"time"

	"github.com/cosmos/cosmos-sdk/client"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// OnScreen follows a chain as the command does on a terminal of the given size.
func OnScreen(ctx context.Context, clientCtx client.Context, out io.Writer, size func() (int, int), actor string) error {
	j := &job.Job{Context: clientCtx, Ctx: ctx, Notes: out}
	j.ReadKeyNames()
	w := &watcher{
		node: clientCtx.Client, query: types.NewQueryClient(clientCtx), notes: out, interval: time.Millisecond,
		board: board{
			chainID: clientCtx.ChainID, actor: actor, now: timespan.MachineOf(ctx).Now, keyName: j.KeyName,
			words: words.Writer{Codec: clientCtx.Codec, Who: j.Name},
		},
	}
	return w.onScreen(ctx, &screen{out: out, size: size})
}

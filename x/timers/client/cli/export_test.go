package cli

import (
	"context"
	"io"
	"time"

	"github.com/cosmos/cosmos-sdk/client"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// WatchOnScreen follows a chain as the watch command does on a terminal of the given size.
func WatchOnScreen(ctx context.Context, clientCtx client.Context, out io.Writer, size func() (int, int), actor string) error {
	w := &watcher{
		node: clientCtx.Client, query: types.NewQueryClient(clientCtx), notes: out, interval: time.Millisecond,
		board: board{chainID: clientCtx.ChainID, actor: actor},
	}
	return w.onScreen(ctx, &screen{out: out, size: size})
}

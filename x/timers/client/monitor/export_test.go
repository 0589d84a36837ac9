package monitor

import (
	"context"
	"io"
	"time"

	"github.com/cosmos/cosmos-sdk/client"

	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// OnScreen follows a chain as the command does on a terminal of the given size.
func OnScreen(ctx context.Context, clientCtx client.Context, out io.Writer, size func() (int, int), actor string) error {
	w := &watcher{
		node: clientCtx.Client, query: types.NewQueryClient(clientCtx), notes: out, interval: time.Millisecond,
		board: board{
			chainID: clientCtx.ChainID, actor: actor, keyName: func(string) string { return "" },
			words: words.Writer{Codec: clientCtx.Codec, Who: func(address string) string { return address }},
		},
	}
	return w.onScreen(ctx, &screen{out: out, size: size})
}

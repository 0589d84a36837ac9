package watch_test

import (
	"errors"
	"fmt"

	"cosmossdk.io/collections"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/testutil"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// A chain declares the store of its own module, which keeps a price by the name of a pair. What the module writes
// through the wrapped service leaves a note if it changes a watched key.
func Example() {
	keys := storetypes.NewKVStoreKeys("timers", "oracle")
	ctx := testutil.DefaultContextWithKeys(keys, nil, nil).WithBlockHeight(1)

	watcher := watch.New(keys["timers"])
	oracle := watcher.Service(runtime.NewKVStoreService(keys["oracle"]), watch.Store{
		Name: "oracle",
		Forms: []watch.Form{{
			Name: "price", Arguments: []string{"PAIR"}, Watches: "the price of a pair",
			Build: func(arguments []string) ([]byte, error) {
				if arguments[0] == "" {
					return nil, errors.New("the pair is empty")
				}
				return []byte("price/" + arguments[0]), nil
			},
		}},
	})

	// A timer that watches is scheduled. The timers' keeper then counts the watches of the key, and those of the store.
	key, err := watcher.Parse("oracle:price:ATOM-USD")
	if err != nil {
		panic(err)
	}
	sb := collections.NewSchemaBuilder(watch.Ungassed(keys["timers"]))
	counts := watch.NewCounts(codec.NewProtoCodec(nil), sb)
	if _, err := sb.Build(); err != nil {
		panic(err)
	}
	owner := sdk.AccAddress("owner_______________")
	timer := types.Timer{Actor: owner, Spec: types.TimerSpec{Trigger: types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{key}}}}}
	if err := watch.Count(ctx, counts, &timer, 1); err != nil {
		panic(err)
	}

	// A transaction writes two prices.
	store := oracle.OpenKVStore(ctx)
	for _, pair := range []string{"ATOM-USD", "OSMO-USD"} {
		if err := store.Set([]byte("price/"+pair), []byte("4.31")); err != nil {
			panic(err)
		}
	}

	// The end of the block takes what changed below the prefixes that the owner alone watches, once.
	for range 2 {
		changes, _, err := watcher.Take(ctx, owner, 100, 16)
		if err != nil {
			panic(err)
		}
		fmt.Println("watched keys that changed:", len(changes))
		for _, change := range changes {
			for _, key := range change.Keys {
				fmt.Printf("%s %s\n", change.Key.Store, key.Key)
			}
		}
	}
	// Output:
	// watched keys that changed: 1
	// oracle price/ATOM-USD
	// watched keys that changed: 0
}

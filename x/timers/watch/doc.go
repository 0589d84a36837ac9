// Package watch notes which watched state a block changes (x/timers/README.md, "1.10 Watch").
//
// A chain makes a store watchable when it wires the keeper that owns it: it wraps the store's service, and declares in
// which forms people name the store's keys. Bank, Staking and Wasm declare the stores of modules.
//
//	watcher := watch.New(keys["timers"])
//	service := watcher.Service(runtime.NewKVStoreService(keys["bank"]), watch.Bank(addresses))
//	bank := bankkeeper.NewBaseKeeper(cdc, service, …)
//
// The timers' keeper gets the same watcher by keeper.WithWatcher.
//
// # Types
//
//   - Watcher wraps services, reads the names of keys (Parse, Check), and knows what changed so far (Take).
//   - Store declares a store, and Form one way to name its keys.
//   - Changed is what Take returns.
//   - Counts is the part of the timers' state that a wrapped store reads.
//
// # How a write is noted
//
// A wrapped store does what the store beneath does, and consumes exactly the same gas. Watches must not change the
// cost of a write for its sender. A write that changes a watched key leaves a note in the timers' store, which is branched and
// dropped with the transaction that wrote. The end of the block removes the notes: none is left between blocks, unless the step
// failed as a whole, and then no change is lost. Nothing is kept in memory: a block may be run twice, and checks and
// queries run at the same time.
package watch

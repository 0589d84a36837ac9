// Package actors says who can own timers and how their handlers run (x/timers/README.md, "1.3 Actor").
//
// A Router asks the runtimes of the chain, in order, which of them serves an address. Three come with the module:
//
//   - ModuleRuntime serves Go modules. A handler is a function, registered while the chain is wired.
//   - WasmRuntime serves CosmWasm contracts. A handler is a message to the contract's sudo entry point; or the timer runs
//     messages as the contract.
//   - AccountRuntime serves all other accounts. The payload holds messages, which run in order and atomically.
//
// Modules and contracts are accounts too, so the account runtime comes last:
//
//	modules := actors.NewModuleRuntime()
//	messages := actors.NewMessages(cdc, app.MsgServiceRouter())
//	router := actors.NewRouter(
//		actors.NewWasmRuntime(contracts, view, creator, actors.WithMessages(messages)),
//		modules,
//		actors.NewAccountRuntime(cdc, accounts, app.MsgServiceRouter()),
//	)
//
// A chain may add a runtime of its own: it implements types.Runtime, and types.Quoter if its actors can be bidding
// agents.
//
// # What runs in a fire
//
// The engine calls Deliver on a branch of state, with a gas meter of the timer's own. A handler that returns an error,
// panics or runs out of gas leaves nothing behind, and the payer is charged for what it used (x/timers/README.md, "5.2
// Settlement"). No ante handler runs: there is no signature, no fee of a transaction and no sequence. The actor agreed
// when it scheduled.
package actors

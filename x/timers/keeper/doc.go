// Package keeper is what the app and other modules see of x/timers. A timer is a call that its owner, the actor,
// schedules for itself: an account, a contract or a Go module. It fires at the end of a block, and its payer is charged
// for each fire.
//
// # For Go modules
//
// The methods of Keeper are the host API. A module schedules calls of its own functions with it:
//
//   - Schedule makes a timer, Update changes its call, gas limit or bid, and Cancel removes it.
//   - Extend moves the height at which it expires. Pause and Resume put it on hold and put it back.
//   - SetAgent names who prices the actor's timers. TimersOf, AgentOf and Config read.
//
// Every check is made here, and the message server is thin over it. A call that fails may have written already: make it
// in a transaction or on a branch of state, and drop that with the error. Errors are those of package types; each method
// names them. The caller is trusted about the actor that it states, since it runs within the chain.
// x/timers/docs/extend/modules.md is a whole module that uses the host API.
//
// # For the app
//
// NewKeeper wires the module, and an Option replaces a part that has a safe default. The app registers runtimes of
// actors with package actors, and makes stores watchable with package watch. x/timers/docs/extend shows all of it.
//
// # Queries
//
// NewQueryServer answers the module's queries (x/timers/README.md, "9.2 gRPC and REST"). An app registers it as
// types.QueryServer; AppModule of package timers does so.
//
// Answers are as of the end of the block at the queried height. What a query says of the next block, it finds out by
// running the engine's own steps on a branch of state that is dropped. So it predicts what a block does, unless
// transactions change it:
//
//   - Estimate says what a timer would cost and how long it would wait if it were due now.
//   - Ready lists the ready timers in the order in which the next block tries them.
//   - Lane shows prices, budgets and the largest gas limit of the next block.
//
// Lists are read in pages of at most MaxPageEntries. Queries that contracts and modules may make follow from state
// alone, and their work is bounded.
//
// # Units
//
// Heights are block heights. Cycles are units of gas, cells are bytes that a fire writes. Amounts and prices are in the
// fee denom. Parameters are fields of types.TimerConfig, written as in x/timers/README.md, "7. Parameters".
//
// # Where the rest is
//
// Package engine fires timers, and package state stores them. The rules are stated in
// x/timers/README.md: "1. Concepts", "3. Messages", and "5. End Block".
package keeper

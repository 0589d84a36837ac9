// Package query answers the module's queries (x/timers/README.md, "9.2 gRPC and REST"). An app registers NewServer as
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
package query

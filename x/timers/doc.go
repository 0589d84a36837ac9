// Package timers is the Cosmos SDK module that gives a chain native timers. An account, a CosmWasm contract or a Go
// module schedules its own future execution: at a height, at an interval, or when watched state changes. README.md in
// this directory is the reference, and docs/extend/wiring.md shows how a chain adds the module.
//
// This package has what an app's module manager needs: AppModule, with the messages, queries, genesis, blockers and
// commands. ARCHITECTURE.md shows how the packages below it work together; from the outside in:
//
//   - keeper: the host API for Go modules, the message server and queries.
//   - genesis: import and export.
//   - engine: the end of a block. contest: the candidates of a block. policies: the rules by which they are ordered.
//   - actors: who can own timers. watch: stores that can be watched.
//   - fees: coins. triggers: when a timer is due. sandbox: what contains failures.
//   - state: the store.
//   - market, schedule, recurrence, logmap, decimal: rules without a store.
package timers

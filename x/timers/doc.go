// Package timers is the Cosmos SDK module that gives a chain native timers. An account, a CosmWasm contract or a Go
// module schedules its own future execution: at a height, at an interval, or when watched state changes. README.md in
// this directory is the reference, and docs/wiring.md shows how a chain adds the module.
//
// This package has what an app's module manager needs: AppModule, with the messages, queries, genesis, blockers and
// commands. The packages below it, from the outside in:
//
//   - keeper is the host API for Go modules, the message server and genesis. types has messages, records, the config
//     and errors.
//   - query answers queries. client/cli has the commands that AutoCLI can't make. testutil/lab runs a chain without a
//     node, for tests.
//   - actors says who can own timers. watch makes stores watchable, and watch/stores declares those of the SDK.
//   - engine fires timers. policies decides who fires first: a package a policy, bound to state,
//     and one of bidding agents.
//   - fees moves coins, triggers knows when a timer is due, sandbox contains failures.
//   - state stores all of it, and state/index the timers that compete under overload.
//   - lane, fairness, calendar, merge and policy hold the pure rules: they know nothing of the SDK.
package timers

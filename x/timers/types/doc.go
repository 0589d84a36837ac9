// Package types holds the module's messages, records, config, errors, and the interfaces that it expects of other
// modules.
//
// The messages are written in proto/timers/v1, from which most of this package is generated. Hand-written are their
// validation, and the types below.
//
//   - Trigger says when a timer becomes due, Bid what it is willing to pay, Retry and OnUnfunded what happens when a fire
//     fails or is not paid.
//
//   - TimerConfig holds all parameters; DefaultTimerConfig says why they have their values.
//
//   - Runtime serves one kind of actor: it runs a timer's handler. Quoter is a runtime whose actors can be bidding
//     agents. Router finds the runtime of an actor.
//
//   - BankKeeper, AccountKeeper and FeegrantKeeper are what the module uses of other modules. BasefeeSource and
//     TipCollector are what a chain may plug in.
//
//   - Addresses, ParseID and CheckName read how people name accounts and timers. UnwrapPayload reads the payload convention,
//     and ScanPayload counts what an account's payload holds.
//
//   - Check and CheckText refuse numbers and texts out of bounds, with what would be right. Mask names fields of a message by
//     their paths, so that a change of the config states those alone.
//
// x/timers/README.md states the rules.
package types

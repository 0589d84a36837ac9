// Package fifo holds the rules of policy fifo: timers fire in the order in which they became due, and at one height
// in the order of insertion. No bid, tip, gas limit or weight buys a place, so that no timer can be overtaken while
// it waits.
//
// A fire pays the chain's basefees only. Bids are kept in the timer's record, for a later policy, but not used.
//
// The queue of timers is stored in this order, so that the policy needs no index: a block reads the queue from its
// head, and stops where the lane is full. How long a timer waits depends on the backlog alone. That is also the
// weakness of the policy: an owner of many timers delays all others, and a timer that can't wait can't pay for it
// (x/timers/docs/policies.md).
package fifo

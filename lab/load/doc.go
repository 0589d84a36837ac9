// Package load drives running nodes: it keeps a number of timers pending, lets the same number of coin transfers run for
// comparison, and reports what blocks, memory and disk made of it. It is bounded in count and time, ends in good order when
// interrupted, and talks to loopback addresses unless told otherwise: it spends the coins of the key that it is given.
package load

// Package condition holds the conditions of watches: what they say of a value, and which of them a change of the value
// makes true (x/timers/README.md, "1.10 Watch").
//
// # Types
//
//   - Value is the value of a key as conditions read it.
//   - Op is how a condition compares, Parse makes its place.
//   - A place is a condition in order-preserving form. Holds evaluates it.
//   - Range is a range of places. Crossed returns those that a change makes true.
//
// # The order of conditions
//
// The conditions of a key are ordered by places. A place begins with the number of its list:
//
//	exists, absent:      the list alone
//	equal:               the value that it compares with
//	below (<, <=):       the value, and where the condition cuts: 0 just below the value (<), 1 just above it (<=)
//	above (>, >=):       the value, and where the condition cuts: 1 just above the value (>), 0 just below it (>=)
//
// A value v is between its own two cuts. So a condition of the list below is true if its cut is above v. When the value
// falls from a to b, the conditions that become true are those with a cut from just above b to just below a: one range of
// places, whose ends follow from a and b alone. The list above is the mirror image. There are lists for numbers and for
// bytes.
//
// Invariant: no encoded value is the beginning of another one. So places can be followed by the number of a timer, and
// keep their order.
package condition

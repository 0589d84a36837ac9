// Package campaign tests the whole application in memory by long random histories: one seed draws a list of operations,
// of every message and kind of timer, every policy, governance, hostile contracts, interchain accounts, failing neighbours,
// restarts, and exports that are imported again. Every block runs on two applications of different settings, and is held to
// what is true of every history. A list that fails is shrunk to the operations that it takes (x/timers/docs/extend/proof.md).
package campaign

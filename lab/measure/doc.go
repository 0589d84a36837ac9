// Package measure compares two ways to measure how full the lane is: by the sizes of its fires, as the module does, and
// by the sum of their cycles or of their cells, whichever is the larger share. Its test runs both on seeded workloads
// with the rules of policy eip1559 and prints testdata/table.txt; docs/use/market.md says what follows.
package measure

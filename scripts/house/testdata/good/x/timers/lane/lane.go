// Package lane is a budget.
//
// It stands for the pure packages:
// of its eight lines, five are comments.
package lane

// Budget of cycles.
type Budget uint64

// Package trace replays traces of the model in spec/timers.qnt on a chain of the lab: each step of a trace is a message
// or the end of a block, and after each the chain must be in the state that the model says. The traces in testdata were
// written by `make model-traces`; the test reads them and needs no other tool.
package trace

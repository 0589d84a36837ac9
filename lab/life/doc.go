// Package life checks what a chain says of its timers against the model in spec/timers.qnt: each event must be a step
// that the model's timer may take, with the numbers that follow from the timer's terms. It is the model's rules of a
// single life written down once more, and holds for blocks of real nodes as well as for runs of the model.
//
// It knows one-shots, intervals, watches, times, calendars of equal distances, retries, occurrences, guards, skips, and
// holds. It does not know which of the ready timers fires first: package wait bounds that.
package life

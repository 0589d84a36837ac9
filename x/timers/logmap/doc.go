// Package logmap is an ordered map for stores in which a write to a random key is dear and a write next to another one
// is cheap, such as a Merkle tree. Changes are appended to logs and merged in bulk into sorted chunks, as in a
// log-structured merge tree (x/timers/README.md, "2.3 Log-structured maps").
//
// # Layout
//
// The map is divided into ranges by Options.Range. What all ranges share is the front. It has:
//
//   - A log: messages in the order in which they arrived, in chunks of LogBytes. A change appends to the last of them.
//   - Levels 1, 2, …, of runs. A run is sorted by key and divided into chunks of ChunkBytes. A full log becomes a run of
//     level 1. When a level has Runs runs they move down, a slice of their keys at a time: they become one run of the
//     next level, or, if it is the last and they have Split chunks, one run of level 1 in each range.
//
// Each range has levels of its own, whose runs move down in the same way, and:
//
//   - The bottom, level 0: one run, which is written again with the lowest level while it is at most Ratio times larger. What
//     arrives goes there at once if no level lies between.
//
// So what a block changes is written next to each other, whatever its keys are, and a range is touched only when much moves
// there at once.
//
// A directory for each level lists its runs. The chunks of a run are named with their first key, and with the number of entries
// that each stands for: by the directory itself as long as they are few, and by pages of PageRefs chunks, pages of as many pages,
// and so on. Chunks are added at the end of a run, and so pages are, which are written once. They are removed from its beginning:
// then the level, or in a queue the head, says up to which key.
//
// A message inserts, replaces or deletes an entry. The newest message about a key is valid: the log is newer than level
// 1, level 1 newer than level 2, the front newer than the ranges, and the bottom the oldest. A message that deletes meets
// the one that inserted in a merge, and both vanish; at the bottom there are entries alone.
//
// # Cost
//
// All changes and merges are in state: nothing is remembered between calls, and what a transaction changed vanishes with
// it. With n entries in a range:
//
//   - Insert, Delete and Apply read two values and write one. Each time that LogBytes are full they write one more. Apply
//     does so once for many changes.
//   - Get, and Count of adjacent keys, read at most 2·MergeLogs chunks of the log, and a directory and for each run at
//     most two chunks of the levels, of which there are log(n), and the pages that name them.
//     A Reader reads the chunks of the log, the directories and the chunks once for all its lookups and pages.
//   - Page reads that, and the chunks that hold what it returns.
//   - Maintain merges the log and moves runs down, in the front and in a bounded number of ranges, in each level by a bounded
//     number of chunks. It has nothing to do until the log has MergeLogs full chunks. A queue moves runs only when its log
//     becomes one, by as much as comes in.
//   - If changes arrive faster than Maintain merges, a change that finds 2·MergeLogs full chunks merges the log itself, and
//     moves down the runs of levels that have twice as many as begin to. So reads stay bounded, whatever one block changes.
//
// Chunks divide the keys by their number, not by their values. So keys that somebody chose to be close to each other
// make more chunks, not longer ones.
package logmap

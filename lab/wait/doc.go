// Package wait is the lemma on waiting, as functions: for how many blocks a funded timer waits at most, under each
// policy, as a function of the actors, the timers before it, the size of the lane and the largest timer.
// x/timers/docs/extend/proof.md states it with its conditions and proofs. The tests hold the module's own rules to it under
// hostile workloads, show workloads that reach it, and where no bound exists, how the wait grows with what an
// attacker spends.
package wait

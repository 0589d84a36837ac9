package triggers

// share divides the work of a block, a budget, among n parties (x/timers/README.md, "1.10 Watch"). They take turns in their order: each gets an equal share before any gets more.
// serve works for a party within a limit, at least 1. It reports how much it used, from 1 on, and whether the party has
// nothing left. What it does last may exceed the limit.
//
// It returns the party whose turn is next, or n if no party has anything left.
func share(n, budget int, serve func(party, limit int) (used int, done bool, err error)) (next int, err error) {
	open := make([]int, n)
	for i := range open {
		open[i] = i
	}
	for len(open) > 0 {
		limit := max(1, budget/len(open))
		unfinished := make([]int, 0, len(open))
		for at, party := range open {
			if budget <= 0 {
				return party, nil
			}
			used, done, err := serve(party, min(limit, budget))
			if err != nil {
				return party, err
			}
			budget -= used
			if !done {
				unfinished = append(unfinished, party)
			}
			if last := at == len(open)-1; last && budget <= 0 && len(unfinished) > 0 {
				return unfinished[0], nil
			}
		}
		open = unfinished
	}
	return n, nil
}

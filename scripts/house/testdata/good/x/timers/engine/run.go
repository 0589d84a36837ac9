package engine

// Run runs all steps.
func Run(ready []uint64) (int, error) {
	b := &block{ready: ready}
	for _, one := range steps {
		if err := one(b); err != nil {
			return 0, err
		}
	}
	return len(b.done), nil
}

package schedule

import "fmt"

// within refuses a value outside bounds.
func within[T Instant](name string, value, lowest, highest T) error {
	if value < lowest || value > highest {
		return fmt.Errorf("%s is %d: want %d to %d", name, value, lowest, highest)
	}
	return nil
}

// withinSet refuses a set that is empty or has a bit above or below those that have a meaning.
func withinSet(name string, set, all uint64, want string) error {
	switch {
	case set == 0:
		return fmt.Errorf("%s are an empty set: want %s, all of them for no restriction", name, want)
	case set&^all != 0:
		return fmt.Errorf("%s are the bits %#x, and %#x of them mean nothing: want %s", name, set, set&^all, want)
	}
	return nil
}

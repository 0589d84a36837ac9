package engine

// step is one of the steps of a block.
type step func(b *block) error

// fire fires what is ready.
func fire(b *block) error {
	b.done, b.ready = b.ready, nil
	b.log = append(b.log, "fired"...)
	return nil
}

// steps in their order.
var steps = []step{fire}

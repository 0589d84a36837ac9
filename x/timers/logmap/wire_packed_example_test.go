package logmap_test

import (
	"encoding/binary"
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/logmap"
)

// A list of two words, each behind its length.
func ExampleUnpacker() {
	bz := binary.AppendUvarint(nil, 2)
	for _, word := range []string{"lane", "tip"} {
		bz = append(binary.AppendUvarint(bz, uint64(len(word))), word...)
	}
	r := logmap.NewUnpacker(bz)
	for range r.Len() {
		fmt.Printf("%s\n", r.Bytes(r.Uvarint()))
	}
	fmt.Println(r.More(), r.Failed())
	cut := logmap.NewUnpacker(bz[:3])
	cut.Len()
	cut.Bytes(cut.Uvarint())
	fmt.Println(cut.Failed())
	// Output:
	// lane
	// tip
	// false false
	// true
}

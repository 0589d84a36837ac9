package actors

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVerdictsAreBounded(t *testing.T) {
	const limit = 100 * verdictBytes
	c := newVerdicts(limit)
	for i := range 10_000 {
		payload := fmt.Appendf(nil, "payload %d", i)
		c.put(payload, verdict{weight: uint64(i)})
		known, found := c.of(payload)
		require.True(t, found)
		require.Equal(t, uint64(i), known.weight)
		require.LessOrEqual(t, len(c.young)+len(c.old), 200)
		require.LessOrEqual(t, c.size, limit)
		_, found = c.of([]byte("payload 0"))
		require.True(t, found, "what is asked for stays")
	}
	_, found := c.of([]byte("payload 1"))
	require.False(t, found, "what nobody asks for is forgotten")
}

func TestVerdictsAreSafeForUseAtOnce(t *testing.T) {
	c := newVerdicts(50 * verdictBytes)
	var users sync.WaitGroup
	for range 4 {
		users.Add(1)
		go func() {
			defer users.Done()
			for i := range 2_000 {
				payload := fmt.Appendf(nil, "payload %d", i%100)
				if known, found := c.of(payload); found && known.weight != uint64(i%100) {
					panic("another payload's verdict")
				}
				c.put(payload, verdict{weight: uint64(i % 100)})
			}
		}()
	}
	users.Wait()
}

package draft

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Of many numbers, the one that is named is one that must be text; none is if the rest is wrong too.
func TestTheNumberThatMustBeTextIsNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "fields")
		text := make([]bool, n)
		fields := map[string]any{}
		for i := range n {
			text[i] = rapid.Bool().Draw(t, "text")
			fields[fmt.Sprintf("f%02d", i)] = i
		}
		// A decoder that takes text everywhere, and numbers in some fields alone.
		decodes := func(raw []byte) bool {
			var read map[string]any
			require.NoError(t, json.Unmarshal(raw, &read))
			for i := range n {
				if _, isText := read[fmt.Sprintf("f%02d", i)].(string); text[i] && !isText {
					return false
				}
			}
			return true
		}
		raw, err := json.Marshal(fields)
		require.NoError(t, err)
		want := ""
		for i := range n {
			if text[i] {
				want = fmt.Sprintf(`f%02d is the number %d: write it as text, "%d"`, i, i, i)
				break
			}
		}
		require.Equal(t, want, numberForText(raw, decodes))
		require.Empty(t, numberForText(raw, func([]byte) bool { return false }))
	})
	require.Empty(t, numberForText([]byte("{"), nil))
}

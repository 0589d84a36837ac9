package system

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDemo_Ends: what `make demo` runs ends with 0 and shows each way in which a timer leaves, with shorter pauses after blocks.
func TestDemo_Ends(t *testing.T) {
	t.Parallel()
	demo := filepath.Join(t.TempDir(), "demo")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", demo, "../demo").CombinedOutput()
	require.NoError(t, err, string(out))
	out, err = exec.CommandContext(testContext(t), demo, "-timerd", binary, "-pause", "200ms").CombinedOutput()
	text := string(out)
	require.NoError(t, err, text)
	for _, row := range []string{
		`one payment +alice .* fired `, `three messages +alice .* fired `, `more than she has +alice .* fired, failed \(sdk/5\) `,
		`payer too poor +poor .* unfunded `, `bob's second, too late +bob .* expired `, `three times +alice .* fired \(3 times\) `,
		`called off +alice .* cancelled `, `tops up carol +alice .* fired \(watched\) `, `planted by a timer +alice .* fired `,
	} {
		require.Regexp(t, `(?m)^  `+row, text)
	}
	require.Regexp(t, `alice stopped the contract: timer [0-9a-f]+ cancelled; ([2-9]|\d\d+) beats cost it \d+ utmr`, text)
}

package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDeliveries_EmptyIsAList: a query that finds nothing says so, and prints an empty list.
func TestDeliveries_EmptyIsAList(t *testing.T) {
	r := newRig(t)
	for list, line := range map[string][]string{
		"receipts":   {"receipts", "1"},
		"deliveries": {"deliveries", "alice"},
	} {
		out, notes, err := r.Run(append([]string{"query", "timers", "--output", "json"}, line...)...)
		require.NoError(t, err)
		require.Contains(t, out, `"`+list+`":[]`)
		require.Contains(t, notes, "no "+list+": nothing fired")
	}
}

// TestDeliveries_OfOneTimer: it is named as in every command, or by --id; a name names one that lives.
func TestDeliveries_OfOneTimer(t *testing.T) {
	r := newRig(t)
	id, _ := r.Schedule(r.Chain.Height()+2, 5), r.Schedule(r.Chain.Height()+2, 6)
	r.Blocks(3)
	for want, line := range map[int][][]string{
		2: {{"alice"}},
		1: {{"alice/" + id[:8]}, {r.Alice + "/" + id}, {"alice", "--id", id[:8]}, {"alice", "--page-limit", "1"}},
	} {
		for _, words := range line {
			out, _, err := r.Run(append([]string{"query", "timers", "deliveries", "--output", "json"}, words...)...)
			require.NoError(t, err, words)
			var listed struct {
				Deliveries []struct {
					ID string `json:"timer_id"`
				}
			}
			require.NoError(t, json.Unmarshal([]byte(out), &listed), out)
			require.Len(t, listed.Deliveries, want, words)
		}
	}
	_, _, err := r.Run("query", "timers", "deliveries", "alice/3f", "--id", "3f")
	require.ErrorContains(t, err, "both name a timer")
	_, _, err = r.Run("query", "timers", "deliveries", "alice/rent")
	require.ErrorContains(t, err, "no live timer")
	_, _, err = r.Run("query", "timers", "receipts", "none")
	require.ErrorContains(t, err, `"none" is no height`)
}

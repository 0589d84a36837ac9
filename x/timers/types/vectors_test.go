package types_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// hexBytes are bytes that a vector writes in hexadecimal.
type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

// readVectors reads a file that scripts/vectors.py wrote.
func readVectors[T any](t *testing.T, name string) []T {
	t.Helper()
	file, err := os.ReadFile("../testdata/vectors/" + name)
	require.NoError(t, err)
	var vectors []T
	require.NoError(t, json.Unmarshal(file, &vectors))
	require.NotEmpty(t, vectors)
	return vectors
}

// Rule: 1.2-id
func TestTimerIDAgreesWithTheVectors(t *testing.T) {
	for _, v := range readVectors[struct {
		Name           string
		Actor, Payload hexBytes
		Height, Nonce  uint64
		ID             hexBytes
	}](t, "ids.json") {
		t.Run(v.Name, func(t *testing.T) {
			require.Equal(t, []byte(v.ID), types.TimerID(v.Actor, v.Height, v.Payload, v.Nonce))
		})
	}
}

// Rule: 1.12-deliver-id
func TestDeliverIDAgreesWithTheVectors(t *testing.T) {
	for _, v := range readVectors[struct {
		Name          string
		Height        uint64
		ParentAppHash hexBytes `json:"parent_app_hash"`
		TimerID       hexBytes `json:"timer_id"`
		FireSeq       uint32   `json:"fire_seq"`
		DeliverID     hexBytes `json:"deliver_id"`
	}](t, "deliver_ids.json") {
		t.Run(v.Name, func(t *testing.T) {
			require.Equal(t, []byte(v.DeliverID), types.DeliverID(v.Height, v.ParentAppHash, v.TimerID, v.FireSeq))
		})
	}
}

// TestIDsDifferInEveryPart: whatever part of what an id is made of differs, the id does. That two timers of a chain never
// share an id rests on the nonce, which no two share.
func TestIDsDifferInEveryPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(rapid.Byte(), 0, 80)
		actor, payload := rapid.SliceOfN(rapid.Byte(), 1, 64).Draw(t, "actor"), some.Draw(t, "payload")
		height, nonce := rapid.Uint64().Draw(t, "height"), rapid.Uint64().Draw(t, "nonce")
		id := types.TimerID(actor, height, payload, nonce)
		require.Len(t, id, types.IDBytes)

		otherNonce := rapid.Uint64().Filter(func(n uint64) bool { return n != nonce }).Draw(t, "other nonce")
		require.NotEqual(t, id, types.TimerID(some.Draw(t, "other actor"), rapid.Uint64().Draw(t, "other height"),
			some.Draw(t, "other payload"), otherNonce))
		require.NotEqual(t, id, types.TimerID(actor, height+1, payload, nonce))
		require.NotEqual(t, id, types.TimerID(actor, height, append(payload[:len(payload):len(payload)], 0), nonce))

		parent, fire := some.Draw(t, "parent"), rapid.Uint32().Draw(t, "fire")
		delivery := types.DeliverID(height, parent, id, fire)
		require.Len(t, delivery, types.IDBytes)
		require.NotEqual(t, delivery, types.DeliverID(height, parent, id, fire+1))
		require.NotEqual(t, delivery, types.DeliverID(height+1, parent, id, fire))
	})
}

func BenchmarkTimerID(b *testing.B) {
	actor := make([]byte, 20)
	for name, size := range map[string]int{"payload=0": 0, "payload=512": 512, "payload=64KiB": 64 << 10} {
		payload := make([]byte, size)
		b.Run(name, func(b *testing.B) {
			for range b.N {
				types.TimerID(actor, 1, payload, 1)
			}
		})
	}
}

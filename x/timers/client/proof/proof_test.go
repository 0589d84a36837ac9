package proof_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/client/proof"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// vectors are those that package prove writes, of a chain of the lab.
type vectors struct {
	Headers []json.RawMessage
	Blocks  []struct {
		Height   proof.Number
		Receipts [][]byte
	}
	Cases []struct {
		Name     string
		Header   int
		Error    string
		Absent   bool
		Position proof.Number
		Proof    string
	}
}

func readVectors(tb testing.TB) (v vectors, headers []proof.Header) {
	tb.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	require.NoError(tb, err)
	require.NoError(tb, json.Unmarshal(text, &v))
	for _, text := range v.Headers {
		header, err := proof.ParseHeader(text)
		if err != nil {
			// One that is too short is as a program may pass it.
			var raw struct {
				ChainID string       `json:"chain_id"`
				Height  proof.Number `json:"height"`
				AppHash string       `json:"app_hash"`
			}
			require.NoError(tb, json.Unmarshal(text, &raw))
			hash, err := hex.DecodeString(raw.AppHash)
			require.NoError(tb, err)
			header = proof.Header{ChainID: raw.ChainID, Height: uint64(raw.Height), AppHash: hash}
		}
		headers = append(headers, header)
	}
	return v, headers
}

// isTrue tells whether the chain of the vectors bears a fact out.
func (v *vectors) isTrue(f *proof.Fact) bool {
	for _, block := range v.Blocks {
		if uint64(block.Height) != f.Height {
			continue
		}
		if !f.Absent {
			return f.Position < uint64(len(block.Receipts)) && bytes.Equal(block.Receipts[f.Position], f.Receipt)
		}
		for _, raw := range block.Receipts {
			var receipt types.Receipt
			if receipt.Unmarshal(raw) != nil || bytes.Equal(receipt.TimerId, f.TimerID) {
				return false
			}
		}
		return true
	}
	return false
}

// A proof shows what is true, and a changed one shows nothing and says why.
//
// Rule: 1.12-receipts-provable, 1.12-absence-provable
func TestVerify_Vectors(t *testing.T) {
	v, headers := readVectors(t)
	good := 0
	for _, c := range v.Cases {
		t.Run(c.Name, func(t *testing.T) {
			fact, err := proof.Verify(headers[c.Header], []byte(c.Proof))
			if c.Error != "" {
				require.ErrorContains(t, err, c.Error)
				require.Nil(t, fact)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.Absent, fact.Absent)
			require.Equal(t, uint64(c.Position), fact.Position)
			require.True(t, v.isTrue(fact))
			good++
		})
	}
	require.Equal(t, 7, good)
	require.Greater(t, len(v.Cases), 90)
}

// Whatever byte of a proof is changed, nothing untrue is shown.
func TestVerify_ChangedBytes(t *testing.T) {
	v, headers := readVectors(t)
	shown := 0
	for _, c := range v.Cases {
		if c.Error != "" {
			continue
		}
		for i := 0; i < len(c.Proof); i += 1 + len(c.Proof)/500 {
			for _, mask := range []byte{1, 2, 4, 16} {
				changed := []byte(c.Proof)
				changed[i] ^= mask
				if fact, err := proof.Verify(headers[c.Header], changed); err == nil {
					require.True(t, v.isTrue(fact), "byte %d: %+v", i, fact)
					shown++
				}
			}
		}
	}
	t.Logf("%d changed proofs show something: absence of another timer or at another height", shown)
}

// The file is as it was written, so that who keeps it can compare it.
func TestParse_WritesWhatItRead(t *testing.T) {
	v, _ := readVectors(t)
	for _, c := range v.Cases {
		file, err := proof.Parse([]byte(c.Proof))
		if err != nil || !strings.HasPrefix(c.Proof, "{\n") || strings.HasSuffix(c.Proof, " ") {
			continue
		}
		text, err := file.Text()
		require.NoError(t, err)
		require.Equal(t, c.Proof, string(text))
	}
}

// The numbers that the package states are those of the module.
func TestKeys_ThoseOfTheModule(t *testing.T) {
	require.Equal(t, types.StoreKey, proof.StoreName)
	require.Equal(t, types.IDBytes, proof.IDBytes)
	require.Equal(t, types.PrefixLane.Bytes(), proof.LaneKey())
	require.Equal(t, types.PrefixReceipts.Bytes(), proof.ReceiptsKey(0, 0)[:1])
	lane := types.LaneState{Cycles: 1, ReceiptsFrom: 300, ReceiptsUnkept: 1 << 40}
	text, err := lane.Marshal()
	require.NoError(t, err)
	from, unkept, err := proof.Watermark(text)
	require.NoError(t, err)
	require.Equal(t, []uint64{300, 1 << 40}, []uint64{from, unkept})
}

// fieldRow is a row of the table of fields in docs/use/proofs.md.
var fieldRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\|")

// The document lists the fields of the file, in their order.
func TestFile_AsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/use/proofs.md")
	require.NoError(t, err)
	var listed, fields []string
	for _, row := range fieldRow.FindAllSubmatch(page, -1) {
		listed = append(listed, string(row[1]))
	}
	for i := range reflect.TypeOf(proof.File{}).NumField() {
		name, _, _ := strings.Cut(reflect.TypeOf(proof.File{}).Field(i).Tag.Get("json"), ",")
		fields = append(fields, name)
	}
	require.Equal(t, fields, listed)
}

// Who verifies compiles neither the SDK nor a node.
func TestVerify_ImportsLittle(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	for _, path := range strings.Fields(string(out)) {
		require.NotRegexp(t, `^(cosmossdk\.io|github\.com/cosmos/cosmos-sdk|github\.com/cometbft|google\.golang\.org/grpc)`, path)
	}
}

func TestParseHeader_AsNodesAnswer(t *testing.T) {
	const hash = "AB00000000000000000000000000000000000000000000000000000000000001"
	const header = `{"version":{"block":"11"},"chain_id":"lab","height":"12","app_hash":"` + hash + `"}`
	want, err := hex.DecodeString(hash)
	require.NoError(t, err)
	for _, text := range []string{
		header, `{"header":` + header + `}`, `{"jsonrpc":"2.0","result":{"header":` + header + `}}`, `{"signed_header":{"header":` + header + `}}`,
		`{"result":{"signed_header":{"header":` + header + `,"commit":{}},"canonical":true}}`, `{"result":{"block_id":{},"block":{"header":` + header + `}}}`,
		strings.Replace(strings.ToLower(header), `"12"`, `12`, 1),
	} {
		got, err := proof.ParseHeader([]byte(text))
		require.NoError(t, err)
		require.Equal(t, proof.Header{ChainID: "lab", Height: 12, AppHash: want}, got)
	}
	for text, want := range map[string]string{
		"":                                      "the header is no JSON object",
		"[]":                                    "the header is no JSON object",
		"{}":                                    "lacks chain_id, height or app_hash",
		`{"result":{}}`:                         "lacks chain_id, height or app_hash",
		`{"result":{"header":null}}`:            "lacks chain_id, height or app_hash",
		`{"result":{"error":"x","header":"y"}}`: "the header is not as a node answers it",
		strings.Replace(header, `"12"`, `"x"`, 1):  `the header's height is "x"`,
		strings.Replace(header, `"12"`, `-1`, 1):   `the header's height is -1`,
		strings.Replace(header, hash, "AB", 1):     `the header's app_hash is "AB": want 64 hexadecimal digits`,
		strings.Replace(header, hash, "", 1):       "lacks chain_id, height or app_hash",
		strings.Repeat(" ", 1<<20) + header:        "want at most 1048576",
		strings.Replace(header, `"lab"`, `7`, 1):   "the header is not as a node answers it",
		strings.Replace(header, hash, hash+"0", 1): "want 64 hexadecimal digits",
	} {
		_, err := proof.ParseHeader([]byte(text))
		require.ErrorContains(t, err, want)
	}
}

// Whatever is passed as a proof, and whatever as a header: nothing panics, and what is shown is true.
func FuzzVerify(f *testing.F) {
	v, headers := readVectors(f)
	for _, c := range v.Cases {
		if len(c.Proof) < proof.MaxDeliveryBytes {
			f.Add([]byte(c.Proof), []byte(v.Headers[c.Header]))
		}
	}
	f.Fuzz(func(t *testing.T, text, header []byte) {
		for _, trusted := range headers {
			if fact, err := proof.Verify(trusted, text); err == nil {
				require.True(t, v.isTrue(fact), "%+v", fact)
			}
		}
		if parsed, err := proof.ParseHeader(header); err == nil {
			require.Len(t, parsed.AppHash, 32)
		}
	})
}

// FuzzMembers changes what is within a proof: the bytes of ICS-23 beneath the text.
func FuzzMembers(f *testing.F) {
	v, headers := readVectors(f)
	for _, c := range v.Cases {
		if file, err := proof.Parse([]byte(c.Proof)); err == nil {
			var first []byte
			if len(file.Receipts) > 0 {
				first = file.Receipts[0]
			}
			f.Add(uint64(file.Height), file.Position == nil, []byte(file.TimerID), file.Store, first, file.End, file.Lane)
		}
	}
	f.Fuzz(func(t *testing.T, height uint64, absent bool, id, store, receipts, end, lane []byte) {
		position := proof.Number(height % 3)
		file := &proof.File{
			Version: proof.Version, Proves: proof.Delivery, ChainID: headers[0].ChainID, HeaderHeight: proof.Number(headers[0].Height),
			TimerID: id, Height: proof.Number(height), Position: &position, Store: store, Receipts: [][]byte{receipts},
		}
		if absent {
			file.Proves, file.Position, file.End, file.Lane = proof.Absence, nil, end, lane
			if len(receipts) == 0 {
				file.Receipts = nil
			}
		}
		text, err := file.Text()
		require.NoError(t, err)
		if fact, err := proof.Verify(headers[0], text); err == nil {
			require.True(t, v.isTrue(fact), "%+v", fact)
		}
	})
}

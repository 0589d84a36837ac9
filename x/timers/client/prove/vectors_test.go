package prove_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	ics23 "github.com/cosmos/ics23/go"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/client/proof"
	"github.com/cosmos-timers/timers/x/timers/client/prove"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var update = flag.Bool("proofs.update", false, "write the vectors of proofs, of a new chain")

const vectorsFile = "../proof/testdata/vectors.json"

// vectors are proofs, good and changed ones, with the headers that they are verified under. The TypeScript client reads them too.
type vectors struct {
	Headers []header `json:"headers"`
	// Blocks are all receipts of the heights that the proofs are about, as the chain stored them.
	Blocks []block  `json:"blocks"`
	Cases  []vector `json:"cases"`
}

type header struct {
	ChainID string       `json:"chain_id"`
	Height  proof.Number `json:"height"`
	AppHash string       `json:"app_hash"`
}

type block struct {
	Height   proof.Number `json:"height"`
	Receipts [][]byte     `json:"receipts"`
}

type vector struct {
	Name string `json:"name"`
	// Header is the index of the one that is trusted.
	Header int `json:"header"`
	// Error is a part of the reason why the proof shows nothing, empty if it shows something.
	Error string `json:"error,omitempty"`
	// Absent and Position are what it shows.
	Absent   bool         `json:"absent,omitempty"`
	Position proof.Number `json:"position,omitempty"`
	Proof    string       `json:"proof"`
}

// maker makes vectors.
type maker struct {
	*rig
	vectors vectors
}

// trust enters a header, and returns its index.
func (m *maker) trust(h proof.Header) int {
	m.vectors.Headers = append(m.vectors.Headers, header{h.ChainID, proof.Number(h.Height), strings.ToUpper(hex.EncodeToString(h.AppHash))})
	return len(m.vectors.Headers) - 1
}

func (m *maker) delivery(id []byte, height uint64) *proof.File {
	return m.file(prove.Delivery, id, height)
}

func (m *maker) absence(id []byte, height uint64) *proof.File {
	return m.file(prove.Absence, id, height)
}

func (m *maker) file(write func(context.Context, prove.Node, []byte, uint64) ([]byte, error), id []byte, height uint64) *proof.File {
	text, err := write(m.ctx, m.Node, id, height)
	require.NoError(m.T, err)
	file, err := proof.Parse(text)
	require.NoError(m.T, err)
	return file
}

func (m *maker) text(file *proof.File) string {
	text, err := file.Text()
	require.NoError(m.T, err)
	return string(text)
}

// bad enters a proof that shows nothing: a copy of a good one that change makes another.
func (m *maker) bad(name string, header int, good *proof.File, want string, change func(f *proof.File)) {
	f := *good
	f.Receipts = slices.Clone(good.Receipts)
	if good.Position != nil {
		at := *good.Position
		f.Position = &at
	}
	change(&f)
	m.vectors.Cases = append(m.vectors.Cases, vector{Name: name, Header: header, Error: want, Proof: m.text(&f)})
}

// badText enters a text that shows nothing.
func (m *maker) badText(name string, header int, text, want string) {
	m.vectors.Cases = append(m.vectors.Cases, vector{Name: name, Header: header, Error: want, Proof: text})
}

// edited is a proof of ICS-23 after an edit.
func (m *maker) edited(raw []byte, edit func(p *ics23.CommitmentProof)) []byte {
	var p ics23.CommitmentProof
	require.NoError(m.T, p.Unmarshal(raw))
	edit(&p)
	out, err := p.Marshal()
	require.NoError(m.T, err)
	return out
}

// storeProof is a node's proof of a key, and of its store, under the header of height+1.
func (m *maker) storeProof(store string, key []byte, height uint64) (leaf, root []byte) {
	answer, err := m.Chain.Prove("/"+store+"/key", key, int64(height))
	require.NoError(m.T, err)
	return answer.ProofOps.Ops[0].Data, answer.ProofOps.Ops[1].Data
}

// TestVectors_Written writes the vectors of package proof with -proofs.update. What they say is tested there.
func TestVectors_Written(t *testing.T) {
	if !*update {
		t.Skip("the vectors are written with -proofs.update")
	}
	m := &maker{rig: newRig(t)}
	m.good()
	m.lost()
	text, err := json.MarshalIndent(&m.vectors, "", " ")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll("../proof/testdata", 0o755))
	require.NoError(t, os.WriteFile(vectorsFile, append(text, '\n'), 0o600))
}

// good enters proofs that hold, and changes of them.
func (m *maker) good() {
	ids, height := m.fires(3)
	var two []types.Receipt
	for n := range 66 {
		two = append(two, types.Receipt{TimerId: bytes.Repeat([]byte{byte(n + 1)}, 32), Paid: math.NewInt(int64(n)), Tip: math.ZeroInt()})
	}
	twoHeight := m.put(two)
	m.Blocks(1)
	early := m.absence(bytes.Repeat([]byte{200}, 32), height)
	m.Schedule(height+1000, 1) // A block that writes nothing leaves the application hash as it is.
	m.Blocks(2)
	other := bytes.Repeat([]byte{200}, 32)
	for at := uint64(1); at < m.Chain.Height(); at++ {
		m.vectors.Blocks = append(m.vectors.Blocks, block{proof.Number(at), m.truth(at)})
	}

	one, far := m.delivery(ids[1], height), m.delivery(two[65].TimerId, twoHeight)
	absent, absentTwo, empty := m.absence(other, height), m.absence(other, twoHeight), m.absence(ids[1], height-1)
	trusted := m.header(uint64(one.HeaderHeight))
	h := m.trust(trusted)
	for name, file := range map[string]*proof.File{
		"a delivery": one, "a delivery in the second value": far, "absence among receipts": absent, "absence among two values": absentTwo,
		"absence in a block without receipts": empty, "absence in the last block": m.absence(ids[1], height+2),
	} {
		require.Equal(m.T, one.HeaderHeight, file.HeaderHeight)
		v := vector{Name: name, Header: h, Absent: file.Proves == proof.Absence, Proof: m.text(file)}
		if file.Position != nil {
			v.Position = *file.Position
		}
		m.vectors.Cases = append(m.vectors.Cases, v)
	}
	slices.SortFunc(m.vectors.Cases, func(a, b vector) int { return strings.Compare(a.Name, b.Name) })
	compact, err := json.Marshal(one)
	require.NoError(m.T, err)
	m.vectors.Cases = append(m.vectors.Cases, vector{Name: "a delivery on one line", Header: h, Position: *one.Position, Proof: string(compact)})

	same := func(*proof.File) {}
	elsewhere, later, wrong := trusted, trusted, trusted
	elsewhere.ChainID, later.Height, wrong.AppHash = "lab-2", trusted.Height+1, bytes.Repeat([]byte{1}, 32)
	m.bad("a header of another chain", m.trust(elsewhere), one, `the proof is of chain "lab", and the header of "lab-2"`, same)
	m.bad("a header of another height", m.trust(later), one, "the proof is for the header of height", same)
	m.bad("another application hash", m.trust(wrong), one, "store: the proof of key 74696d657273 does not hold", same)
	wrong.AppHash = wrong.AppHash[:31]
	m.bad("a short application hash", m.trust(wrong), one, "the application hash of the header has 31 bytes, want 32", same)
	m.bad("a proof under another header", h, early, "the proof is for the header of height", same)
	m.bad("a proof that names another header", h, early, "store: the proof of key", func(f *proof.File) { f.HeaderHeight = one.HeaderHeight })

	m.deliveries(h, one, far, absent)
	m.absences(h, absent, absentTwo, empty, early, ids)
	m.texts(h, one, absent)
}

func (m *maker) deliveries(h int, one, far, absent *proof.File) {
	receipts := func(want string, edit func(p *ics23.CommitmentProof)) (string, func(f *proof.File)) {
		return want, func(f *proof.File) { f.Receipts[0] = m.edited(f.Receipts[0], edit) }
	}
	add := func(name, want string, change func(f *proof.File)) { m.bad(name, h, one, want, change) }
	edit := func(name, want string, edit func(p *ics23.CommitmentProof)) {
		want, change := receipts(want, edit)
		add(name, want, change)
	}
	const broken = "receipts: the proof of key"
	edit("a changed receipt", broken, func(p *ics23.CommitmentProof) { p.GetExist().Value[60] ^= 1 })
	edit("a shorter value", broken, func(p *ics23.CommitmentProof) { p.GetExist().Value = p.GetExist().Value[:100] })
	edit("a longer value", broken, func(p *ics23.CommitmentProof) { p.GetExist().Value = append(p.GetExist().Value, 0) })
	edit("no value", broken, func(p *ics23.CommitmentProof) { p.GetExist().Value = nil })
	edit("a changed key", broken, func(p *ics23.CommitmentProof) { p.GetExist().Key[16]++ })
	edit("no leaf", broken, func(p *ics23.CommitmentProof) { p.GetExist().Leaf = nil })
	edit("no path", broken, func(p *ics23.CommitmentProof) { p.GetExist().Path = nil })
	edit("a path without its first step", broken, func(p *ics23.CommitmentProof) { p.GetExist().Path = p.GetExist().Path[1:] })
	edit("a path of 200 steps", broken, func(p *ics23.CommitmentProof) {
		for len(p.GetExist().Path) < 200 {
			p.GetExist().Path = append(p.GetExist().Path, p.GetExist().Path[0])
		}
	})
	edit("a leaf of another spec", broken, func(p *ics23.CommitmentProof) { p.GetExist().Leaf = ics23.TendermintSpec.LeafSpec })
	edit("a leaf without hash of the value", broken, func(p *ics23.CommitmentProof) { p.GetExist().Leaf.PrehashValue = ics23.HashOp_NO_HASH })
	edit("a leaf with a hash of the key", broken, func(p *ics23.CommitmentProof) { p.GetExist().Leaf.PrehashKey = ics23.HashOp_SHA256 })
	edit("a leaf without lengths", broken, func(p *ics23.CommitmentProof) { p.GetExist().Leaf.Length = ics23.LengthOp_NO_PREFIX })
	edit("a leaf of another hash", broken, func(p *ics23.CommitmentProof) { p.GetExist().Leaf.Hash = ics23.HashOp_SHA512_256 })
	edit("a leaf with a part of the key before it", broken, func(p *ics23.CommitmentProof) {
		p.GetExist().Leaf.Prefix = append(p.GetExist().Leaf.Prefix, 17, 9)
	})
	edit("a step of another hash", broken, func(p *ics23.CommitmentProof) { p.GetExist().Path[1].Hash = ics23.HashOp_SHA512 })
	edit("a step with a longer prefix", broken, func(p *ics23.CommitmentProof) { p.GetExist().Path[1].Prefix = append(p.GetExist().Path[1].Prefix, 1) })
	edit("a step with a longer suffix", broken, func(p *ics23.CommitmentProof) {
		p.GetExist().Path[1].Suffix = append(p.GetExist().Path[1].Suffix, make([]byte, 33)...)
	})
	edit("a step that is a leaf", broken, func(p *ics23.CommitmentProof) { p.GetExist().Path[1].Prefix[0] = 0 })
	edit("a batch of the proof", "receipts: it is no proof that something exists", func(p *ics23.CommitmentProof) {
		p.Proof = &ics23.CommitmentProof_Batch{Batch: &ics23.BatchProof{Entries: []*ics23.BatchEntry{{Proof: &ics23.BatchEntry_Exist{Exist: p.GetExist()}}}}}
	})
	add("a receipt proof that is cut off", "receipts: it is no proof of ICS-23", func(f *proof.File) { f.Receipts[0] = f.Receipts[0][:len(f.Receipts[0])-1] })
	add("an empty receipt proof", "receipts: it is no proof that something exists", func(f *proof.File) { f.Receipts[0] = []byte{} })
	add("a proof that something is missing", "receipts: it is no proof that something exists", func(f *proof.File) { f.Receipts[0] = absent.End })
	add("the store's proof as the receipt's", broken, func(f *proof.File) { f.Receipts[0] = f.Store })
	add("another block's receipts", "receipts: it is a proof of the key 09", func(f *proof.File) { f.Receipts = far.Receipts })
	add("another height", "receipts: it is a proof of the key 09", func(f *proof.File) { f.Height++ })
	add("the state of the lane", "receipts: it is a proof of the key 04, want", func(f *proof.File) { f.Receipts[0] = absent.Lane })
	add("a position after the last", "receipts: the value holds those of the positions 0 to 2, and not 3", func(f *proof.File) { *f.Position = 3 })
	m.bad("a position before the first", h, far, "receipts: the value holds those of the positions 64 to 65, and not 1", func(f *proof.File) { *f.Position = 1 })
	add("another position", "is a delivery of timer", func(f *proof.File) { *f.Position = (*f.Position + 1) % 3 })
	add("another timer", "is a delivery of timer", func(f *proof.File) { f.TimerID = bytes.Repeat([]byte{1}, 32) })

	bankKey := []byte{}
	m.Chain.WalkState(func(store string, key, _ []byte) {
		if store == "bank" && len(bankKey) == 0 {
			bankKey = bytes.Clone(key)
		}
	})
	state := uint64(one.HeaderHeight) - 1
	bankLeaf, bankRoot := m.storeProof("bank", bankKey, state)
	add("the proof of another store", `store: it is a proof of store "bank", want "timers"`, func(f *proof.File) { f.Store = bankRoot })
	add("a value of another store", broken, func(f *proof.File) { f.Receipts[0] = bankLeaf })
	add("another store under the name", "store: the proof of key 74696d657273 does not hold", func(f *proof.File) {
		f.Store = m.edited(bankRoot, func(p *ics23.CommitmentProof) { p.GetExist().Key = []byte("timers") })
	})
	add("an empty store proof", "store, the proof of the module's store, is missing", func(f *proof.File) { f.Store = []byte{} })
	add("a store proof of the other spec", "store: the proof of key", func(f *proof.File) { f.Store = f.Receipts[0] })
	add("a store proof that is cut off", "store: it is no proof of ICS-23", func(f *proof.File) { f.Store = f.Store[:len(f.Store)-1] })
}

func (m *maker) absences(h int, absent, absentTwo, empty, early *proof.File, ids [][]byte) {
	add := func(name string, good *proof.File, want string, change func(f *proof.File)) {
		m.bad(name, h, good, want, change)
	}
	const broken = "end: the proof that there is no key"
	add("absence of a timer that was delivered", absent, "was delivered at height", func(f *proof.File) { f.TimerID = ids[2] })
	add("absence without the last value", absentTwo, broken, func(f *proof.File) { f.Receipts = f.Receipts[:1] })
	add("absence without the first value", absentTwo, "receipts: value 0 begins at position 64, want 0", func(f *proof.File) { f.Receipts = f.Receipts[1:] })
	add("absence without any value", absent, broken, func(f *proof.File) { f.Receipts = [][]byte{} })
	add("absence with a value twice", absentTwo, "receipts: value 1 begins at position 0, want 64", func(f *proof.File) {
		f.Receipts = [][]byte{f.Receipts[0], f.Receipts[0]}
	})
	add("absence with values in another order", absentTwo, "receipts: value 0 begins at position 64, want 0", func(f *proof.File) { slices.Reverse(f.Receipts) })
	add("absence with another block's value", absent, "receipts: value 0: it is a proof of the key 09", func(f *proof.File) { f.Receipts = absentTwo.Receipts })
	add("absence at another height", empty, broken, func(f *proof.File) { f.Height++ })
	add("absence with another block's end", absent, broken, func(f *proof.File) { f.End = absentTwo.End })
	add("absence with a value for its end", absent, "end: it is no proof that something is missing", func(f *proof.File) { f.End = f.Receipts[0] })
	add("absence with an end that is cut off", absent, "end: it is no proof of ICS-23", func(f *proof.File) { f.End = f.End[:len(f.End)-1] })
	add("absence with an end of one side", absent, broken, func(f *proof.File) {
		f.End = m.edited(f.End, func(p *ics23.CommitmentProof) { p.GetNonexist().Right = nil })
	})
	add("absence with an end of the other side", absent, broken, func(f *proof.File) {
		f.End = m.edited(f.End, func(p *ics23.CommitmentProof) { p.GetNonexist().Left = nil })
	})
	add("absence with an end of neither side", absent, broken, func(f *proof.File) {
		f.End = m.edited(f.End, func(p *ics23.CommitmentProof) { p.GetNonexist().Left, p.GetNonexist().Right = nil, nil })
	})
	add("absence with an end without paths", absent, "", func(f *proof.File) {
		f.End = m.edited(f.End, func(p *ics23.CommitmentProof) { p.GetNonexist().Left.Path, p.GetNonexist().Right.Path = nil, nil })
	})
	m.vectors.Cases[len(m.vectors.Cases)-1].Error = "end: "
	// The neighbours of the end are proved, and are none: there are others between them.
	add("absence between distant keys", absentTwo, broken, func(f *proof.File) {
		first := m.edited(f.Receipts[0], func(*ics23.CommitmentProof) {})
		var left ics23.CommitmentProof
		require.NoError(m.T, left.Unmarshal(first))
		f.Receipts = f.Receipts[:1]
		f.End = m.edited(f.End, func(p *ics23.CommitmentProof) { p.GetNonexist().Left = left.GetExist() })
	})
	add("absence with another header's lane", absent, "lane: the proof of key 04 does not hold", func(f *proof.File) { f.Lane = early.Lane })
	add("absence with a changed lane", absent, "lane: the proof of key 04 does not hold", func(f *proof.File) {
		f.Lane = m.edited(f.Lane, func(p *ics23.CommitmentProof) { p.GetExist().Value[0]++ })
	})
	config, _ := m.storeProof(types.StoreKey, []byte{1}, uint64(absent.HeaderHeight)-1)
	add("absence with the config for the lane", absent, "lane: it is a proof of the key 01, want 04", func(f *proof.File) { f.Lane = config })
}

func (m *maker) texts(h int, one, absent *proof.File) {
	text, absentText := m.text(one), m.text(absent)
	replace := func(name, old, changed, want string) {
		require.Contains(m.T, text, old)
		m.badText(name, h, strings.Replace(text, old, changed, 1), want)
	}
	replace("another version", `"version": 1`, `"version": 2`, "the proof is of version 2: want 1")
	replace("a version of text", `"version": 1`, `"version": "1"`, "the proof is not a file of version 1")
	replace("no version", `"version": 1,`, ``, "the proof is of version 0: want 1")
	replace("an unknown field", `"version": 1`, `"version": 1, "note": ""`, "the proof is not a file of version 1")
	replace("another purpose", `"delivery"`, `"payment"`, `the proof proves "payment": want "delivery" or "absence"`)
	replace("absence with a position", `"delivery"`, `"absence"`, "a proof of absence has no position, and has end and lane")
	replace("no chain", `"lab"`, `""`, "the proof names no chain")
	replace("a short id", `"timer_id": "`+hex.EncodeToString(one.TimerID), `"timer_id": "`+hex.EncodeToString(one.TimerID[1:]), "timer_id has 31 bytes, want 32")
	replace("an id in capitals", `"timer_id": "`, `"timer_id": "AB`, "is not hexadecimal in lower case")
	replace("a number as a number", `"position": "1"`, `"position": 1`, "is no number as text")
	replace("a number that is none", `"position": "1"`, `"position": "x"`, "is no number: want digits")
	replace("a negative number", `"position": "1"`, `"position": "-1"`, "is no number: want digits")
	replace("a number with a zero before it", `"position": "1"`, `"position": "01"`, "is no number: want digits")
	replace("a number of more than 64 bits", `"position": "1"`, `"position": "18446744073709551616"`, "is no number: want digits")
	replace("no position", `"position": "1",`, ``, "a proof of a delivery has a position")
	replace("no receipts", `"receipts": [`, `"receipts": [], "lane": [`, "")
	m.vectors.Cases[len(m.vectors.Cases)-1].Error = "the proof "
	m.bad("height 0", h, one, "height is 0 or missing", func(f *proof.File) { f.Height = 0 })
	m.badText("nothing", h, "", "the proof is not a file of version 1")
	m.badText("no object", h, "[]", "the proof is not a file of version 1")
	m.badText("an empty object", h, "{}", "the proof is of version 0: want 1")
	m.badText("half a file", h, text[:len(text)/2], "the proof is not a file of version 1")
	m.badText("a file and more", h, text+"{}", "")
	m.vectors.Cases[len(m.vectors.Cases)-1].Error = "the proof" // Go says where the file ends, JSON.parse that the text is none.
	m.badText("a delivery of more than 32 KiB", h, text+strings.Repeat(" ", proof.MaxDeliveryBytes), "want at most 32768")
	m.badText("a delivery of values", h, strings.Replace(absentText, `"absence"`, `"delivery"`, 1), "a proof of a delivery has a position")
	m.bad("a header of the block itself", h, one, "is not above height", func(f *proof.File) { f.HeaderHeight = f.Height })
	m.bad("a header before the block", h, one, "is not above height", func(f *proof.File) { f.HeaderHeight = f.Height - 1 })
	m.bad("the header of a block to come", h, absent, "is not above height", func(f *proof.File) { f.Height = f.HeaderHeight })
}

// assembled is a proof of absence put together at the latest state, whatever that says.
func (m *maker) assembled(id []byte, height uint64) (file *proof.File, header int) {
	m.Blocks(1)
	state := m.Chain.Height() - 1
	end, store := m.storeProof(types.StoreKey, proof.ReceiptsKey(height, 0), state)
	lane, _ := m.storeProof(types.StoreKey, proof.LaneKey(), state)
	return &proof.File{
		Version: proof.Version, Proves: proof.Absence, ChainID: "lab", HeaderHeight: proof.Number(state + 1), TimerID: id, Height: proof.Number(height),
		Store: store, Receipts: [][]byte{}, End: end, Lane: lane,
	}, m.trust(m.header(state + 1))
}

// lost enters proofs of absence at heights whose receipts are gone.
func (m *maker) lost() {
	same := func(*proof.File) {}
	ids, height := m.fires(2)
	// A store whose first value is gone, and whose lane does not say so: no chain has it. There is a later value, and it shows.
	var two []types.Receipt
	for n := range 66 {
		two = append(two, types.Receipt{TimerId: bytes.Repeat([]byte{byte(n + 1)}, 32), Paid: math.NewInt(int64(n)), Tip: math.ZeroInt()})
	}
	torn := m.put(two)
	m.remove(torn, 0, 1)
	file, h := m.assembled(two[0].TimerId, torn)
	m.bad("absence where the first value is gone", h, file, "end: there are more receipts, at the key 09", same)
	m.remove(torn, 1, 66)

	m.Configure(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 3 })
	m.Blocks(8)
	file, h = m.assembled(ids[0], height)
	m.bad("absence at a pruned height", h, file, "may be pruned: all are kept of heights above", same)
	m.Configure(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 0 })
	ids, height = m.fires(1)
	m.Configure(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 1000 })
	file, h = m.assembled(ids[0], height)
	m.bad("absence at a height whose receipts were not kept", h, file, "may not have been kept: all are kept of heights above", same)
}

// remove takes the values of a height from a position on out of the store.
func (m *maker) remove(height, from, to uint64) {
	m.T.Helper()
	require.NoError(m.T, m.Chain.BeginBlock())
	store := m.Chain.Ctx().KVStore(m.Chain.StoreKey(types.StoreKey))
	for first := from; first < to; first++ {
		store.Delete(proof.ReceiptsKey(height, first))
	}
	require.NoError(m.T, m.End())
}

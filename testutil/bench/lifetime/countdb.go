package lifetime

import (
	"bytes"
	"encoding/binary"

	dbm "github.com/cosmos/cosmos-db"
)

// Writes are what IAVL wrote for one store of a commit multistore. Nodes are what a block costs in the end: each is
// hashed, encoded, written, and deleted again when its version is pruned.
type Writes struct {
	// Nodes of the tree, inner ones and leaves, and their bytes.
	Nodes     int `json:"nodes"`
	NodeBytes int `json:"node_bytes"`
	// Regions shares Nodes out by the first byte of a node's key; an inner node carries the smallest key on its right.
	// RegionBytes does so for the bytes of nodes and fast nodes.
	Regions     [256]int `json:"-"`
	RegionBytes [256]int `json:"-"`
	// References stand for the root of a version that changed nothing.
	References int `json:"references"`
	// FastNodes are writes to and deletions from the flat index that IAVL keeps beside the tree.
	FastNodes int `json:"fast_nodes"`
	FastBytes int `json:"fast_bytes"`
}

func (w *Writes) add(other *Writes) {
	w.Nodes += other.Nodes
	w.NodeBytes += other.NodeBytes
	w.References += other.References
	w.FastNodes += other.FastNodes
	w.FastBytes += other.FastBytes
	for region, nodes := range other.Regions {
		w.Regions[region] += nodes
		w.RegionBytes[region] += other.RegionBytes[region]
	}
}

// Sub returns what was written since an earlier count.
func (w *Writes) Sub(earlier *Writes) Writes {
	left := *w
	left.Nodes -= earlier.Nodes
	left.NodeBytes -= earlier.NodeBytes
	left.References -= earlier.References
	left.FastNodes -= earlier.FastNodes
	left.FastBytes -= earlier.FastBytes
	for region, nodes := range earlier.Regions {
		left.Regions[region] -= nodes
		left.RegionBytes[region] -= earlier.RegionBytes[region]
	}
	return left
}

// countSet books one write below the store's prefix. IAVL's keys are 's' + version + nonce for nodes of the tree and
// 'f' + key for fast nodes; anything else is its own bookkeeping.
func (w *Writes) countSet(key, value []byte) {
	if len(key) == 0 {
		return
	}
	switch key[0] {
	case 's':
		region, isNode := nodeRegion(value)
		if !isNode {
			w.References++
			return
		}
		w.Nodes++
		w.NodeBytes += len(key) + len(value)
		w.Regions[region]++
		w.RegionBytes[region] += len(key) + len(value)
	case 'f':
		w.FastNodes++
		w.FastBytes += len(key) + len(value)
		if len(key) > 1 {
			w.RegionBytes[key[1]] += len(key) + len(value)
		}
	}
}

func (w *Writes) countDelete(key []byte) {
	if len(key) > 0 && key[0] == 'f' {
		w.FastNodes++
	}
}

// nodeRegion reads the first byte of the key in an encoded node: height, size, then the key with its length. What is
// kept for a version without changes is no node: it is empty, or names another root.
func nodeRegion(value []byte) (region byte, isNode bool) {
	height, n := binary.Varint(value)
	if n <= 0 || height < 0 {
		return 0, false
	}
	_, m := binary.Varint(value[n:])
	if m <= 0 {
		return 0, false
	}
	length, l := binary.Uvarint(value[n+m:])
	if at := n + m + l; l > 0 && length > 0 && at < len(value) {
		return value[at], true
	}
	return 0, false
}

// CountingDB counts what is written below one key prefix of a database, and passes everything through.
type CountingDB struct {
	dbm.DB
	prefix []byte
	writes Writes
}

// NewCountingDB counts what a commit multistore writes for the named store, and for that store only.
func NewCountingDB(db dbm.DB, storeName string) *CountingDB {
	return &CountingDB{DB: db, prefix: []byte("s/k:" + storeName + "/")}
}

// Writes returns what was written so far.
func (c *CountingDB) Writes() Writes { return c.writes }

// Set implements dbm.DB.
func (c *CountingDB) Set(key, value []byte) error {
	c.countSet(&c.writes, key, value)
	return c.DB.Set(key, value)
}

// SetSync implements dbm.DB.
func (c *CountingDB) SetSync(key, value []byte) error {
	c.countSet(&c.writes, key, value)
	return c.DB.SetSync(key, value)
}

// Delete implements dbm.DB.
func (c *CountingDB) Delete(key []byte) error {
	c.countDelete(&c.writes, key)
	return c.DB.Delete(key)
}

// DeleteSync implements dbm.DB.
func (c *CountingDB) DeleteSync(key []byte) error {
	c.countDelete(&c.writes, key)
	return c.DB.DeleteSync(key)
}

// NewBatch implements dbm.DB.
func (c *CountingDB) NewBatch() dbm.Batch { return &countingBatch{Batch: c.DB.NewBatch(), db: c} }

// NewBatchWithSize implements dbm.DB.
func (c *CountingDB) NewBatchWithSize(size int) dbm.Batch {
	return &countingBatch{Batch: c.DB.NewBatchWithSize(size), db: c}
}

func (c *CountingDB) countSet(into *Writes, key, value []byte) {
	if rest, ours := bytes.CutPrefix(key, c.prefix); ours {
		into.countSet(rest, value)
	}
}

func (c *CountingDB) countDelete(into *Writes, key []byte) {
	if rest, ours := bytes.CutPrefix(key, c.prefix); ours {
		into.countDelete(rest)
	}
}

// countingBatch counts when it is written, so that a batch that is dropped counts nothing.
type countingBatch struct {
	dbm.Batch
	db      *CountingDB
	pending Writes
}

// Set implements dbm.Batch.
func (b *countingBatch) Set(key, value []byte) error {
	b.db.countSet(&b.pending, key, value)
	return b.Batch.Set(key, value)
}

// Delete implements dbm.Batch.
func (b *countingBatch) Delete(key []byte) error {
	b.db.countDelete(&b.pending, key)
	return b.Batch.Delete(key)
}

// Write implements dbm.Batch.
func (b *countingBatch) Write() error {
	b.book()
	return b.Batch.Write()
}

// WriteSync implements dbm.Batch.
func (b *countingBatch) WriteSync() error {
	b.book()
	return b.Batch.WriteSync()
}

func (b *countingBatch) book() {
	b.db.writes.add(&b.pending)
	b.pending = Writes{}
}

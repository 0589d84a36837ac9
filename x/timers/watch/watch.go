package watch

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Counts is the part of the timers' state that decides whether a write is noted, and where: (store, prefix) → how often it is
// watched. The empty prefix counts all watches of the store as plain, so that one lookup shows whether there is any.
type Counts = collections.Map[watchedKey, types.WatchCount]

// watchedKey is (store, prefix).
type watchedKey = collections.Pair[string, []byte]

var countsKey = collections.PairKeyCodec(collections.StringKey, collections.BytesKey)

// NewCounts declares the counts. The keeper writes them, the wrapped stores read them.
func NewCounts(cdc codec.BinaryCodec, sb *collections.SchemaBuilder) Counts {
	return collections.NewMap(sb, types.PrefixWatched, "watched", countsKey, codec.CollValue[types.WatchCount](cdc))
}

// Count counts the watches of a timer, by 1 for one that comes and by -1 for one that goes: those of each key, and all of a
// store at once.
func Count(ctx context.Context, counts Counts, t *types.Timer, by int64) error {
	keys := t.WatchKeys()
	for i, key := range keys {
		if err := countKey(ctx, counts, t.Actor, key, by); err != nil {
			return err
		}
		sameStore := func(k types.WatchKey) bool { return k.Store == key.Store }
		if slices.IndexFunc(keys, sameStore) < i {
			continue
		}
		others := len(slices.DeleteFunc(slices.Clone(keys), sameStore))
		at := collections.Join(key.Store, []byte{})
		all, err := get(ctx, counts, at)
		if err != nil {
			return err
		}
		all.Plain = added(all.Plain, by*int64(len(keys)-others))
		if err := setCount(ctx, counts, at, all); err != nil {
			return err
		}
	}
	return nil
}

// countKey counts one watch of an owner. It is known who owns all watches of a prefix while only one owner has come since the
// prefix had none.
func countKey(ctx context.Context, counts Counts, owner []byte, key types.WatchKey, by int64) error {
	at := collections.Join(key.Store, key.Prefix)
	count, err := get(ctx, counts, at)
	if err != nil {
		return err
	}
	switch {
	case key.When != nil:
		count.Conditional = added(count.Conditional, by)
		return setCount(ctx, counts, at, count)
	case count.Plain == 0 && count.Served == 0: // A genesis says who owns them before they come.
		count.Owner, count.Served = owner, max(1, types.HeightOf(sdk.UnwrapSDKContext(ctx)))
	case by > 0 && !bytes.Equal(count.Owner, owner):
		count.Owner = nil
	}
	if count.Plain = added(count.Plain, by); count.Plain == 0 {
		count.Owner, count.Served = nil, 0
	}
	return setCount(ctx, counts, at, count)
}

func added(count uint64, by int64) uint64 {
	if by < 0 {
		return count - min(count, uint64(-by))
	}
	return count + uint64(by)
}

// setCount writes a count. One of nothing has no entry.
func setCount(ctx context.Context, counts Counts, at watchedKey, count types.WatchCount) error {
	if count.Plain+count.Conditional == 0 {
		return counts.Remove(ctx, at)
	}
	return counts.Set(ctx, at, count)
}

// Watcher wraps store services, and notes what changes in them. A chain has one, which it wires before its
// keepers. The methods that read names, Check, Parse and Watchable, work on a nil Watcher too: it makes no store
// watchable.
type Watcher struct {
	timers store.KVStoreService
	// counts are those that the keeper writes, read without gas.
	counts Counts
	notes  collections.Map[place, types.WatchNote]
	// conditions are keys with conditions that were written.
	conditions collections.KeySet[watchedKey]
	// stores that can be watched, in the order of wiring, and what is beneath each.
	stores []Store
	inner  []store.KVStoreService
}

// New returns the watcher of a chain, given the key of the timers' store. There its notes are too, until they are taken.
func New(timers *storetypes.KVStoreKey) *Watcher { return NewFrom(Ungassed(timers)) }

// NewFrom is New on a service whose stores charge no gas, such as one that tests count or fail.
func NewFrom(timers store.KVStoreService) *Watcher {
	sb, cdc := collections.NewSchemaBuilder(timers), codec.NewProtoCodec(nil)
	region := func(n byte) collections.Prefix { return collections.NewPrefix([]byte{types.PrefixWatchNotes, n}) }
	w := &Watcher{
		timers: timers,
		counts: NewCounts(cdc, sb),
		notes: collections.NewMap(sb, region(1), "watch_notes",
			collections.QuadKeyCodec(collections.BytesKey, collections.Uint64Key, collections.StringKey, collections.BytesKey),
			codec.CollValue[types.WatchNote](cdc)),
		conditions: collections.NewKeySet(sb, region(2), "watch_note_conditions", countsKey),
	}
	if _, err := sb.Build(); err != nil {
		panic(fmt.Errorf("x/timers/watch: schema: %w", err))
	}
	return w
}

// Service makes a store watchable. The keeper that owns the store is made with the service that is returned, in place
// of the one that is given. It panics if the wiring is wrong: without a name, or with one that is taken.
func (w *Watcher) Service(service store.KVStoreService, declared Store) store.KVStoreService {
	if err := (types.WatchKey{Store: declared.Name, Prefix: []byte{0}}).Validate(); err != nil {
		panic(fmt.Errorf("x/timers/watch: %w", err))
	}
	if _, known := w.store(declared.Name); known {
		panic(fmt.Sprintf("x/timers/watch: store %s is wrapped twice", declared.Name))
	}
	w.stores, w.inner = append(w.stores, declared), append(w.inner, service)
	anyWatch, err := collections.EncodeKeyWithPrefix(types.PrefixWatched.Bytes(), countsKey, collections.Join(declared.Name, []byte{}))
	if err != nil {
		panic(fmt.Errorf("x/timers/watch: store %s: %w", declared.Name, err))
	}
	return &watchedService{watcher: w, inner: service, declared: declared, anyWatch: anyWatch}
}

type mutedKey struct{}

// Muted returns a context whose writes are noted for conditions only. The module moves its own
// fees with it, so that no timer that waits for any change is made due by the fee of its own fire.
func Muted(ctx context.Context) context.Context {
	return sdk.UnwrapSDKContext(ctx).WithValue(mutedKey{}, true)
}

func isMuted(ctx context.Context) bool { return ctx.Value(mutedKey{}) != nil }

// Store declares what can be watched of a store: each whole key of at most types.MaxWatchKeyBytes, and the prefixes of
// its forms.
type Store struct {
	// Name by which triggers name the store; as a rule that of its key.
	Name string
	// Forms are the text forms of its keys. They also define which prefixes of a key can be watched in addition to the
	// whole key.
	Forms []Form
	// Whole reports whether bytes may be a whole key of the store. So a prefix that no form has is refused instead of
	// never being triggered. nil accepts all.
	Whole func(key []byte) bool
	// Reading is how conditions read the values of a key. nil: they ask whether a key is there, and no more.
	Reading func(key []byte) Reading
}

// Form is a way to name keys of a store in words, such as bank:balance:ADDRESS:DENOM.
type Form struct {
	// Name of the form, and the names of its arguments: people write STORE:NAME:ARGUMENT…, and the last argument may
	// have colons in it.
	Name      string
	Arguments []string
	// Watches says what it watches.
	Watches string
	// Build makes the prefix of as many arguments as there are names.
	Build func(arguments []string) ([]byte, error)
	// Length returns how many bytes of the beginning of a key are a prefix of this form, 0 if it has none. It is nil
	// for a form of whole keys.
	Length func(key []byte) int
}

// usage is the syntax of the form.
func (f *Form) usage(store string) string {
	return strings.Join(append([]string{store, f.Name}, f.Arguments...), ":")
}

func (w *Watcher) store(name string) (*Store, bool) {
	for i := range w.stores {
		if w.stores[i].Name == name {
			return &w.stores[i], true
		}
	}
	return nil, false
}

// known returns the store of a name, or an error that names those that there are. A nil watcher has none.
func (w *Watcher) known(name string) (*Store, error) {
	if w == nil || len(w.stores) == 0 {
		return nil, types.ErrNotWatchable.Wrapf("store %.80q: this chain makes no store watchable", name)
	}
	declared, known := w.store(name)
	if !known {
		names := make([]string, len(w.stores))
		for i := range w.stores {
			names[i] = w.stores[i].Name
		}
		return nil, types.ErrNotWatchable.Wrapf("store %.80q; watchable: %s", name, strings.Join(names, ", "))
	}
	return declared, nil
}

// Check refuses what can't be watched. Errors are types.ErrNotWatchable for another store or a prefix of no declared
// form, and types.ErrInvalidWatch for a prefix that is empty or longer than types.MaxWatchKeyBytes, and for a condition
// that is malformed, or on a key whose values are not what it compares.
func (w *Watcher) Check(key types.WatchKey) error {
	declared, err := w.known(key.Store)
	if err != nil {
		return err
	}
	if err := key.Validate(); err != nil {
		return err
	}
	if key.When != nil {
		return declared.checkCondition(key)
	}
	if declared.Whole == nil || declared.Whole(key.Prefix) || declared.isPrefix(key.Prefix) {
		return nil
	}
	return types.ErrNotWatchable.Wrapf("%x is neither a key of store %s nor a prefix of a form: want %s",
		key.Prefix, key.Store, strings.Join(declared.usages(), ", "))
}

// isPrefix reports whether bytes are a prefix that a form has.
func (d *Store) isPrefix(prefix []byte) bool {
	for i := range d.Forms {
		if length := d.Forms[i].Length; length != nil && length(prefix) == len(prefix) {
			return true
		}
	}
	return false
}

// Parse reads STORE:FORM:ARGUMENT…, or STORE:HEX, a prefix in hexadecimal, and checks what it names. Errors are those
// of Check; types.ErrInvalidWatch lists the forms that there are.
func (w *Watcher) Parse(text string) (types.WatchKey, error) {
	if len(text) > types.MaxTextBytes {
		return types.WatchKey{}, types.ErrInvalidWatch.Wrapf("%.80q is %d bytes long, want at most %d", text, len(text), types.MaxTextBytes)
	}
	name, rest, _ := strings.Cut(text, ":")
	declared, err := w.known(name)
	if err != nil {
		return types.WatchKey{}, err
	}
	key := types.WatchKey{Store: name}
	formName, arguments, stated := strings.Cut(rest, ":")
	if form := declared.form(formName); form != nil {
		parts := []string{}
		if stated {
			parts = strings.SplitN(arguments, ":", max(1, len(form.Arguments)))
		}
		if len(parts) != len(form.Arguments) {
			return key, types.ErrInvalidWatch.Wrapf("%.200q: want %s", text, form.usage(name))
		}
		if key.Prefix, err = form.Build(parts); err != nil {
			return key, types.ErrInvalidWatch.Wrapf("%.200q: want %s: %.200s", text, form.usage(name), err)
		}
		return key, w.Check(key)
	}
	if key.Prefix, err = hex.DecodeString(rest); err != nil || rest == "" {
		return key, types.ErrInvalidWatch.Wrapf("%.200q: want %s", text,
			strings.Join(append(declared.usages(), name+":HEX"), ", "))
	}
	return key, w.Check(key)
}

func (d *Store) form(name string) *Form {
	for i := range d.Forms {
		if d.Forms[i].Name == name {
			return &d.Forms[i]
		}
	}
	return nil
}

func (d *Store) usages() []string {
	all := make([]string, len(d.Forms))
	for i := range d.Forms {
		all[i] = d.Forms[i].usage(d.Name)
	}
	return all
}

// Watchable lists the stores that can be watched, in the order of wiring.
func (w *Watcher) Watchable() []types.WatchableStore {
	if w == nil {
		return nil
	}
	all := make([]types.WatchableStore, len(w.stores))
	for i := range w.stores {
		declared := &w.stores[i]
		all[i].Store = declared.Name
		for j := range declared.Forms {
			all[i].Forms = append(all[i].Forms, types.WatchForm{
				Usage: declared.Forms[j].usage(declared.Name), Watches: declared.Forms[j].Watches,
			})
		}
	}
	return all
}

package watch

import (
	"encoding/hex"
	"strings"

	"github.com/cosmos-timers/timers/x/timers/types"
)

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
			return key, types.ErrInvalidWatch.Wrapf("%.200q: want %s: %.200v", text, form.usage(name), err)
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

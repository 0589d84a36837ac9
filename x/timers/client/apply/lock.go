package apply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Lock is kept beside a file: which timers were scheduled of it. One of them that is no more was done, and is not scheduled again.
// It is written before a transaction is sent, and when it is known what became of it.
type Lock struct {
	// Chain and Owner are whose timers they are.
	Chain string `json:"chain_id"`
	Owner string `json:"owner"`
	// Timers are the ids by the names.
	Timers map[string]string `json:"timers"`
	// Sent is a transaction of which it is not known yet what became.
	Sent *Sent `json:"sent,omitempty"`

	path string
}

// Sent is a signed transaction.
type Sent struct {
	// Tx as it was broadcast, and the height before that.
	Tx    []byte `json:"tx"`
	Since int64  `json:"since"`
	// Until is the last height at which it may be included.
	Until int64 `json:"until"`
}

// LockOf is the path of the lock of a file.
func LockOf(file string) string { return file + ".lock" }

// ReadLock reads the lock of a file. There is none before the first time.
func ReadLock(file, chain, owner string) (*Lock, error) {
	lock := &Lock{Chain: chain, Owner: owner, Timers: map[string]string{}, path: LockOf(file)}
	text, err := os.ReadFile(lock.path)
	if errors.Is(err, fs.ErrNotExist) {
		return lock, nil
	}
	if err != nil {
		return nil, err
	}
	kept := Lock{path: lock.path}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&kept); err != nil {
		return nil, fmt.Errorf("%s is no lock of timers: %w", lock.path, err)
	}
	switch {
	case kept.Chain != chain:
		return nil, fmt.Errorf("%s is of the chain %.80q, and this is %s: want a file of its own for each chain", lock.path, kept.Chain, chain)
	case kept.Owner != owner:
		return nil, fmt.Errorf("%s is of the timers of %.80s, and --from is %s: want a file of its own for each account", lock.path, kept.Owner, owner)
	case kept.Timers == nil:
		kept.Timers = map[string]string{}
	}
	return &kept, nil
}

// Write replaces the lock's file: whoever is killed meanwhile leaves the one before, or the new one.
func (l *Lock) Write() (err error) {
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(l.path), filepath.Base(l.path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	_, err = file.Write(append(text, '\n'))
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chmod(file.Name(), 0o644) //nolint:gosec // as the file that it lies beside, which one commits with it
	}
	if err == nil {
		err = os.Rename(file.Name(), l.path)
	}
	return err
}

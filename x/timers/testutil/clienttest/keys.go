package clienttest

import (
	"errors"

	"github.com/cosmos/cosmos-sdk/crypto/keyring"
	sdk "github.com/cosmos/cosmos-sdk/types"
)

// Keys is a key ring that counts how often it is asked whose an address is: each answer costs a real one two decryptions.
type Keys struct {
	keyring.Keyring
	Asked int
	// Locked: it can't be read, as when its password is wrong.
	Locked bool
}

// KeyByAddress implements keyring.Keyring.
func (k *Keys) KeyByAddress(address sdk.Address) (*keyring.Record, error) {
	if k.Asked++; k.Locked {
		return nil, errors.New("too many failed passphrase attempts")
	}
	return k.Keyring.KeyByAddress(address)
}

// List implements keyring.Keyring.
func (k *Keys) List() ([]*keyring.Record, error) {
	if k.Asked++; k.Locked {
		return nil, errors.New("too many failed passphrase attempts")
	}
	return k.Keyring.List()
}

// CountKeys counts what the key ring is asked from now on.
func (r *Rig) CountKeys() *Keys {
	k := &Keys{Keyring: r.Ctx.Keyring}
	r.Ctx.Keyring = k
	return k
}

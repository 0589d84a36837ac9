// Package evmbinding lets accounts and contracts of the EVM own timers, for chains with cosmos/evm. It is a Go module
// of its own: x/timers knows nothing of the EVM. evmbinding/README.md says how a chain wires it, and what is there.
//
// Three things make it up. The Runtime serves the accounts of 20 bytes: it calls contracts back and makes calls of the
// EVM as their owners. The Precompile is how contracts speak to the module. Slots make the storage of contracts
// watchable.
package evmbinding

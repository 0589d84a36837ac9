// Package contracts holds the tests' CosmWasm contracts, compiled. Sources are in src/; `make contracts` builds them again
// and compares, which needs Debian's Rust. Tests need the committed files alone.
package contracts

import _ "embed"

var (
	// Council is a multisig with the messages of cw3_fixed_multisig, without a sudo.
	//
	//go:embed council.wasm
	Council []byte
	// Heartbeat counts, and schedules itself again at each beat. It can be its own bidding agent.
	//
	//go:embed heartbeat.wasm
	Heartbeat []byte
	// Hostile does whatever its timer's handler is called: loop, hog, panic, flood, and more in src/hostile.rs.
	//
	//go:embed hostile.wasm
	Hostile []byte
	// Listener has the entry points of a clock contract and of a callback contract, and schedules nothing.
	//
	//go:embed listener.wasm
	Listener []byte
	// Treasury is a DAO's, with the messages of DAO DAO's core, without a sudo.
	//
	//go:embed treasury.wasm
	Treasury []byte
	// Witness remembers what its timers called it with.
	//
	//go:embed witness.wasm
	Witness []byte
	//go:embed SHA256SUMS
	checksums string
)

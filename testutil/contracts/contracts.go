// Package contracts holds CosmWasm contracts, compiled. Their sources are in clients/rust: those that authors may begin
// with in contracts/, those that serve tests alone in fixtures/. `make contracts` builds them again and compares, which
// needs Debian's Rust. Tests need the committed files alone.
package contracts

import _ "embed"

var (
	// Auction sells a coin to the highest bidder, and settles itself.
	//
	//go:embed auction.wasm
	Auction []byte
	// Council is the multisig cw3-fixed-multisig of cw-plus, which has no sudo.
	//
	//go:embed council.wasm
	Council []byte
	// DCA buys a little at a pool every so many blocks.
	//
	//go:embed dca.wasm
	DCA []byte
	// Heartbeat counts, and schedules itself again at each beat. It can be its own bidding agent.
	//
	//go:embed heartbeat.wasm
	Heartbeat []byte
	// Hostile does whatever its timer's handler is called: loop, hog, panic, flood, and more.
	//
	//go:embed hostile.wasm
	Hostile []byte
	// Keeper calls another contract every so many blocks, or when a number that it stores falls below a bound.
	//
	//go:embed keeper.wasm
	Keeper []byte
	// Listener has the entry points of a clock contract and of a callback contract, and remembers what it was called with.
	//
	//go:embed listener.wasm
	Listener []byte
	// Pool sells one coin for another along a constant product.
	//
	//go:embed pool.wasm
	Pool []byte
	// Subscription charges deposits, each period once.
	//
	//go:embed subscription.wasm
	Subscription []byte
	// Switch is a dead man's switch.
	//
	//go:embed switch.wasm
	Switch []byte
	// Treasury is a DAO's, with the messages of DAO DAO's core, without a sudo.
	//
	//go:embed treasury.wasm
	Treasury []byte
	// Vault has a level, which somebody has to refill.
	//
	//go:embed vault.wasm
	Vault []byte
	// Vesting releases what has vested, and catches up.
	//
	//go:embed vesting.wasm
	Vesting []byte
	//go:embed SHA256SUMS
	checksums string
)

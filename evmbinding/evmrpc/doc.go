// Package evmrpc shows fires to Ethereum's tools: on a node of cosmos/evm the namespace "timers" of JSON-RPC replaces the
// services eth and debug by ones for which each fire in the EVM is a transaction of its block, behind the block's own.
// Nothing of consensus depends on it.
//
// cosmos/evm's JSON-RPC reads all it shows of blocks through a client of CometBFT. The Client here gives it blocks and
// results to which the fires are added, as the events of the block's end state them (evmbinding.EventFire).
package evmrpc

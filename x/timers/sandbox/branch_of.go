package sandbox

import storetypes "cosmossdk.io/store/types"

// BranchOf returns a branch of any multistore, which keeps what was read. It asks the multistore for each store that is used, and
// writes back through it. So it serves those that wrap stores, and branches multistores that hand out themselves where they are
// asked for a branch, as the one does in which cosmos/evm runs precompiles.
func BranchOf(parent storetypes.MultiStore) storetypes.CacheMultiStore { return newMulti(parent, true) }

package timers

import (
	"strings"

	protov1 "github.com/golang/protobuf/proto" //nolint:staticcheck // the gateway looks in its registry

	"github.com/cosmos-timers/timers/x/timers/types"
)

// The REST gateway looks for the names of enums in a registry of its own, which gogoproto does not fill: without this it
// takes numbers alone. A tier is also taken by the short name that the command line knows, tier=fast.
func init() {
	const prefix = "PRIORITY_TIER_"
	tiers := map[string]int32{}
	for number := int32(0); types.PriorityTier_name[number] != ""; number++ {
		name := types.PriorityTier_name[number]
		tiers[name] = number
		tiers[strings.ToLower(strings.TrimPrefix(name, prefix))] = number
	}
	protov1.RegisterEnum("timers.v1.PriorityTier", types.PriorityTier_name, tiers) //nolint:staticcheck // the gateway looks there
}

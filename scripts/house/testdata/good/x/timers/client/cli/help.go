// Package cli is the command line.
package cli

import "example.test/chain/x/timers/types"

// Help has the text of each policy.
var Help = map[types.Policy]string{
	types.PolicyFIFO: "oldest first",
	types.PolicyTip:  "highest tip first",
}

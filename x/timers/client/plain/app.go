package plain

import (
	"os"
	"path/filepath"

	"github.com/cosmos/cosmos-sdk/version"
)

// unstated is what the SDK calls a binary whose build states no name.
const unstated = "<appd>"

// App is the name of the chain's binary in what people are told to type: the one that its build states
// (github.com/cosmos/cosmos-sdk/version.AppName), or else the one under which it runs.
func App() string {
	if version.AppName != unstated {
		return version.AppName
	}
	return filepath.Base(os.Args[0])
}

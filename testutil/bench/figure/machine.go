package figure

import (
	"bufio"
	"os"
	"runtime"
	"strings"
)

// Machine is where it was measured.
type Machine struct {
	CPU       string `json:"cpu"`
	Cores     int    `json:"cores"`
	GoVersion string `json:"go_version"`
	Platform  string `json:"platform"`
}

// ThisMachine describes the machine that runs this.
func ThisMachine() Machine {
	return Machine{
		CPU: cpuModel(), Cores: runtime.NumCPU(), GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// cpuModel is what Linux calls the processor; other systems don't say where we can read it.
func cpuModel() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown cpu"
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, value, found := strings.Cut(lines.Text(), ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown cpu"
}

package report

// NoRuntime stands for a fire that no runtime served: the actor is gone, or the gas limit did not reach so far.
const NoRuntime = "none"

// RuntimeName is the name of a runtime in labels: what its method Name returns, or "other" for one without. It must not
// depend on user input, since each name makes series of its own.
func RuntimeName(runtime any) string {
	if named, ok := runtime.(interface{ Name() string }); ok {
		return named.Name()
	}
	return "other"
}

package types

// fifoParams says that policy fifo has no parameters of its own.
type fifoParams struct{}

func (fifoParams) policy() Policy { return PolicyFIFO }

// Validate implements policyParams.
func (fifoParams) Validate() error { return nil }

func (fifoParams) validateSelected(*TimerConfig) error { return nil }

//go:build noguests

package keeper

func schemaGuests() *options { return &options{} }

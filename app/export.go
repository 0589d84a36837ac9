package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"

	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"

	"github.com/cosmos/cosmos-sdk/codec"
	servertypes "github.com/cosmos/cosmos-sdk/server/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/x/staking"
)

// ErrZeroHeight is why an export for height zero is refused.
var ErrZeroHeight = errors.New(
	"x/distribution and x/slashing keep heights that would not fit a chain that starts again at zero: " +
		"export without --for-zero-height; the new chain goes on from the exported height (initial_height in its genesis)")

// ExportAppStateAndValidators exports the whole state, to continue from the next height. ExportTo does the same for a state
// that is too large to be in memory.
func (app *App) ExportAppStateAndValidators(
	forZeroHeight bool, _, modulesToExport []string,
) (servertypes.ExportedApp, error) {
	var state bytes.Buffer
	exported, err := app.ExportTo(&state, forZeroHeight, modulesToExport)
	exported.AppState = state.Bytes()
	return exported, err
}

// ExportTo writes the state of the named modules, or of all, as one JSON object, sorted by name and without white space.
// It returns what else the genesis of the next height needs.
func (app *App) ExportTo(w io.Writer, forZeroHeight bool, modulesToExport []string) (servertypes.ExportedApp, error) {
	if forZeroHeight {
		return servertypes.ExportedApp{}, ErrZeroHeight
	}
	ctx := app.NewContextLegacy(true, cmtproto.Header{Height: app.LastBlockHeight()})
	if err := app.writeState(ctx, w, modulesToExport); err != nil {
		return servertypes.ExportedApp{}, err
	}
	validators, err := staking.WriteValidators(ctx, app.Staking)
	return servertypes.ExportedApp{
		Validators: validators, Height: app.LastBlockHeight() + 1, ConsensusParams: app.GetConsensusParams(ctx),
	}, err
}

// genesisWriter is a module that exports its state without having it in memory.
type genesisWriter interface {
	WriteGenesis(ctx sdk.Context, cdc codec.JSONCodec, w io.Writer) error
}

func (app *App) writeState(ctx sdk.Context, w io.Writer, names []string) error {
	if len(names) == 0 {
		names = app.modules.OrderExportGenesis
	}
	separator := "{"
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		write, err := app.moduleWriter(ctx, name)
		if err != nil {
			return err
		}
		if write == nil {
			continue
		}
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, separator+string(key)+":"); err != nil {
			return err
		}
		if err := write(w); err != nil {
			return err
		}
		separator = ","
	}
	if separator == "{" {
		separator = "{}"
	} else {
		separator = "}"
	}
	_, err := io.WriteString(w, separator)
	return err
}

// moduleWriter returns what writes the state of a module; nil if it has none.
func (app *App) moduleWriter(ctx sdk.Context, name string) (func(io.Writer) error, error) {
	if module, ok := app.modules.Modules[name].(genesisWriter); ok {
		return func(w io.Writer) error { return module.WriteGenesis(ctx, app.encoding.Codec, w) }, nil
	}
	states, err := app.modules.ExportGenesisForModules(ctx, app.encoding.Codec, []string{name})
	if err != nil || states[name] == nil {
		return nil, err
	}
	compact, err := json.Marshal(states[name])
	return func(w io.Writer) error {
		_, err := w.Write(compact)
		return err
	}, err
}

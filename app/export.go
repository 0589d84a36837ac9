package app

import (
	"encoding/json"
	"errors"

	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"

	servertypes "github.com/cosmos/cosmos-sdk/server/types"
	"github.com/cosmos/cosmos-sdk/x/staking"
)

// ErrZeroHeight is why an export for height zero is refused.
var ErrZeroHeight = errors.New(
	"timers are due at heights, which a chain that starts again at zero would take for far ones: " +
		"export without --for-zero-height; the new chain goes on from the exported height (initial_height in its genesis)")

// ExportAppStateAndValidators exports the whole state, to go on from the next height.
func (app *App) ExportAppStateAndValidators(
	forZeroHeight bool, _, modulesToExport []string,
) (servertypes.ExportedApp, error) {
	if forZeroHeight {
		return servertypes.ExportedApp{}, ErrZeroHeight
	}
	ctx := app.NewContextLegacy(true, cmtproto.Header{Height: app.LastBlockHeight()})
	genesis, err := app.modules.ExportGenesisForModules(ctx, app.encoding.Codec, modulesToExport)
	if err != nil {
		return servertypes.ExportedApp{}, err
	}
	state, err := json.MarshalIndent(genesis, "", "  ")
	if err != nil {
		return servertypes.ExportedApp{}, err
	}
	validators, err := staking.WriteValidators(ctx, app.Staking)
	return servertypes.ExportedApp{
		AppState: state, Validators: validators, Height: app.LastBlockHeight() + 1, ConsensusParams: app.GetConsensusParams(ctx),
	}, err
}

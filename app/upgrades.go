package app

import (
	"context"
	"fmt"

	icacontrollertypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/controller/types"
	icahosttypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/host/types"
	transfertypes "github.com/cosmos/ibc-go/v10/modules/apps/transfer/types"
	ibcexported "github.com/cosmos/ibc-go/v10/modules/core/exported"

	storetypes "cosmossdk.io/store/types"
	upgradetypes "cosmossdk.io/x/upgrade/types"

	"github.com/cosmos/cosmos-sdk/types/module"
	"github.com/cosmos/cosmos-sdk/x/group"
)

// UpgradeV2 names the upgrade of a chain whose timers have the state of version 1, and which has neither groups nor IBC.
const UpgradeV2 = "v2"

// addedStores are those that each upgrade adds.
var addedStores = map[string][]string{
	UpgradeV2: {group.StoreKey, ibcexported.StoreKey, transfertypes.StoreKey, icacontrollertypes.StoreKey, icahosttypes.StoreKey},
}

// registerUpgrades sets the handlers of upgrades: each runs the migrations of the modules, and starts those that are new. A
// node that comes to the height of an upgrade loads its state with the new stores.
func (app *App) registerUpgrades() error {
	app.Upgrade.SetUpgradeHandler(UpgradeV2, func(
		ctx context.Context, _ upgradetypes.Plan, from module.VersionMap,
	) (module.VersionMap, error) {
		return app.modules.RunMigrations(ctx, app.configurator, from)
	})
	next, err := app.Upgrade.ReadUpgradeInfoFromDisk()
	if err != nil {
		return fmt.Errorf("the next upgrade: %w", err)
	}
	if added := addedStores[next.Name]; added != nil && !app.Upgrade.IsSkipHeight(next.Height) {
		app.SetStoreLoader(upgradetypes.UpgradeStoreLoader(next.Height, &storetypes.StoreUpgrades{Added: added}))
	}
	return nil
}

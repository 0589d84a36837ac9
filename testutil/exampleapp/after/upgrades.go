package app

import (
	"context"

	storetypes "cosmossdk.io/store/types"
	upgradetypes "cosmossdk.io/x/upgrade/types"

	"github.com/cosmos/cosmos-sdk/types/module"

	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

func (app *App) wireUpgrades() {
	app.UpgradeKeeper.SetUpgradeHandler("timers", func(
		ctx context.Context, _ upgradetypes.Plan, from module.VersionMap,
	) (module.VersionMap, error) {
		return app.Migrate(ctx, from)
	})
	plan, err := app.UpgradeKeeper.ReadUpgradeInfoFromDisk()
	if err != nil {
		panic(err)
	}
	if plan.Name == "timers" && !app.UpgradeKeeper.IsSkipHeight(plan.Height) {
		added := &storetypes.StoreUpgrades{Added: []string{timerstypes.StoreKey}}
		app.SetStoreLoader(upgradetypes.UpgradeStoreLoader(plan.Height, added))
	}
}

// Migrate brings the state of the modules to their versions, and initializes those that are new.
func (app *App) Migrate(ctx context.Context, from module.VersionMap) (module.VersionMap, error) {
	return app.ModuleManager.RunMigrations(ctx, app.configurator, from)
}

package app

import (
	"context"

	upgradetypes "cosmossdk.io/x/upgrade/types"

	"github.com/cosmos/cosmos-sdk/types/module"
)

// rehearsal names an upgrade that runs the modules' migrations and adds no store, if a build states it: a test network
// rehearses with it how its nodes stop at an upgrade's height and continue with another binary. There is no other upgrade yet.
// go build -ldflags "-X github.com/cosmos-timers/timers/app.rehearsal=NAME"
var rehearsal string

// registerUpgrades sets the handlers of upgrades.
func (app *App) registerUpgrades() {
	if rehearsal == "" {
		return
	}
	app.Upgrade.SetUpgradeHandler(rehearsal, func(
		ctx context.Context, _ upgradetypes.Plan, from module.VersionMap,
	) (module.VersionMap, error) {
		return app.modules.RunMigrations(ctx, app.configurator, from)
	})
}

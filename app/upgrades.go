package app

import (
	"context"
	"encoding/hex"
	"fmt"

	icacontrollertypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/controller/types"
	icahosttypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/host/types"
	transfertypes "github.com/cosmos/ibc-go/v10/modules/apps/transfer/types"
	ibcexported "github.com/cosmos/ibc-go/v10/modules/core/exported"

	"cosmossdk.io/store/prefix"
	storetypes "cosmossdk.io/store/types"
	upgradetypes "cosmossdk.io/x/upgrade/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"
	"github.com/cosmos/cosmos-sdk/x/group"

	timersv2 "github.com/cosmos-timers/timers/x/timers/migrations/v2"
)

// UpgradeV2 names the upgrade of a chain whose timers have the state of version 1, and which has neither groups nor IBC.
const UpgradeV2 = "v2"

// rehearsal names one more upgrade, which runs the modules' migrations and adds no store, if a build states it: a test
// network rehearses with it how its nodes stop at an upgrade's height and go on with another binary.
// go build -ldflags "-X github.com/cosmos-timers/timers/app.rehearsal=NAME"
var rehearsal string

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
		if err := app.convertProposals(sdk.UnwrapSDKContext(ctx)); err != nil {
			return nil, err
		}
		return app.modules.RunMigrations(ctx, app.configurator, from)
	})
	if rehearsal != "" {
		app.Upgrade.SetUpgradeHandler(rehearsal, func(
			ctx context.Context, _ upgradetypes.Plan, from module.VersionMap,
		) (module.VersionMap, error) {
			return app.modules.RunMigrations(ctx, app.configurator, from)
		})
	}
	next, err := app.Upgrade.ReadUpgradeInfoFromDisk()
	if err != nil {
		return fmt.Errorf("the next upgrade: %w", err)
	}
	if added := addedStores[next.Name]; added != nil && !app.Upgrade.IsSkipHeight(next.Height) {
		app.SetStoreLoader(upgradetypes.UpgradeStoreLoader(next.Height, &storetypes.StoreUpgrades{Added: added}))
	}
	return nil
}

// convertProposals brings the messages of proposals to the form of version 2. x/gov decodes the messages of every proposal
// that it ever had, and could neither show nor export those with a config of version 1. Prices of version 1 would read as
// 10^18 times as large. A proposal that can't be converted stays as it is: the upgrade does not stop for it.
func (app *App) convertProposals(ctx sdk.Context) error {
	store := prefix.NewStore(ctx.KVStore(app.StoreKey(govtypes.StoreKey)), govtypes.ProposalsKeyPrefix.Bytes())
	type pair struct{ key, value []byte }
	var converted []pair
	proposals := store.Iterator(nil, nil)
	for ; proposals.Valid(); proposals.Next() {
		value, changed, err := proposalFromV1(proposals.Value())
		switch {
		case err != nil:
			ctx.Logger().Error("a proposal stays in the form of version 1", "key", hex.EncodeToString(proposals.Key()), "error", err)
		case changed:
			converted = append(converted, pair{proposals.Key(), value})
		}
	}
	if err := proposals.Close(); err != nil {
		return err
	}
	for _, p := range converted {
		store.Set(p.key, p.value)
	}
	return nil
}

// proposalFromV1 converts an encoded proposal, if it holds a message whose encoding has changed.
func proposalFromV1(stored []byte) (value []byte, changed bool, err error) {
	var proposal govv1.Proposal
	if err := proposal.Unmarshal(stored); err != nil {
		return nil, false, err
	}
	for _, msg := range proposal.Messages {
		converted, err := timersv2.Message(msg)
		if err != nil {
			return nil, false, err
		}
		changed = changed || converted
	}
	if !changed {
		return nil, false, nil
	}
	value, err = proposal.Marshal()
	return value, err == nil, err
}

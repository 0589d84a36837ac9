package app

// wireUpgrades is where the handlers of upgrades are set; this chain has had none.
func (*App) wireUpgrades() {}

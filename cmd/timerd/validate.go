package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	abci "github.com/cometbft/cometbft/abci/types"
	cmttypes "github.com/cometbft/cometbft/types"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/spf13/cobra"

	"cosmossdk.io/log"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/server"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	genutiltypes "github.com/cosmos/cosmos-sdk/x/genutil/types"

	"github.com/cosmos-timers/timers/app"
)

// beginFrom lets the command that validates a genesis file begin a chain from it too, in memory: what a module finds wrong as it
// imports the file shows here, and not at a node's start.
func beginFrom(root *cobra.Command) {
	command, _, err := root.Find([]string{"genesis", "validate"})
	if err != nil {
		panic(fmt.Errorf("the command that validates a genesis file: %w", err))
	}
	validate := command.RunE
	command.RunE = func(cmd *cobra.Command, args []string) error {
		out := cmd.OutOrStdout()
		var verdict bytes.Buffer
		cmd.SetOut(&verdict)
		err := validate(cmd, args)
		cmd.SetOut(out)
		if err != nil {
			return err
		}
		file := server.GetServerContextFromCmd(cmd).Config.GenesisFile()
		if len(args) > 0 {
			file = args[0]
		}
		document, err := genutiltypes.AppGenesisFromFile(file)
		if err != nil {
			return err
		}
		ready, err := hasValidators(document)
		if err == nil && ready {
			err = beginChain(document)
		}
		if err != nil {
			return fmt.Errorf("no chain can begin from %s: %w", file, err)
		}
		_, err = verdict.WriteTo(out)
		return err
	}
}

// hasValidators reports whether a genesis has validators, or transactions that make some. Without any it is not ready to begin.
func hasValidators(genesis *genutiltypes.AppGenesis) (bool, error) {
	var state struct {
		Genutil struct {
			Transactions []json.RawMessage `json:"gen_txs"`
		} `json:"genutil"`
		Staking struct {
			Validators []json.RawMessage `json:"validators"`
		} `json:"staking"`
	}
	err := json.Unmarshal(genesis.AppState, &state)
	return len(state.Genutil.Transactions)+len(state.Staking.Validators) > 0, err
}

// beginChain begins a chain from a genesis, in memory.
func beginChain(genesis *genutiltypes.AppGenesis) (err error) {
	document, err := genesis.ToGenesisDoc()
	if err != nil {
		return err
	}
	if err := document.ValidateAndComplete(); err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "genesis")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	chain := app.New(log.NewNopLogger(), dbm.NewMemDB(), nil, true, simtestutil.AppOptionsMap{flags.FlagHome: home},
		baseapp.SetChainID(document.ChainID))
	defer func() { err = errors.Join(err, chain.Close()) }()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r) // What a module refuses it panics with.
		}
	}()
	validators := make([]*cmttypes.Validator, len(document.Validators))
	for i, v := range document.Validators {
		validators[i] = cmttypes.NewValidator(v.PubKey, v.Power)
	}
	params := document.ConsensusParams.ToProto()
	_, err = chain.InitChain(&abci.RequestInitChain{
		Time: document.GenesisTime, ChainId: document.ChainID, InitialHeight: document.InitialHeight, ConsensusParams: &params,
		Validators: cmttypes.TM2PB.ValidatorUpdates(cmttypes.NewValidatorSet(validators)), AppStateBytes: json.RawMessage(document.AppState),
	})
	return err
}

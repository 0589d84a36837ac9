package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/spf13/cobra"

	"cosmossdk.io/log"

	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/server"
	servertypes "github.com/cosmos/cosmos-sdk/server/types"
	"github.com/cosmos/cosmos-sdk/version"
	genutiltypes "github.com/cosmos/cosmos-sdk/x/genutil/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/x/timers/genesis"
)

// streamExport gives the SDK's export command a way of its own to write the same file: the SDK's has six copies of the
// state in memory at once.
func streamExport(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.Name() == "export" {
			cmd.RunE = runExport
			return
		}
	}
	panic("building the commands: there is no export command")
}

func runExport(cmd *cobra.Command, _ []string) (err error) {
	serverCtx := server.GetServerContextFromCmd(cmd)
	home, err := cmd.Flags().GetString(flags.FlagHome)
	if err != nil {
		return err
	}
	serverCtx.Config.SetRoot(home)
	document, err := genesisFrame(serverCtx.Config.GenesisFile())
	if err != nil {
		return err
	}
	height, err := cmd.Flags().GetInt64(server.FlagHeight)
	if err != nil {
		return err
	}
	db, err := dbm.NewDB("application", server.GetAppDBBackend(serverCtx.Viper), filepath.Join(home, "data"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// The genesis is what the command prints: the SDK's logger would write into it.
	logger, err := server.CreateSDKLogger(serverCtx, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	chain, err := loadApp(logger, db, height, serverCtx.Viper)
	if err != nil {
		return err
	}
	if chain.LastBlockHeight() == 0 {
		return fmt.Errorf("the node of %s has committed no block yet: there is no state to export", home)
	}
	forZeroHeight, err := cmd.Flags().GetBool(server.FlagForZeroHeight)
	if err != nil {
		return err
	}
	modules, err := cmd.Flags().GetStringSlice(server.FlagModulesToExport)
	if err != nil {
		return err
	}
	output, err := cmd.Flags().GetString(flags.FlagOutputDocument)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return writeExport(w, chain, document, forZeroHeight, modules) }
	if output == "" {
		return buffered(cmd.OutOrStdout(), write)
	}
	return writeFile(output, func(file io.Writer) error {
		return buffered(file, func(w io.Writer) error { return write(&indenter{to: w}) })
	})
}

// genesisFrame reads the genesis of the running chain without the state that it began with, which may be large.
func genesisFrame(path string) (*genutiltypes.AppGenesis, error) {
	raw, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	fields, err := genesis.Fields(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	delete(fields, "app_state")
	frame, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	return genutiltypes.AppGenesisFromReader(bytes.NewReader(frame))
}

// loadApp loads the application at a height, or at the latest if it is -1.
func loadApp(logger log.Logger, db dbm.DB, height int64, appOpts servertypes.AppOptions) (*app.App, error) {
	chain := app.New(logger, db, nil, height == -1, appOpts)
	if height == -1 {
		return chain, nil
	}
	return chain, chain.LoadHeight(height)
}

// statePlace is where the frame of the exported genesis has the state; no string and no object of it holds this.
var statePlace = []byte(`{"":""}`)

// writeExport writes a genesis for the height after the application's, in which the state comes before the validators.
func writeExport(w io.Writer, chain *app.App, document *genutiltypes.AppGenesis, forZeroHeight bool, modules []string) error {
	if forZeroHeight {
		return app.ErrZeroHeight
	}
	frame := *document
	frame.AppName, frame.AppVersion = version.AppName, version.Version
	frame.InitialHeight, frame.AppState = chain.LastBlockHeight()+1, statePlace
	before, _, err := splitFrame(&frame)
	if err != nil {
		return err
	}
	if _, err := w.Write(before); err != nil {
		return err
	}
	exported, err := chain.ExportTo(w, forZeroHeight, modules)
	if err != nil {
		return err
	}
	frame.Consensus = genutiltypes.NewConsensusGenesis(exported.ConsensusParams, exported.Validators)
	_, after, err := splitFrame(&frame)
	if err != nil {
		return err
	}
	_, err = w.Write(after)
	return err
}

func splitFrame(frame *genutiltypes.AppGenesis) (before, after []byte, err error) {
	raw, err := json.Marshal(frame)
	if err != nil {
		return nil, nil, err
	}
	before, after, found := bytes.Cut(raw, statePlace)
	if !found {
		return nil, nil, errors.New("the genesis has no place for the state")
	}
	return before, after, nil
}

func buffered(w io.Writer, write func(io.Writer) error) error {
	buffer := bufio.NewWriterSize(w, 1<<20)
	if err := write(buffer); err != nil {
		return err
	}
	return buffer.Flush()
}

// writeFile writes a file that only the user can read, and removes it if that fails.
func writeFile(path string, write func(io.Writer) error) (err error) {
	file, err := os.OpenFile(filepath.Clean(path), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	return write(file)
}

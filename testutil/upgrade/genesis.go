package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cosmos/cosmos-sdk/crypto/keys/secp256k1"
	"github.com/cosmos/cosmos-sdk/types/bech32"

	"github.com/cosmos-timers/timers/testutil/node"
)

// fixture is the state of a chain of the first format; its README says what the files are.
type fixture struct {
	dir    string
	height int64
	// modules are the genesis states of all modules.
	modules map[string]json.RawMessage
}

func readFixture(dir string) (*fixture, error) {
	var state struct {
		Height  int64                      `json:"height"`
		Modules map[string]json.RawMessage `json:"modules"`
	}
	if err := readJSON(filepath.Join(dir, "app.json"), &state); err != nil {
		return nil, err
	}
	f := &fixture{dir: dir, height: state.Height, modules: state.Modules}
	timers, err := os.ReadFile(filepath.Join(dir, "timers.json"))
	if err != nil {
		return nil, err
	}
	f.modules["timers"] = timers
	return f, f.change("wasm", f.addCode)
}

// addCode puts the contracts' code back, which has files of its own.
func (f *fixture) addCode(wasm map[string]any) error {
	for _, entry := range list(wasm["codes"]) {
		code := object(entry)
		bz, err := os.ReadFile(filepath.Join(f.dir, "..", fmt.Sprintf("code-%s.wasm", code["code_id"])))
		if err != nil {
			return err
		}
		code["code_bytes"] = base64.StdEncoding.EncodeToString(bz)
	}
	return nil
}

// validateWith makes a node's validator that of the state, whose own key nobody has.
func (f *fixture) validateWith(n *node.Node) error {
	var key struct {
		Address string `json:"address"`
		PubKey  struct {
			Value string `json:"value"`
		} `json:"pub_key"`
	}
	if err := readJSON(filepath.Join(n.Home, "config", "priv_validator_key.json"), &key); err != nil {
		return err
	}
	raw, err := hex.DecodeString(key.Address)
	if err != nil {
		return err
	}
	address, err := bech32.ConvertAndEncode("timervalcons", raw)
	if err != nil {
		return err
	}
	if err := f.change("staking", func(staking map[string]any) error {
		object(object(list(staking["validators"])[0])["consensus_pubkey"])["key"] = key.PubKey.Value
		return nil
	}); err != nil {
		return err
	}
	if err := f.change("distribution", func(distribution map[string]any) error {
		distribution["previous_proposer"] = address
		return nil
	}); err != nil {
		return err
	}
	// The chain in memory had no votes of validators, and so nothing to say of who signed.
	return f.change("slashing", func(slashing map[string]any) error {
		slashing["signing_infos"] = []any{map[string]any{
			"address": address,
			"validator_signing_info": map[string]any{
				"address": address, "start_height": fmt.Sprint(f.height), "jailed_until": time.Unix(0, 0).UTC().Format(time.RFC3339),
			},
		}}
		return nil
	})
}

// voteFor sets the voting periods: people and their command line need longer than a chain in memory.
func (f *fixture) voteFor(period, expedited string) error {
	return f.change("gov", func(gov map[string]any) error {
		params := object(gov["params"])
		params["voting_period"], params["expedited_voting_period"] = period, expedited
		return nil
	})
}

// change changes the state of a module.
func (f *fixture) change(module string, how func(map[string]any) error) error {
	state := map[string]any{}
	if err := json.Unmarshal(f.modules[module], &state); err != nil {
		return fmt.Errorf("%s: %w", module, err)
	}
	if err := how(state); err != nil {
		return fmt.Errorf("%s: %w", module, err)
	}
	var err error
	f.modules[module], err = json.Marshal(state)
	return err
}

// write makes the state the genesis of a node that has not started.
func (f *fixture) write(n *node.Node) error {
	path := filepath.Join(n.Home, "config", "genesis.json")
	genesis := map[string]json.RawMessage{}
	if err := readJSON(path, &genesis); err != nil {
		return err
	}
	state, err := json.Marshal(f.modules)
	if err != nil {
		return err
	}
	genesis["app_state"] = state
	genesis["initial_height"] = json.RawMessage(fmt.Sprintf(`"%d"`, f.height+1))
	bz, err := json.Marshal(genesis)
	if err != nil {
		return err
	}
	return os.WriteFile(path, bz, 0o600)
}

// keyOf is the private key of an account of the state in hexadecimal: its secret is derived from its name.
func keyOf(name string) string {
	secret := sha256.Sum256([]byte("timers/appchain/" + name))
	return hex.EncodeToString(secp256k1.GenPrivKeyFromSecret(secret[:]).Key)
}

func readJSON(path string, into any) error {
	bz, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(bz, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// list and object are what JSON of a known form holds; of another form they are empty.
func list(value any) []any {
	l, _ := value.([]any)
	return l
}

func object(value any) map[string]any {
	o, _ := value.(map[string]any)
	return o
}

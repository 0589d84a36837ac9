package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	errorsmod "cosmossdk.io/errors"

	"github.com/cosmos-timers/timers/x/timers/client/cli"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// What people get wrong is told in words of the command line: which argument, which value, and what would be right.
func TestMistakesAreExplained(t *testing.T) {
	user := t.TempDir()
	home := filepath.Join(user, ".timerd")
	writeHome(t, home, "chain-1", "tcp://127.0.0.1:1", "text")
	must(t, user, "keys", "add", "alice")
	for line, want := range map[string][]string{
		"query timers list carol":                                                             {`timers of "carol"`, "neither an address of this chain", "nor the name of a key"},
		"tx timers schedule alice 5utmr --after 1h --from alice":                              {`"alice" is one: did you mean timerd tx timers schedule send alice?`},
		"query timers due abc":                                                                {`"abc" is no height: want a whole number`},
		"query timers due":                                                                    {"timerd query timers due wants 1 argument, [height or time], and got none"},
		"query timers fairness carol":                                                         {`actor: "carol"`, "neither an address of this chain nor the name of a key"},
		"query timers receipts abc":                                                           {`"abc" is no height: want a whole number from 1 on`},
		"query timers list":                                                                   {"whose timers? want an actor"},
		"tx timers schedule sendd bob 5utmr --from alice":                                     {`there is no command "sendd" below "timerd tx timers schedule": did you mean "send"`},
		"tx timers schedule send bob --from alice":                                            {"timerd tx timers schedule send wants 2 arguments, [recipient] [amount], and got 1"},
		"tx timers shedule --msgs x.json --from alice":                                        {`there is no command "shedule" below "timerd tx timers": did you mean "schedule"`},
		"tx timers schedule send.json --from alice":                                           {"did you mean --msgs send.json?"},
		"tx timers schedule --msgs x --after 5 min":                                           {`"min" is one`, "--after 5m"},
		"tx timers cancel ab --from nobody":                                                   {`there is no key "nobody" in the key ring (--keyring-backend test) of ` + home, "timerd keys list"},
		"tx timers schedule send bob 5utmr --after 5 min":                                     {"got 3", "a value with a space in it is quoted", "--after 5m"},
		"tx timers schedule --gas-limit x --at 9 --from alice":                                {`"x" is no`},
		"query timers lane":                                                                   {"no node answers at", "is it running? --node names another"},
		"query timers lane --node tcp://127.0.0.1:9":                                          {"no node answers at tcp://127.0.0.1:9"},
		"tx timers schedule send bob 5utmr --at 9 --retries 100 --retry-after 5 --from alice": {"neither an address"},
		"tx timers schedule send alice 5utmr --in 12345678901234567890123 --from alice":       {"--in: ", "is too large a number of blocks"},
		"tx timers schedule send alice 5utmr --at 9 --count 3 --from alice":                   {"is stated without --every or --watch"},
		"query timers monitor --blocks x":                                                     {`--blocks: "x": is no whole number`},
		"query timers check-config --limit x --set a=b":                                       {`--limit: "x": is no whole number`},
		"query timers watches --actor carol":                                                  {`--actor: "carol"`, "neither an address of this chain", "nor the name of a key"},
		"tx bank send alice alice 1.5utmr":                                                    {`"1.5utmr" has a part of the smallest unit, which would be cut off: want a whole number, such as 1utmr`},
		"tx staking delegate VALIDATOR 1.9utmr --from alice":                                  {`"1.9utmr" has a part of the smallest unit`},
		"tx bank send alice alice 1utmr --fees 0.5utmr":                                       {`--fees "0.5utmr" has a part of the smallest unit`},
		"tx bank send alice alice -5utmr":                                                     {`"-5utmr" is below 0: want more than 0`},
		"tx timers schedule send alice -5utmr --at 9 --from alice":                            {`"-5utmr" is below 0: want more than 0`},
		"tx timers schedule send alice 5utmr --aftr 1m --from alice":                          {"unknown flag: --aftr: did you mean --after?"},
		"query timers lane --hight 5":                                                         {"unknown flag: --hight: did you mean --height?"},
		"query timers check-config":                                                           {"the config is missing: want a file, or --set KEY=VALUE"},
	} {
		t.Run(line, func(t *testing.T) {
			out, err := timerd(t, user, strings.Fields(line)...)
			require.Error(t, err)
			for _, text := range want {
				require.Contains(t, out, text)
			}
			for _, noise := range []string{".go:", "strconv", `"--0"`, "rpc error"} {
				require.NotContains(t, out, noise)
			}
			require.Equal(t, 1, strings.Count(strings.TrimSpace(out), "\n")+1, "one sentence: %s", out)
		})
	}
	require.Contains(t, must(t, user, "tx", "timers", "--help"), "schedule")
	require.Contains(t, must(t, user, "tx", "timers"), "schedule")
}

// What a node answers is told without the wrappings of each hop.
func TestAnswersOfANodeAreUnwrapped(t *testing.T) {
	inner := errors.New("rpc error: code = Unknown desc = rpc error: code = InvalidArgument desc = bob is an account: invalid request with gas used: '5': unknown request")
	err := explain(newRootCmd(t.TempDir()), []string{"query", "timers", "lane"}, inner)
	require.EqualError(t, err, "bob is an account: invalid request")
	require.ErrorIs(t, err, inner)

	registered := errorsmod.Wrap(types.ErrInvalidConfig, "too small")
	require.Contains(t, fmt.Sprint(registered), ".go:", "what is to be left out")
	err = explain(newRootCmd(t.TempDir()), []string{"query", "timers", "lane"}, registered)
	require.Equal(t, "too small: invalid timer config", fmt.Sprint(err))
}

// That a node is away is why the end of a transaction is unknown, and does not take the place of its hash.
func TestAnUnknownEndIsToldWhole(t *testing.T) {
	end := unknownEnd{errors.New("transaction AB was broadcast, and what became of it is unknown: post failed: Post \"x\": dial tcp: connection refused")}
	err := explain(newRootCmd(t.TempDir()), []string{"tx", "timers", "cancel"}, end)
	require.ErrorContains(t, err, "transaction AB was broadcast")
	require.Equal(t, 3, cli.ExitCode(err))
	require.Equal(t, 1, cli.ExitCode(errors.New("any other")))
}

type unknownEnd struct{ error }

func (unknownEnd) ExitCode() int { return 3 }

// Shells are offered the names of the keys of the home.
func TestShellsAreOfferedKeys(t *testing.T) {
	user := t.TempDir()
	home := filepath.Join(user, ".timerd")
	require.NotContains(t, must(t, user, "__complete", "tx", "timers", "cancel", "--from", ""), "alice")
	writeHome(t, home, "chain-1", "tcp://127.0.0.1:1", "text")
	must(t, user, "keys", "add", "alice")
	require.Contains(t, must(t, user, "__complete", "tx", "timers", "schedule", "send", "--from", ""), "alice\n")
	require.Contains(t, must(t, user, "__complete", "query", "timers", "list", ""), "alice\n")
	require.NotContains(t, must(t, user, "__complete", "tx", "timers", "cancel", "--from", "alice", ""), "Error")
	for _, shell := range []string{"bash", "zsh"} {
		require.Contains(t, must(t, user, "completion", shell), "__complete")
	}
}

// Sponsors of timers are told of the fault that deletes renewed allowances.
func TestSponsorsAreWarned(t *testing.T) {
	user := t.TempDir()
	writeHome(t, filepath.Join(user, ".timerd"), "chain-1", "tcp://127.0.0.1:1", "text")
	must(t, user, "keys", "add", "alice")
	line := []string{"tx", "feegrant", "grant", "alice", "timer1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqd4c8vl", "--allowed-messages"}
	out, _ := timerd(t, user, append(line, "/timers.v1.MsgScheduleTimer")...)
	require.Contains(t, out, "note: x/feegrant 0.2.0 deletes an allowance that replaces an earlier one")
	out, _ = timerd(t, user, append(line, "/cosmos.bank.v1beta1.MsgSend")...)
	require.NotContains(t, out, "x/feegrant 0.2.0")
}

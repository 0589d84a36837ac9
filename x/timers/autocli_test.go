package timers_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/cosmos/gogoproto/proto"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"cosmossdk.io/client/v2/autocli"
	"cosmossdk.io/core/appmodule"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/codec/address"
	"github.com/cosmos/cosmos-sdk/types/module/testutil"

	"github.com/cosmos-timers/timers/x/timers"
)

// rootCmd is a root command with nothing but what the module brings, mounted as an app mounts it.
func rootCmd(t *testing.T) *cobra.Command {
	t.Helper()
	encoding := testutil.MakeTestEncodingConfig(timers.AppModule{})
	root := &cobra.Command{Use: "chaind", SilenceErrors: true}
	options := autocli.AppOptions{
		Modules:               map[string]appmodule.AppModule{"timers": timers.AppModule{}},
		AddressCodec:          address.NewBech32Codec("chain"),
		ValidatorAddressCodec: address.NewBech32Codec("chainvaloper"),
		ConsensusAddressCodec: address.NewBech32Codec("chainvalcons"),
		ClientCtx:             client.Context{InterfaceRegistry: encoding.InterfaceRegistry, Codec: encoding.Codec},
	}
	require.NoError(t, options.EnhanceRootCommand(root))
	return root
}

// methods of a service, by name.
func methods(t *testing.T, service protoreflect.FullName) []string {
	t.Helper()
	registry, err := proto.MergedRegistry()
	require.NoError(t, err)
	found, err := registry.FindDescriptorByName(service)
	require.NoError(t, err)
	descriptor, ok := found.(protoreflect.ServiceDescriptor)
	require.True(t, ok)
	var names []string
	for i := range descriptor.Methods().Len() {
		names = append(names, string(descriptor.Methods().Get(i).Name()))
	}
	return names
}

// commands says how each method of the services is called from the command line, and with which flags of its own.
var commands = map[string]map[string]struct {
	use   string
	flags []string
}{
	"query": {
		"Params":        {use: "params"},
		"Timer":         {use: "timer [actor/id-prefix]", flags: []string{"height", "keyring-backend"}},
		"TimersByActor": {use: "list [actor]", flags: []string{"page-limit", "page-key", "status", "from"}},
		"Due":           {use: "due [height or time]", flags: []string{"until", "page-limit"}},
		"Ready":         {use: "ready", flags: []string{"page-limit"}},
		"Lane":          {use: "lane"},
		"Fairness":      {use: "fairness [actor]"},
		"Estimate":      {use: "estimate", flags: []string{"gas-limit", "tier", "max-fee", "max-priority", "actor", "output"}},
		"Occurrences":   {use: "occurrences [actor/id-prefix]", flags: []string{"count", "zone"}},
		"Agent":         {use: "agent [actor]"},
		"OnHold":        {use: "on-hold", flags: []string{"page-limit"}},
		"Receipts":      {use: "receipts [height]", flags: []string{"page-limit"}},
		"Deliveries":    {use: "deliveries [actor]", flags: []string{"id", "page-limit", "page-key", "page-reverse"}},
		"Watchable":     {use: "watchable"},
		"WatchKey":      {use: "watch-key [text]"},
		"Watches":       {use: "watches", flags: []string{"store", "prefix", "actor", "page-limit"}},
	},
	"tx": {
		"ScheduleTimer": {use: "schedule", flags: []string{
			"msgs", "payload", "payload-file", "handler", "at", "in", "after", "watch", "count", "gas-limit", "expires-in", "expires-at",
			"fee-payer", "max-fee", "max-priority", "tier", "agent", "wait", "wait-timeout",
			"every", "first", "on-failure", "retries", "retry-after", "on-unfunded",
		}},
		"UpdateTimer": {use: "update [id-prefix] [what-it-does]...", flags: []string{
			"msgs", "payload", "payload-file", "handler", "gas-limit", "max-fee", "max-priority", "tier", "agent", "default-bid",
			"at", "every", "watch", "only-if", "retries", "on-unfunded", "renew",
		}},
		"ExtendTimer":       {use: "extend [id-prefix]", flags: []string{"until", "by", "shorten"}},
		"CancelTimer":       {use: "cancel [id-prefix]...", flags: []string{"all"}},
		"PauseTimer":        {use: "pause [id-prefix]"},
		"ResumeTimer":       {use: "resume [id-prefix]", flags: []string{"next"}},
		"SkipTimer":         {use: "skip [id-prefix]", flags: []string{"count"}},
		"RunTimer":          {use: "run [id-prefix]"},
		"SetAgent":          {use: "set-agent [address]", flags: []string{"clear"}},
		"SysCancelTimer":    {use: "sys-cancel-timer [actor] [id]", flags: []string{"title", "deposit", "no-proposal"}},
		"UpdateTimerConfig": {use: "update-timer-config [file]", flags: []string{"title", "deposit", "set"}},
		"SysExtendTimer":    {use: "sys-extend-timer [actor] [id] [until]", flags: []string{"title", "deposit", "no-proposal"}},
		"SysReleaseTimer":   {use: "sys-release-timer [actor] [id]", flags: []string{"title", "deposit", "no-proposal"}},
	},
}

// beside are the commands that stand for no single method.
var beside = map[string][]string{"query": {"monitor [actor]", "describe [actor/id-prefix]", "history [actor[/id-prefix]]", "config-diff [proposal-id]", "check-config [file]", "proof [actor/id-prefix]", "verify [file]"}, "tx": {"grant [grantee]", "apply", "diff"}}

// Rule: 9.1-commands
func TestEveryMethodHasOneCommand(t *testing.T) {
	root := rootCmd(t)
	for kind, service := range map[string]protoreflect.FullName{"query": "timers.v1.Query", "tx": "timers.v1.Msg"} {
		parent, _, err := root.Find([]string{kind, "timers"})
		require.NoError(t, err)
		uses := map[string]*cobra.Command{}
		for _, cmd := range parent.Commands() {
			require.NotContains(t, uses, cmd.Use, "two commands of one name")
			uses[cmd.Use] = cmd
		}
		for _, method := range methods(t, service) {
			t.Run(kind+"/"+method, func(t *testing.T) {
				want, listed := commands[kind][method]
				require.True(t, listed, "no command is expected for %s: add it to the table", method)
				cmd, found := uses[want.use]
				require.True(t, found, "no command %q among %v", want.use, uses)
				for _, flag := range want.flags {
					require.NotNil(t, cmd.Flags().Lookup(flag), "flag --%s", flag)
				}
				positional := strings.Count(want.use, "[")
				require.NoError(t, cmd.Args(cmd, make([]string, positional)))
				if !strings.HasSuffix(want.use, "...") {
					require.Error(t, cmd.Args(cmd, make([]string, positional+1)))
				}
				require.NotContains(t, cmd.Short, "RPC method", "AutoCLI's own text says nothing")
				delete(uses, want.use)
			})
		}
		for _, use := range beside[kind] {
			require.Contains(t, uses, use)
			delete(uses, use)
		}
		require.Empty(t, uses, "commands that no method stands behind")
	}
}

func TestHelpOfEveryCommand(t *testing.T) {
	for kind, byMethod := range commands {
		for _, want := range byMethod {
			name, _, _ := strings.Cut(want.use, " ")
			t.Run(kind+"/"+name, func(t *testing.T) {
				root := rootCmd(t)
				var out bytes.Buffer
				root.SetOut(&out)
				root.SetArgs([]string{kind, "timers", name, "--help"})
				require.NoError(t, root.ExecuteContext(context.Background()))
				require.Contains(t, out.String(), "chaind "+kind+" timers "+want.use)
				require.Contains(t, out.String(), "Examples:")
				for _, flag := range want.flags {
					require.Contains(t, out.String(), "--"+flag)
				}
			})
		}
	}
}

func TestNoChainIsNamedInHelp(t *testing.T) {
	root := rootCmd(t)
	for _, kind := range []string{"query", "tx"} {
		parent, _, err := root.Find([]string{kind, "timers"})
		require.NoError(t, err)
		for _, cmd := range parent.Commands() {
			text := cmd.Long + cmd.Short + cmd.Example + cmd.Flags().FlagUsages()
			for _, named := range []string{"timerd", "utmr", "timer1"} {
				require.NotContains(t, text, named, cmd.Use)
			}
		}
	}
}

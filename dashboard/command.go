// Package dashboard is the command that shows a chain's timers in a browser: it follows a node, keeps the history that the
// chain's state does not, and serves one page with its JSON.
package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/crypto/keyring"
	"github.com/cosmos/cosmos-sdk/version"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/dashboard/alert"
	"github.com/cosmos-timers/timers/dashboard/api"
	"github.com/cosmos-timers/timers/dashboard/follow"
	"github.com/cosmos-timers/timers/dashboard/store"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagListen   = "listen"
	flagDatabase = "db"
	flagBacklog  = "backlog"
	flagInterval = "interval"
	flagHosts    = "host"
	flagWebhook  = "webhook"
	flagActors   = "webhook-actor"
	flagNewChain = "new-chain"
	flagWallet   = "wallet"
)

// NewCommand is the command dashboard.
func NewCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Show the chain's timers in a browser, with their history",
		Long: `Follow a node, keep what happens to timers in a database, SQLite or PostgreSQL, and serve a page that shows it: what is
wrong, use and prices of the lane, what is coming, the ready backlog, fires as they happen, one timer's whole life, an
actor's timers with totals, what a timer would cost, and the parameters. It only reads.

It goes on where it stopped, and waits for a node that is away. At a node of another chain it ends; --new-chain drops the
history instead. Owners are named by the keys of the home's key ring, if that asks for no password.

The page is served on loopback unless --listen says otherwise. It has no login: put a proxy before it that has one.

With --webhook, the first failure of a row and the success that ends it, payers without funds, what waits for someone to act,
and the end of each timer with its cause are posted as JSON.`,
		Example: fmt.Sprintf(`%[1]s dashboard --node tcp://localhost:26657
%[1]s dashboard --webhook http://127.0.0.1:9000/hook --webhook-actor tmr1...`, version.AppName),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd) },
	}
	f := cmd.Flags()
	flags.AddKeyringFlags(f)
	f.String(flags.FlagNode, "tcp://localhost:26657", "RPC of the node")
	f.String(flagListen, "127.0.0.1:8090", "address to serve the page on")
	f.String(flagDatabase, "", "file of the SQLite database, or postgres://USER@HOST/NAME (default: data/dashboard.db in the home)")
	f.Int64(flagBacklog, 0, "blocks before the latest to read at the first start (default: all that the node has)")
	f.Duration(flagInterval, 500*time.Millisecond, "how often the node is asked for its height, at least 50ms")
	f.StringSlice(flagHosts, nil, "further names under which the page is asked for")
	f.String(flagWebhook, "", "URL to post alerts to")
	f.Bool(flagNewChain, false, "drop the history of another chain in the database, and begin that of the node's (default: refuse)")
	f.String(flagWallet, "", "URL of a page with a wallet, in which owners change timers, to link to")
	f.StringSlice(flagActors, nil, "actors whose timers alerts are about (default: all)")
	return cmd
}

// options are what the flags ask for.
type options struct {
	listen, database, webhook, wallet string
	backlog                           int64
	interval                          time.Duration
	hosts, actors                     []string
	newChain                          bool
}

func readOptions(cmd *cobra.Command, home string) (o options, err error) {
	f := cmd.Flags()
	var errs [9]error
	o.listen, errs[0] = f.GetString(flagListen)
	o.database, errs[1] = f.GetString(flagDatabase)
	o.backlog, errs[2] = f.GetInt64(flagBacklog)
	o.interval, errs[3] = f.GetDuration(flagInterval)
	o.hosts, errs[4] = f.GetStringSlice(flagHosts)
	o.webhook, errs[5] = f.GetString(flagWebhook)
	o.actors, errs[6] = f.GetStringSlice(flagActors)
	o.newChain, errs[7] = f.GetBool(flagNewChain)
	o.wallet, errs[8] = f.GetString(flagWallet)
	if err := errors.Join(errs[:]...); err != nil {
		return o, err
	}
	if o.database == "" {
		o.database = filepath.Join(home, "data", "dashboard.db")
	}
	if o.interval < 50*time.Millisecond {
		return o, fmt.Errorf("--%s %s is too short: want at least 50ms", flagInterval, o.interval)
	}
	if o.backlog < 0 {
		return o, fmt.Errorf("--%s %d: want 0 or more", flagBacklog, o.backlog)
	}
	return o, errors.Join(checkURL(flagWebhook, o.webhook), checkURL(flagWallet, o.wallet))
}

// checkURL refuses what is neither empty nor a URL of http or https.
func checkURL(flag, text string) error {
	at, err := url.Parse(text)
	if text == "" || err == nil && at.Host != "" && (at.Scheme == "http" || at.Scheme == "https") {
		return nil
	}
	return fmt.Errorf("--%s %q: want an http or https URL", flag, text)
}

func run(cmd *cobra.Command) (err error) {
	clientCtx, err := client.GetClientQueryContext(cmd)
	if err != nil {
		return err
	}
	o, err := readOptions(cmd, clientCtx.HomeDir)
	if err != nil {
		return err
	}
	node, err := clientCtx.GetNode()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if !store.IsURL(o.database) {
		if err := os.MkdirAll(filepath.Dir(o.database), 0o700); err != nil {
			return err
		}
	}
	history, err := store.Open(ctx, o.database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, history.Close()) }()
	note := func(format string, args ...any) { cmd.PrintErrf(format+"\n", args...) }

	server := &api.Server{
		Store: history, Query: types.NewQueryClient(clientCtx), Bank: banktypes.NewQueryClient(clientCtx), Hosts: o.hosts, Codec: clientCtx.Codec,
		Names: keyNames(clientCtx, note), Now: time.Now, Wallet: o.wallet, Note: note,
	}
	wake := make(chan struct{}, 1)
	follower := &follow.Follower{
		Source: follow.Node{RPC: node}, Store: history, Backlog: o.backlog, Interval: o.interval, Note: note,
		NewChain: o.newChain,
	}
	server.Node = follower.Health
	handler := server.Handler()
	follower.OnBlock = func(b *store.Block, events []store.Event) {
		server.Publish(b, events)
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	jobs := []func(context.Context) error{
		follower.Run,
		func(ctx context.Context) error { return serve(ctx, o.listen, handler, note) },
	}
	if o.webhook != "" {
		alerts := &alert.Alerts{
			Store: history, URL: o.webhook, Actors: o.actors, Note: note, Pause: time.Second,
			Client: &http.Client{Timeout: 10 * time.Second},
			Look:   (&alert.Owners{Timers: server.Query, Bank: server.Bank, Codec: clientCtx.Codec, Registry: clientCtx.InterfaceRegistry}).Look,
		}
		jobs = append(jobs, func(ctx context.Context) error { return alerts.Run(ctx, wake) })
	}
	return together(ctx, jobs)
}

// keyNames are the names of the keys in the key ring of the home, by their addresses. A key ring that asks for a password is
// left alone: the page shows addresses then.
func keyNames(clientCtx client.Context, note func(string, ...any)) map[string]string {
	names := map[string]string{}
	ring := clientCtx.Keyring
	if ring == nil || ring.Backend() != keyring.BackendTest && ring.Backend() != keyring.BackendMemory {
		return names
	}
	records, err := ring.List()
	if err != nil {
		note("names of keys are not shown: %v", err)
		return names
	}
	for _, record := range records {
		addr, err := record.GetAddress()
		if err != nil {
			continue // A key whose type this program does not know.
		}
		if text, err := clientCtx.InterfaceRegistry.SigningContext().AddressCodec().BytesToString(addr); err == nil {
			names[text] = record.Name
		}
	}
	return names
}

// together runs jobs until the context ends or one of them fails.
func together(ctx context.Context, jobs []func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, len(jobs))
	for _, job := range jobs {
		go func() { done <- job(ctx) }()
	}
	var errs []error
	for range jobs {
		errs = append(errs, <-done)
		cancel()
	}
	return errors.Join(errs...)
}

func serve(ctx context.Context, listen string, handler http.Handler, note func(string, ...any)) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	note("the dashboard is at http://%s", listener.Addr())
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10,
		BaseContext:    func(net.Listener) context.Context { return ctx },
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return server.Close()
	}
}

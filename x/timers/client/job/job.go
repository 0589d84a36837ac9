// Package job holds what all commands of the module share: the client, the flags, the accounts that people name, and the
// names of timers.
package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/client/tx"
	"github.com/cosmos/cosmos-sdk/crypto/keyring"
	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
	txtypes "github.com/cosmos/cosmos-sdk/types/tx"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
)

// shortestAddress is from which length on a text may be an address: what is wrong with it is worth a word then.
const shortestAddress = 39

// shortAddress is how many characters of an address are shown where it is short.
const shortAddress = 16

// gasAdjustment is by how much a transaction's gas is more than its simulation used, unless stated otherwise: a simulation
// leaves out what is signed, and runs on the state before the block.
const gasAdjustment = "1.4"

// Account is an address, as bytes and as text.
type Account struct {
	Bytes sdk.AccAddress
	Text  string
}

// Job is one run of a command.
type Job struct {
	client.Context
	Ctx   context.Context
	Flags *pflag.FlagSet
	Stdin io.Reader
	// Notes is where the user is told what was worked out: not on standard output, which carries the result.
	Notes io.Writer
	// Signer signs, and owns the timers. Not set in a query.
	Signer Account
	// Subject names the timer to which objections are made, where there are several.
	Subject string

	known *timespan.Clock
	// named are the names of keys by the bytes of their addresses, as far as they were asked for: each costs two decryptions.
	named map[string]string
	// listed: named has all keys there are. closed: the key ring can't be read.
	listed, closed bool
	// objections are what speaks against sending.
	objections []string
}

// NewTx reads the flags that transactions share.
func NewTx(cmd *cobra.Command) (*Job, error) {
	if err := nameGranter(cmd); err != nil {
		return nil, err
	}
	clientCtx, err := client.GetClientTxContext(cmd)
	if err != nil {
		return nil, err
	}
	j := New(cmd, clientCtx)
	if clientCtx.GetFromAddress().Empty() {
		return nil, fmt.Errorf("--%s is missing: want the name or the address of the key that signs and owns the timer", flags.FlagFrom)
	}
	if j.Signer, err = j.AccountOf(clientCtx.GetFromAddress()); err != nil {
		return nil, err
	}
	if _, err := j.Zone(); err != nil && !j.Offline {
		return nil, err
	}
	return j, j.exactFees()
}

// nameGranter lets --fee-granter name a key, of which the SDK reads addresses alone.
func nameGranter(cmd *cobra.Command) error {
	flag := cmd.Flags().Lookup(flags.FlagFeeGranter)
	if flag == nil || flag.Value.String() == "" {
		return nil
	}
	clientCtx, err := client.ReadPersistentCommandFlags(client.GetClientContextFromCmd(cmd), cmd.Flags())
	if err != nil {
		return err
	}
	granter, err := New(cmd, clientCtx).LookupAccount(flag.Value.String())
	if err != nil {
		return fmt.Errorf("--%s: %w", flags.FlagFeeGranter, err)
	}
	return flag.Value.Set(granter.Text)
}

// granterRefused is how x/auth refuses a transaction that another is to pay: with the bytes of both addresses.
var granterRefused = regexp.MustCompile(`(?s)^.*does not allow to pay fees for .*?: ([ -~]+)$`)

// InWords is why the chain refuses a transaction of the signer's. Of one that --fee-granter was to pay it says who grants
// whom nothing, and what would help.
func (j *Job) InWords(refusal string) string {
	m := granterRefused.FindStringSubmatch(refusal)
	if m == nil || j.FeeGranter.Empty() {
		return refusal
	}
	granter, err := j.AccountOf(j.FeeGranter)
	if err != nil {
		return refusal
	}
	from, to := j.Name(granter.Text), j.Name(j.Signer.Text)
	if plain.NoAllowance(m[1]) {
		return fmt.Sprintf("--%s: %s has granted %s no fee allowance, so %s can't have this transaction paid by it: %s would have to send tx feegrant grant %s %s",
			flags.FlagFeeGranter, from, to, to, from, granter.Text, j.Signer.Text)
	}
	return fmt.Sprintf("--%s: the fee allowance that %s has granted %s does not cover this transaction: %s", flags.FlagFeeGranter, from, to, m[1])
}

// New reads the context of a command.
func New(cmd *cobra.Command, clientCtx client.Context) *Job {
	clientCtx = clientCtx.WithCmdContext(cmd.Context()).WithOutput(cmd.OutOrStdout())
	return &Job{
		Context: clientCtx, Ctx: cmd.Context(), Flags: cmd.Flags(), Stdin: cmd.InOrStdin(), Notes: cmd.ErrOrStderr(),
	}
}

// Notef tells the user.
func (j *Job) Notef(format string, args ...any) { _, _ = fmt.Fprintf(j.Notes, format+"\n", args...) }

// Stated returns the text of a flag, and whether it was given.
func (j *Job) Stated(flag string) (string, bool) {
	if !j.Flags.Changed(flag) {
		return "", false
	}
	return j.Flags.Lookup(flag).Value.String(), true
}

// OneOf returns which of the flags was given: exactly one may be, and one must be if needed.
func (j *Job) OneOf(purpose string, needed bool, names ...string) (flag, value string, err error) {
	for _, candidate := range names {
		text, given := j.Stated(candidate)
		if !given {
			continue
		}
		if flag != "" {
			return "", "", fmt.Errorf("--%s %q and --%s %q both state %s: want one of them", flag, value, candidate, text, purpose)
		}
		flag, value = candidate, text
	}
	if flag == "" && needed {
		return "", "", fmt.Errorf("%s is missing: want one of %s", purpose, ListFlags(names))
	}
	return flag, value, nil
}

// ListFlags lists flags as people write them.
func ListFlags(names []string) string {
	text := ""
	for i, flag := range names {
		if i > 0 {
			text += ", "
		}
		text += "--" + flag
	}
	return text
}

// AccountOf writes an address as this chain does.
func (j *Job) AccountOf(addr sdk.AccAddress) (Account, error) {
	text, err := j.InterfaceRegistry.SigningContext().AddressCodec().BytesToString(addr)
	return Account{addr, text}, err
}

// otherPrefix is how an address of another chain is refused.
var otherPrefix = regexp.MustCompile(`expected '(\w+)' got '(\w+)'`)

// LookupAccount reads an address or the name of a key.
func (j *Job) LookupAccount(text string) (Account, error) {
	addr, err := j.InterfaceRegistry.SigningContext().AddressCodec().StringToBytes(text)
	if err == nil {
		return j.AccountOf(addr)
	}
	if j.Keyring != nil {
		if record, keyErr := j.Keyring.Key(text); keyErr == nil {
			addr, err := record.GetAddress()
			if err != nil {
				return Account{}, err
			}
			return j.AccountOf(addr)
		}
	}
	if m := otherPrefix.FindStringSubmatch(err.Error()); m != nil {
		return Account{}, fmt.Errorf("%.120q is an address of another chain (%s1...): want one that begins with %s1, or the name of a key", text, m[2], m[1])
	}
	why := ""
	if len(text) >= shortestAddress {
		reason, _, _ := strings.Cut(err.Error(), ": internal logic error")
		why = " (" + reason + ")"
	}
	return Account{}, fmt.Errorf("%.120q is neither an address of this chain%s nor the name of a key%s", text, why, j.nearKey(text))
}

// nearKey asks whether one of the keys was meant by what is the name of none.
func (j *Job) nearKey(text string) string {
	if len(text) >= shortestAddress || IsAmount(text) || j.closed || j.Keyring == nil {
		return ""
	}
	j.ReadKeyNames()
	near := Nearest(text, slices.DeleteFunc(slices.Sorted(maps.Values(j.named)), func(name string) bool { return name == "" || strings.ContainsAny(name, " \t") }))
	if len(near) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(near, " or ") + "?"
}

// LookupValidator reads the address of a validator's operator, or the account or the name of the key that operates it.
func (j *Job) LookupValidator(text string) (string, error) {
	codec := j.InterfaceRegistry.SigningContext().ValidatorAddressCodec()
	if _, err := codec.StringToBytes(text); err == nil {
		return text, nil
	}
	account, err := j.LookupAccount(text)
	if err != nil {
		return "", fmt.Errorf("%.120q is neither a validator's address, nor the account or the name of the key of its operator", text)
	}
	return codec.BytesToString(account.Bytes)
}

// Who is an address, of an account or of a validator's operator, as people know it: the name of its key before it, where
// there is one.
func (j *Job) Who(address string) string {
	if name := j.KeyName(address); name != "" {
		return name + " (" + address + ")"
	}
	return address
}

// Name is the same in short: the name of the key alone, or the ends of the address.
func (j *Job) Name(address string) string {
	if name := j.KeyName(address); name != "" {
		return name
	}
	return plain.Elide(address, shortAddress)
}

// HasKey reports whether the key ring has the signer's key.
func (j *Job) HasKey() bool { return j.KeyName(j.Signer.Text) != "" }

// IsMultisig tells whether the signer's key is a multisig. A node simulates no transaction of one: what is simulated has no
// signatures, and which members sign decides what they cost.
func (j *Job) IsMultisig() bool {
	if !j.HasKey() {
		return false
	}
	record, err := j.Keyring.KeyByAddress(j.FromAddress)
	return err == nil && record.GetType() == keyring.TypeMulti
}

// KeyName is the name of an address's key; empty if there is none. The key ring is asked once for each address. One that can't
// be read, as when its password is wrong, is not asked again, which would be for the password too.
func (j *Job) KeyName(address string) string {
	if j.Keyring == nil || j.closed {
		return ""
	}
	signing := j.InterfaceRegistry.SigningContext()
	addr, err := signing.AddressCodec().StringToBytes(address)
	if err != nil {
		if addr, err = signing.ValidatorAddressCodec().StringToBytes(address); err != nil {
			return ""
		}
	}
	if name, known := j.named[string(addr)]; known || j.listed {
		return name
	}
	record, err := j.Keyring.KeyByAddress(sdk.AccAddress(addr))
	switch {
	case errors.Is(err, sdkerrors.ErrKeyNotFound):
		j.nameKey(addr, "")
		return ""
	case err != nil:
		j.closeKeys(err)
		return ""
	}
	j.nameKey(addr, record.Name)
	return record.Name
}

// ReadKeyNames reads the names of all keys, so that the key ring, which may ask for its password, is not needed again for
// names.
func (j *Job) ReadKeyNames() {
	if j.Keyring == nil {
		return
	}
	records, err := j.Keyring.List()
	if err != nil {
		j.closeKeys(err)
		return
	}
	for _, record := range records {
		if addr, err := record.GetAddress(); err == nil {
			j.nameKey(addr, record.Name)
		}
	}
	j.listed = true
}

func (j *Job) nameKey(addr []byte, name string) {
	if j.named == nil {
		j.named = map[string]string{}
	}
	j.named[string(addr)] = name
}

func (j *Job) closeKeys(err error) {
	j.closed = true
	j.Notef("addresses are shown without the names of keys: the key ring (--%s %s) can't be read: %v",
		flags.FlagKeyringBackend, j.Keyring.Backend(), err)
}

// Clock asks the node what height it is, once. A chain that may be halted is an objection to a transaction, and a warning
// beside what is looked at.
func (j *Job) Clock() (timespan.Clock, error) {
	if j.known != nil {
		return *j.known, nil
	}
	if j.Offline {
		return timespan.Clock{}, fmt.Errorf("distances from now need a node: with --%s, state a height", flags.FlagOffline)
	}
	if _, err := j.Zone(); err != nil {
		return timespan.Clock{}, err
	}
	node, err := j.GetNode()
	if err != nil {
		return timespan.Clock{}, err
	}
	c, err := timespan.ReadClock(j.Ctx, node)
	if err != nil {
		return timespan.Clock{}, err
	}
	j.known = &c
	if c.Halted() {
		j.Object("%s", c.DescribeHalt())
		if j.Signer.Text == "" {
			j.Warn()
		}
	}
	return c, nil
}

// Zone is the zone in which times are read and shown. One that is not known is refused, and what may have been meant is
// named: the standard library takes it for UTC without a word.
func (j *Job) Zone() (*time.Location, error) {
	zone, err := timespan.MachineOf(j.Ctx).Zone()
	if unknown := (*timespan.UnknownZoneError)(nil); errors.As(err, &unknown) {
		if near := nearestZones(unknown.Name); len(near) > 0 {
			return nil, fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
		}
	}
	return zone, err
}

// Send signs and broadcasts, or prints, as the flags of transactions say, unless something speaks against it.
func (j *Job) Send(msgs ...sdk.Msg) error {
	if err := j.settle(); err != nil {
		return err
	}
	if j.IsAux {
		return tx.GenerateOrBroadcastTxCLI(j.Context, j.Flags, msgs...)
	}
	factory, err := tx.NewFactoryCLI(j.Context, j.Flags)
	if err != nil {
		return err
	}
	if factory.SimulateAndExecute() && !j.Offline {
		if factory, err = j.withGas(factory, msgs); err != nil {
			return err
		}
	}
	return tx.GenerateOrBroadcastTxWithFactory(j.Context, factory, msgs...)
}

// withGas states the gas that a transaction needs, by a simulation and --gas-adjustment. The SDK simulates without a fee
// unless --fees states one, and so without the gas that paying it takes: as much as a transfer, too much for a factor to
// cover where the messages are cheap. A gas of 1 makes a fee of any gas price.
func (j *Job) withGas(factory tx.Factory, msgs []sdk.Msg) (tx.Factory, error) {
	if j.IsMultisig() {
		return factory, fmt.Errorf("--%s %s: %s is a multisig, whose transactions no node simulates: state the gas, such as --%s 400000",
			flags.FlagGas, flags.GasFlagAuto, j.Name(j.Signer.Text), flags.FlagGas)
	}
	factory, err := factory.Prepare(j.Context)
	if err != nil {
		return factory, err
	}
	_, gas, factory, err := j.TryTx(factory.WithGas(1), msgs...)
	switch {
	case status.Code(err) == codes.Unknown && isStatus(err):
		return factory, errors.New(j.InWords(plain.Refusal(err)))
	case err != nil:
		return factory, err
	}
	j.Notef("gas estimate: %d", gas)
	return factory.WithGas(gas).WithSimulateAndExecute(false), nil
}

// isStatus tells an answer of a server from an error on the way to it.
func isStatus(err error) bool {
	_, ok := status.FromError(err)
	return ok
}

// wrongSequence is how the chain refuses a sequence.
var wrongSequence = regexp.MustCompile(`account sequence mismatch, expected (\d+), got (\d+)`)

// TryTx lets a node try a transaction of messages, and returns its answer and the gas to state. Where transactions of the
// signer's are in no block yet, the sequence is that of the next one, which the node knows. The SDK reads --sequence only
// offline.
func (j *Job) TryTx(factory tx.Factory, msgs ...sdk.Msg) (*txtypes.SimulateResponse, uint64, tx.Factory, error) {
	answer, gas, err := tx.CalculateGas(j.Context, factory, msgs...)
	if err == nil {
		return answer, gas, factory, nil
	}
	found := wrongSequence.FindStringSubmatch(err.Error())
	if found == nil {
		return nil, 0, factory, err
	}
	// What does not fit is 0, and so no later one.
	expected, _ := strconv.ParseUint(found[1], 10, 64)
	if expected <= factory.Sequence() {
		return nil, 0, factory, err
	}
	factory = factory.WithSequence(expected)
	answer, gas, err = tx.CalculateGas(j.Context, factory, msgs...)
	return answer, gas, factory, err
}

// QueryCommand adds what every query's command has.
func QueryCommand(cmd *cobra.Command) *cobra.Command {
	cmd.SilenceUsage = true
	flags.AddQueryFlagsToCmd(cmd)
	flags.AddKeyringFlags(cmd.Flags())
	return cmd
}

// TxCommand adds what every transaction's command has.
func TxCommand(cmd *cobra.Command) *cobra.Command {
	// A mistake is explained in its own words, without a page of flags after it.
	cmd.SilenceUsage = true
	flags.AddTxFlagsToCmd(cmd)
	adjustment := cmd.Flags().Lookup(flags.FlagGasAdjustment)
	if err := adjustment.Value.Set(gasAdjustment); err != nil {
		panic(err)
	}
	adjustment.DefValue = gasAdjustment
	return cmd
}

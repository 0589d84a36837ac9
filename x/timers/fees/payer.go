package fees

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// plainRecordBytes is the size of a payer's account up to which FIRE_BASE_CYCLES cover it: that of an account with one
// key.
const plainRecordBytes = 256

// The readings and writings of a fire that its payer's records count for (x/timers/README.md, "1.11 Fee payer").
const (
	// accountReads: by the check of its size, the check of the funds, and the transfer.
	accountReads = 3
	// vestingWrites is how many times writing a byte of a vesting account's record counts for reading it: at each check
	// and each transfer the bank goes through all of its periods and denoms, which takes that long (measured).
	vestingWrites = 4
	// allowanceReads: by the check of its size, the check of what it covers, and the draw, which also writes it.
	allowanceReads = 3
)

// CheckPayer returns an error unless the payer may be charged for timers that the principal schedules. The payer is the
// principal itself, or an account that has granted it a fee allowance that names the module's message. A blocked address
// never pays, since a refund could not reach it. A module account pays for its own timers only. An empty payer is the
// principal. It returns the cycles that each fire counts for what the payer's records take.
func (f *Fees) CheckPayer(ctx context.Context, config *types.TimerConfig, payer, principal sdk.AccAddress) (cycles uint64, err error) {
	if len(payer) == 0 {
		payer = principal
	}
	sdkCtx := sdk.UnwrapSDKContext(ctx)
	if f.Bank.BlockedAddr(payer) {
		return 0, types.ErrInvalidFeePayer.Wrapf("%s is blocked from receiving funds, refunds included", f.Addresses.Text(payer))
	}
	account, cycles, err := f.readAccount(ctx, payer)
	if err != nil {
		return 0, err
	}
	if _, isModule := account.(sdk.ModuleAccountI); isModule && !payer.Equals(principal) {
		return 0, types.ErrInvalidFeePayer.Wrapf("%s is a module account, which pays for its own timers only; name an account that grants an allowance", f.Addresses.Text(payer))
	}
	if payer.Equals(principal) {
		return cycles, nil
	}
	more, err := f.readAllowance(sdkCtx, payer, principal)
	if err == nil {
		// The cost of a fire is not known yet. So the check is for one unit: does the allowance hold?
		err = f.allowanceCovers(sdkCtx, payer, principal, coins(config, math.OneInt()))
	}
	if err != nil {
		return 0, types.ErrInvalidFeePayer.Wrapf("%s has granted %s no fee allowance that covers %s: %s",
			f.Addresses.Text(payer), f.Addresses.Text(principal), scheduleURL, types.ReasonOf(err))
	}
	return cycles + more, nil
}

// scheduleURL is the message type that an allowance must name.
var scheduleURL = sdk.MsgTypeURL(&types.MsgScheduleTimer{})

// Spendable is what an account can spend of the fee denom. It is 0 for an account whose record is too large to pay for
// timers.
func (f *Fees) Spendable(ctx context.Context, config *types.TimerConfig, addr sdk.AccAddress) math.Int {
	account, _, err := f.readAccount(ctx, addr)
	if err != nil {
		return math.ZeroInt()
	}
	found := f.look(ctx, config, addr)
	return math.MaxInt(math.ZeroInt(), f.spendableOf(sdk.UnwrapSDKContext(ctx), config, account, found.balance))
}

// Lacks reports whether an account can spend less than one of these coins. The error is that of an account whose record is too large
// to be looked at.
func (f *Fees) Lacks(ctx context.Context, addr sdk.AccAddress, wanted []sdk.Coin) (bool, error) {
	if len(wanted) == 0 {
		return false, nil
	}
	account, _, err := f.readAccount(ctx, addr)
	if err != nil {
		return false, err
	}
	var locked sdk.Coins
	if vests, is := account.(vesting); is {
		locked = vests.LockedCoins(sdk.UnwrapSDKContext(ctx).BlockTime())
	}
	for _, coin := range wanted {
		if f.Bank.GetBalance(ctx, addr, coin.Denom).Amount.Sub(locked.AmountOf(coin.Denom)).LT(coin.Amount) {
			return true, nil
		}
	}
	return false, nil
}

// look is what an account has, and where that is if payers are debited directly.
func (f *Fees) look(ctx context.Context, config *types.TimerConfig, addr sdk.AccAddress) (found Payer) {
	if f.Balances == nil {
		// Not the bank's SpendableCoin, which panics if more is locked than is there, as after a slash.
		found.balance = f.Bank.GetBalance(ctx, addr, config.FeeDenom).Amount
		return found
	}
	found.holding = f.holding(ctx, config, addr)
	found.balance = found.holding.balance(ctx)
	return found
}

// Covers reports whether the payer can be debited for the amount, and has consented to it.
func (f *Fees) Covers(ctx context.Context, config *types.TimerConfig, t *types.Timer, amount math.Int) bool {
	_, covers := f.covers(ctx, config, t, amount)
	return covers
}

// Payer is a payer as a check found it.
type Payer struct {
	// Cycles that its records count.
	Cycles uint64

	// balance is set if something was owed, holding also if payers are debited directly.
	balance math.Int
	holding holding
	// spendable is nil if its account is too large to be read, or nothing was owed.
	spendable math.Int
}

// covers reports as Covers does, and returns what it found. A payer whose records are too large lacks funds.
func (f *Fees) covers(ctx context.Context, config *types.TimerConfig, t *types.Timer, amount math.Int) (found Payer, covers bool) {
	payer, owes := t.Payer(), amount.IsPositive() || t.Sponsored()
	if owes {
		found = f.look(ctx, config, payer)
		if amount.IsPositive() && found.balance.IsZero() {
			// It can spend nothing, whatever its account says, which need not be read.
			found.spendable = found.balance
			return found, false
		}
	}
	sdkCtx := sdk.UnwrapSDKContext(ctx)
	account, cycles, err := f.readAccount(ctx, payer)
	if err != nil {
		return Payer{}, false
	}
	found.Cycles = cycles
	if !owes {
		return found, true
	}
	found.spendable = f.spendableOf(sdkCtx, config, account, found.balance)
	if found.spendable.LT(amount) {
		return found, false
	}
	if !t.Sponsored() {
		return found, true
	}
	more, err := f.readAllowance(sdkCtx, payer, t.Principal())
	found.Cycles += more
	return found, err == nil && f.allowanceCovers(sdkCtx, payer, t.Principal(), coins(config, amount)) == nil
}

// vesting is an account of which some coins are locked. The bank computes them again whenever it is asked.
type vesting interface {
	LockedCoins(blockTime time.Time) sdk.Coins
}

// readAccount reads a payer's account, and returns the cycles that its record counts. It reads no record that exceeds
// MAX_PAYER_RECORD_BYTES. The account is nil if there is none, and may be nil if it is a plain one.
func (f *Fees) readAccount(ctx context.Context, payer sdk.AccAddress) (account sdk.AccountI, cycles uint64, err error) {
	prices := sdk.UnwrapSDKContext(ctx).KVGasConfig()
	if f.AccountStore != nil {
		size, plain, err := f.readPlain(ctx, payer)
		if err == nil && size > market.MaxPayerRecordBytes {
			err = tooLarge("account", size, sandbox.ErrTooLarge)
		}
		if plain || err != nil {
			return nil, accountCycles(prices, size, false), err
		}
		// It has been charged.
		ctx = types.Unmetered(ctx)
	}
	size, err := sandbox.ReadAtMost(sdk.UnwrapSDKContext(ctx), market.MaxPayerRecordBytes, func(ctx sdk.Context) error {
		account = f.Accounts.GetAccount(ctx, payer)
		return nil
	})
	if err != nil {
		return nil, 0, tooLarge("account", size, err)
	}
	_, isVesting := account.(vesting)
	return account, accountCycles(prices, size, isVesting), nil
}

// plainAccount is how the record of an account begins that has no type but the usual one: the field of its type's name.
var plainAccount = func() []byte {
	name := sdk.MsgTypeURL(&authtypes.BaseAccount{})
	return append([]byte{1<<3 | 2, byte(len(name))}, name...)
}()

// readPlain reads the bytes of an account's record, without decoding them, and reports whether it is a plain one, or none. It
// charges for them what the keeper's reading does.
func (f *Fees) readPlain(ctx context.Context, payer sdk.AccAddress) (size uint64, plain bool, err error) {
	key := slices.Concat(authtypes.AddressStoreKeyPrefix.Bytes(), payer)
	record, err := f.AccountStore.OpenKVStore(ctx).Get(key)
	return uint64(len(key) + len(record)), record == nil || bytes.HasPrefix(record, plainAccount), err
}

// accountCycles is what reading an account of so many bytes counts at the store's prices.
func accountCycles(prices storetypes.GasConfig, size uint64, isVesting bool) uint64 {
	if size <= plainRecordBytes {
		return 0
	}
	if isVesting {
		return (size - plainRecordBytes) * vestingWrites * prices.WriteCostPerByte
	}
	return (size - plainRecordBytes) * accountReads * prices.ReadCostPerByte
}

// readAllowance checks the allowance by which a payer consents to the actor's timers, and returns the cycles that its
// record counts. It must name the module's message: one for everything was granted with transactions in mind, which the
// grantee pays for as well, and not with what a timer pays every block.
func (f *Fees) readAllowance(ctx sdk.Context, payer, actor sdk.AccAddress) (cycles uint64, err error) {
	if f.Feegrant == nil {
		return 0, types.ErrInvalidFeePayer.Wrap("this chain has no fee allowances")
	}
	var allowance feegrant.FeeAllowanceI
	size, err := sandbox.ReadAtMost(ctx, market.MaxPayerRecordBytes, func(ctx sdk.Context) (err error) {
		allowance, err = f.Feegrant.GetAllowance(ctx, payer, actor)
		return err
	})
	if err != nil {
		return 0, tooLarge("allowance", size, err)
	}
	named, ok := allowance.(*feegrant.AllowedMsgAllowance)
	if !ok || !slices.Contains(named.AllowedMessages, scheduleURL) {
		return 0, types.ErrInvalidFeePayer.Wrapf("the allowance does not name the message; want an AllowedMsgAllowance that lists it")
	}
	return allowanceCycles(ctx.KVGasConfig(), size), nil
}

// allowanceCycles is what reading and writing an allowance of so many bytes counts at the store's prices.
func allowanceCycles(prices storetypes.GasConfig, size uint64) uint64 {
	return allowanceReads*(prices.ReadCostFlat+prices.ReadCostPerByte*size) + prices.WriteCostFlat + prices.WriteCostPerByte*size
}

// tooLarge says which record may not be read for its size; any other error stays as it is.
func tooLarge(record string, size uint64, err error) error {
	if !errors.Is(err, sandbox.ErrTooLarge) {
		return err
	}
	return types.ErrInvalidFeePayer.Wrapf("the payer's %s takes %d bytes in state, want at most %d", record, size, market.MaxPayerRecordBytes)
}

// allowanceCovers returns nil if the payer's allowance to the actor covers this fee. It draws nothing.
func (f *Fees) allowanceCovers(ctx sdk.Context, payer, actor sdk.AccAddress, fee sdk.Coins) error {
	return sandbox.Probe(ctx, func(ctx sdk.Context) error { return f.drawAllowance(ctx, payer, actor, fee) })
}

// drawAllowance draws a fee on the payer's allowance to the actor, as for a message that schedules a timer.
func (f *Fees) drawAllowance(ctx context.Context, payer, actor sdk.AccAddress, fee sdk.Coins) error {
	return f.Feegrant.UseGrantedFees(ctx, payer, actor, fee, []sdk.Msg{&types.MsgScheduleTimer{}})
}

// Shortfalls remembers payers that were found unable to cover a timer. So a crowd of timers of one payer costs one look
// at its account. Invariant: what is remembered is what the bank and x/feegrant would answer now; whoever changes
// balances or allowances forgets. The maps are looked up, never ranged over.
type Shortfalls struct {
	fees   *Fees
	config *types.TimerConfig
	// spendable amounts of payers, and the refused amounts of allowances.
	spendable map[string]math.Int
	refused   map[refusal]bool
}

// refusal is an amount that a payer's allowance to an actor does not cover.
type refusal struct{ payer, actor, amount string }

// Shortfalls returns an empty memory, which may last as long as the config.
func (f *Fees) Shortfalls(config *types.TimerConfig) *Shortfalls {
	return &Shortfalls{fees: f, config: config, spendable: map[string]math.Int{}, refused: map[refusal]bool{}}
}

// Forget forgets all: balances or allowances may have changed.
func (s *Shortfalls) Forget() {
	if len(s.spendable) > 0 {
		s.spendable = map[string]math.Int{}
	}
	if len(s.refused) > 0 {
		s.refused = map[refusal]bool{}
	}
}

// ForgetPayer forgets an account that may have received something.
func (s *Shortfalls) ForgetPayer(payer sdk.AccAddress) { delete(s.spendable, string(payer)) }

// Known reports whether it is remembered that the payer can't cover the amount.
func (s *Shortfalls) Known(t *types.Timer, amount math.Int) bool {
	if has, known := s.spendable[string(t.Payer())]; known && has.LT(amount) {
		return true
	}
	return len(s.refused) > 0 && s.refused[refusalOf(t, amount)]
}

// PreCharge is that of Fees, and returns the payer for the refund. It remembers if the payer can't cover the amount.
func (s *Shortfalls) PreCharge(ctx context.Context, t *types.Timer, amount math.Int) (Payer, error) {
	payer, covers := s.look(ctx, t, amount)
	if !covers {
		return payer, types.ErrInsufficientFunds
	}
	return payer, s.fees.debit(ctx, s.config, t, &payer, amount)
}

// Covers reports whether the payer can be debited for the amount, and remembers if it can't.
func (s *Shortfalls) Covers(ctx sdk.Context, t *types.Timer, amount math.Int) bool {
	if s.Known(t, amount) {
		return false
	}
	_, covers := s.look(ctx, t, amount)
	return covers
}

// look looks at the payer, and remembers what it found if that does not cover the amount.
func (s *Shortfalls) look(ctx context.Context, t *types.Timer, amount math.Int) (Payer, bool) {
	payer, covers := s.fees.covers(ctx, s.config, t, amount)
	if covers {
		return payer, true
	}
	has := math.ZeroInt()
	if !payer.spendable.IsNil() {
		has = math.MaxInt(has, payer.spendable)
	}
	if s.spendable[string(t.Payer())] = has; has.GTE(amount) {
		s.refused[refusalOf(t, amount)] = true
	}
	return payer, false
}

// Spendable is what an account can spend of the fee denom. It is remembered.
func (s *Shortfalls) Spendable(ctx sdk.Context, payer sdk.AccAddress) math.Int {
	has, known := s.spendable[string(payer)]
	if !known {
		has = s.fees.Spendable(ctx, s.config, payer)
		s.spendable[string(payer)] = has
	}
	return has
}

func refusalOf(t *types.Timer, amount math.Int) refusal {
	return refusal{string(t.Payer()), string(t.Principal()), amount.String()}
}

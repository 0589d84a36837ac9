package load

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/client/tx"
	"github.com/cosmos/cosmos-sdk/crypto/keys/secp256k1"
	cryptotypes "github.com/cosmos/cosmos-sdk/crypto/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/tx/signing"
	authsigning "github.com/cosmos/cosmos-sdk/x/auth/signing"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Gas of the run's transactions and limits of its timers, with room: a transaction, a schedule with many timers of the
// same actor, a transfer, an output of the funding; and a fire that sends coins.
const (
	gasTx, gasSchedule, gasTransfer, gasOutput = 120_000, 50_000, 120_000, 60_000
	fireCycles, fireCells                      = 50_000, 1_000
	// cyclesPerFire is a little more than such a fire uses.
	cyclesPerFire = 40_000
	// outputsAtOnce is how many workers one transaction funds.
	outputsAtOnce = 100
	// waitBlocks is how many blocks the funding may take to be included.
	waitBlocks = 50
)

// worker is an account of the run.
type worker struct {
	key              cryptotypes.PrivKey
	address          sdk.AccAddress
	number, sequence uint64
}

// node is a running node as the Chain of a driver.
type node struct {
	client.Context

	options Options
	denom   string
	workers []worker
	// addresses of the workers, and the timers that they have scheduled in this run: others are not counted, nor what an
	// earlier run left.
	addresses, timers map[string]bool
}

var _ Chain = (*node)(nil)

// newNode makes the keys of so many workers. Only who has the key of the run can make the same: what is left on them can
// be spent by the next run.
func newNode(clientCtx client.Context, o Options, denom string, workers int) (*node, error) {
	secret, _, err := clientCtx.Keyring.Sign(clientCtx.FromName, []byte("timers lab load"), signing.SignMode_SIGN_MODE_DIRECT)
	if err != nil {
		return nil, fmt.Errorf("deriving the workers' keys from %s: %w", clientCtx.FromName, err)
	}
	n := &node{Context: clientCtx, options: o, denom: denom, addresses: map[string]bool{}, timers: map[string]bool{}}
	for i := range workers {
		seed := sha256.Sum256(fmt.Appendf(nil, "%x/%d", secret, i))
		key := secp256k1.GenPrivKeyFromSecret(seed[:])
		w := worker{key: key, address: sdk.AccAddress(key.PubKey().Address())}
		n.workers = append(n.workers, w)
		n.addresses[w.address.String()] = true
	}
	return n, nil
}

// fund gives each worker its coins and reads the workers' accounts.
func (n *node) fund(ctx context.Context, factory tx.Factory) error {
	if err := n.checkFunds(ctx); err != nil {
		return err
	}
	coins := sdk.NewCoins(sdk.NewCoin(n.denom, n.options.Fund))
	for first := 0; first < len(n.workers); first += outputsAtOnce {
		batch := n.workers[first:min(first+outputsAtOnce, len(n.workers))]
		msg := &banktypes.MsgMultiSend{Inputs: []banktypes.Input{{
			Address: n.FromAddress.String(), Coins: sdk.NewCoins(sdk.NewCoin(n.denom, n.options.Fund.MulRaw(int64(len(batch))))),
		}}}
		for i := range batch {
			msg.Outputs = append(msg.Outputs, banktypes.Output{Address: batch[i].address.String(), Coins: coins})
		}
		if err := n.sendFunds(ctx, factory, msg, gasTx+gasOutput*uint64(len(batch))); err != nil {
			return err
		}
	}
	for i := range n.workers {
		if err := n.Resync(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// checkFunds returns an error if the run's key can't fund the workers.
func (n *node) checkFunds(ctx context.Context) error {
	answer, err := banktypes.NewQueryClient(n.Context).SpendableBalanceByDenom(ctx,
		&banktypes.QuerySpendableBalanceByDenomRequest{Address: n.FromAddress.String(), Denom: n.denom})
	if err != nil {
		return fmt.Errorf("asking for the funds of %s: %w", n.FromName, err)
	}
	workers := len(n.workers)
	batches := (workers + outputsAtOnce - 1) / outputsAtOnce
	fees := n.fee(uint64(gasTx*batches + gasOutput*workers))
	needed := n.options.Fund.MulRaw(int64(workers)).Add(fees.AmountOf(n.denom))
	if has := answer.Balance.Amount; has.LT(needed) {
		return fmt.Errorf("%s has %s, want at least %s to fund %d accounts with %s each: state less as --%s, or another key as --%s",
			n.FromName, answer.Balance, sdk.NewCoin(n.denom, needed), workers, n.options.Fund, flagFund, flags.FlagFrom)
	}
	return nil
}

// sendFunds sends one transaction of the run's key, and waits until it is in a block.
func (n *node) sendFunds(ctx context.Context, factory tx.Factory, msg sdk.Msg, gas uint64) error {
	factory, err := factory.Prepare(n.Context)
	if err != nil {
		return err
	}
	builder, err := factory.WithGas(gas).WithFees(n.fee(gas).String()).WithGasPrices("").BuildUnsignedTx(msg)
	if err != nil {
		return err
	}
	if err := tx.Sign(ctx, factory, n.FromName, builder, true); err != nil {
		return err
	}
	from, err := n.Height(ctx)
	if err != nil {
		return err
	}
	hash, err := n.broadcast(builder.GetTx())
	if err != nil {
		return fmt.Errorf("funding the workers: %w", err)
	}
	for height := from + 1; height <= from+waitBlocks; {
		latest, err := n.Height(ctx)
		if err != nil {
			return err
		}
		if latest < height {
			if err := pause(ctx); err != nil {
				return err
			}
			continue
		}
		block, err := n.Block(ctx, height)
		if err != nil {
			return err
		}
		if ok, found := block.Txs[hash]; found && !ok {
			return fmt.Errorf("funding the workers: transaction %s failed in block %d", hash, height)
		} else if found {
			return nil
		}
		height++
	}
	return fmt.Errorf("funding the workers: transaction %s is in none of %d blocks", hash, waitBlocks)
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pollEvery):
		return nil
	}
}

// Height implements Chain.
func (n *node) Height(ctx context.Context) (int64, error) {
	info, err := n.Client.ABCIInfo(ctx)
	if err != nil {
		return 0, err
	}
	return info.Response.LastBlockHeight, nil
}

// Block implements Chain.
func (n *node) Block(ctx context.Context, height int64) (Block, error) {
	header, err := n.Client.Block(ctx, &height)
	if err != nil {
		return Block{}, err
	}
	results, err := n.Client.BlockResults(ctx, &height)
	if err != nil {
		return Block{}, err
	}
	block := Block{Height: height, Time: header.Block.Time, Txs: map[string]bool{}}
	if len(results.TxsResults) != len(header.Block.Txs) {
		return Block{}, fmt.Errorf("block %d has %d transactions and %d results", height, len(header.Block.Txs), len(results.TxsResults))
	}
	for i, result := range results.TxsResults {
		block.Txs[fmt.Sprintf("%X", header.Block.Txs[i].Hash())] = result.Code == 0
		n.count(&block, result.Events)
	}
	n.count(&block, results.FinalizeBlockEvents)
	return block, nil
}

// count adds what events say of the run's timers.
func (n *node) count(block *Block, events []abci.Event) {
	for i := range events {
		kind, found := strings.CutPrefix(events[i].Type, "timers.v1.")
		if !found {
			continue
		}
		attributes := map[string]string{}
		for _, a := range events[i].Attributes {
			attributes[a.Key] = strings.Trim(a.Value, `"`)
		}
		n.countOne(block, kind, attributes)
	}
}

// countOne adds what an event says of a timer of this run.
func (n *node) countOne(block *Block, kind string, attributes map[string]string) {
	id := attributes["id"]
	if kind == "TimerScheduled" && n.addresses[attributes["actor"]] {
		n.timers[id] = true
		block.Scheduled++
	}
	if !n.timers[id] {
		return
	}
	switch kind {
	case "TimerFired":
		block.Fired++
		if late := attributes["late"]; late != "" && late != "0" {
			block.Late++
		}
	case "TimerExpired", "TimerCancelledInsufficientFunds":
		block.Left++
	default:
		return
	}
	delete(n.timers, id)
}

// Resync implements Chain.
func (n *node) Resync(_ context.Context, i int) (err error) {
	w := &n.workers[i]
	w.number, w.sequence, err = n.AccountRetriever.GetAccountNumberSequence(n.Context, w.address)
	return err
}

// Schedule implements Chain: each timer sends one unit of the coin back to its actor.
func (n *node) Schedule(ctx context.Context, i int, due []uint64) (string, error) {
	self := n.workers[i].address.String()
	payload, err := types.NewAccountPayload(n.transfer(i))
	if err != nil {
		return "", err
	}
	raw, err := payload.Marshal()
	if err != nil {
		return "", err
	}
	messages := make([]sdk.Msg, len(due))
	for j, height := range due {
		messages[j] = &types.MsgScheduleTimer{
			Sender: self, Spec: types.TimerSpec{
				Trigger: types.Trigger{Height: height}, Call: types.TimerCall{Payload: raw}, GasLimit: fireCycles, CellLimit: fireCells,
			},
		}
	}
	return n.sign(ctx, i, gasTx+gasSchedule*uint64(len(due)), messages...)
}

// Transfer implements Chain.
func (n *node) Transfer(ctx context.Context, i int) (string, error) {
	return n.sign(ctx, i, gasTransfer, n.transfer(i))
}

func (n *node) transfer(i int) sdk.Msg {
	self := n.workers[i].address.String()
	return &banktypes.MsgSend{FromAddress: self, ToAddress: self, Amount: sdk.NewCoins(sdk.NewInt64Coin(n.denom, 1))}
}

// sign sends a transaction of a worker.
func (n *node) sign(ctx context.Context, i int, gas uint64, messages ...sdk.Msg) (string, error) {
	w := &n.workers[i]
	builder := n.TxConfig.NewTxBuilder()
	if err := builder.SetMsgs(messages...); err != nil {
		return "", err
	}
	builder.SetGasLimit(gas)
	builder.SetFeeAmount(n.fee(gas))
	mode := signing.SignMode_SIGN_MODE_DIRECT
	blank := signing.SignatureV2{PubKey: w.key.PubKey(), Data: &signing.SingleSignatureData{SignMode: mode}, Sequence: w.sequence}
	if err := builder.SetSignatures(blank); err != nil {
		return "", err
	}
	signature, err := tx.SignWithPrivKey(ctx, mode, authsigning.SignerData{
		Address: w.address.String(), ChainID: n.ChainID, AccountNumber: w.number, Sequence: w.sequence, PubKey: w.key.PubKey(),
	}, builder, w.key, n.TxConfig, w.sequence)
	if err != nil {
		return "", err
	}
	if err := builder.SetSignatures(signature); err != nil {
		return "", err
	}
	hash, err := n.broadcast(builder.GetTx())
	if err == nil {
		w.sequence++
	}
	return hash, err
}

func (n *node) fee(gas uint64) sdk.Coins {
	return sdk.NewCoins(sdk.NewCoin(n.denom, n.options.GasPrice.MulInt(math.NewIntFromUint64(gas)).Ceil().TruncateInt()))
}

// broadcast hands a transaction to the node and returns its hash.
func (n *node) broadcast(built authsigning.Tx) (string, error) {
	raw, err := n.TxConfig.TxEncoder()(built)
	if err != nil {
		return "", err
	}
	response, err := n.WithBroadcastMode(flags.BroadcastSync).BroadcastTx(raw)
	if err != nil {
		return "", err
	}
	if response.Code != 0 {
		return "", errors.New("the node refused a transaction: " + response.RawLog)
	}
	return response.TxHash, nil
}

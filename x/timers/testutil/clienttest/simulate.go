package clienttest

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	errorsmod "cosmossdk.io/errors"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/crypto/types/multisig"
	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
	txtypes "github.com/cosmos/cosmos-sdk/types/tx"
	authsigning "github.com/cosmos/cosmos-sdk/x/auth/signing"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
)

// simulator simulates transactions as a node does, without their signatures and fees, and remembers what fee the last one states.
type simulator struct {
	txtypes.UnimplementedServiceServer
	rig *Rig
	// ante is the gas of the checks before the messages.
	ante uint64
}

// Simulates makes the node simulate transactions, whose checks use so much gas.
func (r *Rig) Simulates(ante uint64) {
	txtypes.RegisterServiceServer(r.queries, &simulator{rig: r, ante: ante})
}

// Simulate implements txtypes.ServiceServer.
func (s *simulator) Simulate(_ context.Context, request *txtypes.SimulateRequest) (*txtypes.SimulateResponse, error) {
	decoded, err := s.rig.Ctx.TxConfig.TxDecoder()(request.TxBytes)
	if err != nil {
		return nil, err
	}
	if paying, ok := decoded.(sdk.FeeTx); ok {
		s.rig.SimulatedFee = paying.GetFee()
	}
	if tx, ok := decoded.(authsigning.SigVerifiableTx); ok {
		// As a node refuses what a multisig has not signed.
		keys, err := tx.GetPubKeys()
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			if council, ok := key.(multisig.PubKey); ok {
				return nil, status.Errorf(codes.Unknown, "bit array size is incorrect, expecting: %d", len(council.GetPubKeys()))
			}
		}
	}
	if s.rig.Pending != 0 {
		tx, ok := decoded.(authsigning.SigVerifiableTx)
		if !ok {
			return nil, sdkerrors.ErrTxDecode.Wrapf("%T has no signatures", decoded)
		}
		signed, err := tx.GetSignaturesV2()
		if err != nil {
			return nil, err
		}
		if got := signed[0].Sequence; got != s.rig.Pending {
			err := sdkerrors.ErrWrongSequence.Wrapf("account sequence mismatch, expected %d, got %d", s.rig.Pending, got)
			return nil, status.Errorf(codes.Unknown, "%v with gas used: '%d'", err, s.ante)
		}
	}
	branch, _ := s.rig.Chain.Ctx().CacheContext()
	branch = branch.WithGasMeter(storetypes.NewInfiniteGasMeter())
	if err := s.debit(branch, decoded); err != nil {
		return nil, status.Error(codes.Unknown, err.Error())
	}
	result := &sdk.Result{}
	for _, msg := range decoded.GetMsgs() {
		one, err := s.rig.Chain.Messages.Handler(msg)(branch, msg)
		if err != nil {
			return nil, err
		}
		result.Events = append(result.Events, one.Events...)
	}
	used := branch.GasMeter().GasConsumed() + s.ante
	return &txtypes.SimulateResponse{GasInfo: &sdk.GasInfo{GasUsed: used}, Result: result}, nil
}

// debit takes the fee from the signer or its granter, as the checks of a transaction do.
func (s *simulator) debit(ctx sdk.Context, tx sdk.Tx) error {
	paying, ok := tx.(sdk.FeeTx)
	if !ok {
		return nil
	}
	payer := sdk.AccAddress(paying.FeePayer())
	if granter := sdk.AccAddress(paying.FeeGranter()); len(granter) > 0 && !granter.Equals(payer) {
		if err := s.rig.Chain.Feegrant.UseGrantedFees(ctx, granter, payer, paying.GetFee(), tx.GetMsgs()); err != nil {
			// As x/auth does: with the bytes of both.
			return errorsmod.Wrapf(err, "%s does not allow to pay fees for %s", []byte(granter), []byte(payer))
		}
		payer = granter
	}
	if paying.GetFee().IsZero() {
		return nil
	}
	return s.rig.Chain.Bank.SendCoinsFromAccountToModule(ctx, payer, authtypes.FeeCollectorName, paying.GetFee())
}

// Queries makes the node answer the queries of a module that the chain of the lab has not.
func (r *Rig) Queries(register func(*baseapp.GRPCQueryRouter)) { register(r.queries) }

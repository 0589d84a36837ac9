package evmbinding

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	errorsmod "cosmossdk.io/errors"

	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestReasonOf_IsTheSameInEachBuild: the text of this module stays, with the place in a list; of others there is the
// codespace and the code.
func TestReasonOf_IsTheSameInEachBuild(t *testing.T) {
	foreign := errorsmod.Wrap(sdkerrors.ErrInsufficientFunds, "5stake is smaller")
	for _, tc := range []struct {
		err  error
		want string
	}{
		{types.ErrTimerNotFound.Wrap("it"), "it: timer not found"},
		{inList(types.ErrTimerNotFound.Wrap("it"), 3), "number 3 of the list: it: timer not found"},
		{errValue, errValue.Error()},
		{vm.ErrWriteProtection, vm.ErrWriteProtection.Error()},
		{foreign, "sdk error 5"},
		{fmt.Errorf("the bank: %w", foreign), "undefined error 1"},
		{status.Error(codes.NotFound, types.ErrTimerNotFound.Wrap("it").Error()), "it: timer not found"},
		{fmt.Errorf("asked: %w", status.Error(codes.NotFound, "it")), "undefined error 1"},
		{errors.New("any"), "undefined error 1"},
	} {
		require.EqualError(t, reasonOf(tc.err), tc.want)
	}
}

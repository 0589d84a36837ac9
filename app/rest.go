package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// What the gateway says of a parameter that it can't read: it quotes functions and types of Go, and does not name a
// parameter of the query.
var (
	inPath   = regexp.MustCompile(`^type mismatch, parameter: (\S+), error: (?s:(.*))$`)
	noValue  = regexp.MustCompile(`^strconv\.(\w+): parsing ("(?s:.*)"): (.*)$`)
	noChoice = regexp.MustCompile(`^(?s:(.*)) is not a valid (\w+\.\w+)$`)
)

// explainParameters is the gateway's answer to a request that failed, in words where a parameter could not be read.
func explainParameters(
	ctx context.Context, mux *runtime.ServeMux, m runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error,
) {
	if s := status.Convert(err); s.Code() == codes.InvalidArgument {
		err = status.Error(codes.InvalidArgument, plainParameter(s.Message(), r.URL.Query()))
	}
	runtime.DefaultHTTPProtoErrorHandler(ctx, mux, m, w, r, err)
}

// plainParameter says which parameter could not be read, and what it takes. Other messages stay as they are.
func plainParameter(message string, asked url.Values) string {
	name, says := "", message
	if m := inPath.FindStringSubmatch(message); m != nil {
		name, says = m[1], m[2]
	}
	var value, wants string
	if m := noValue.FindStringSubmatch(says); m != nil {
		text, err := strconv.Unquote(m[2])
		if err != nil {
			return message
		}
		value, wants = text, wanted(m[1], m[3])
	} else if m := noChoice.FindStringSubmatch(says); m != nil {
		value, wants = m[1], choices(m[2])
	} else {
		return message
	}
	for key, values := range asked {
		if name == "" && slices.Contains(values, value) {
			name = key
		}
	}
	return fmt.Sprintf("%s %.80q can't be read: want %s", name, value, wants)
}

// wanted is what a function of strconv takes.
func wanted(function, why string) string {
	switch {
	case function == "ParseBool":
		return "true or false"
	case why == strconv.ErrRange.Error():
		return "a smaller number"
	case function == "ParseUint":
		return "a whole number, 0 or more"
	default:
		return "a whole number"
	}
}

// choices are the names that REST takes for an enum: short ones for the tiers of bids.
func choices(enum string) string {
	if enum != "types.PriorityTier" {
		return "one of its names or numbers"
	}
	var names []string
	for tier := types.TierUnspecified + 1; types.PriorityTier_name[int32(tier)] != ""; tier++ {
		names = append(names, plain.TierName(tier))
	}
	return "one of " + strings.Join(names, ", ")
}

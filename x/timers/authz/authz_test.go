package authz_test

import (
	"bytes"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/log"
	"cosmossdk.io/math"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/authz"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	alice = "cosmos1qyqszqgpqyqszqgpqyqszqgpqyqszqgpjnp7du"
	bob   = "cosmos1qgpqyqszqgpqyqszqgpqyqszqgpqyqszrh8mx2"

	sendURL = "/cosmos.bank.v1beta1.MsgSend"
	voteURL = "/cosmos.gov.v1.MsgVote"
)

// ctxAt is a context of a block.
func ctxAt(height int64) sdk.Context {
	return sdk.NewContext(nil, cmtproto.Header{Height: height}, false, log.NewNopLogger())
}

// payload of messages of these types; nothing in them is read.
func payload(urls ...string) []byte {
	p := types.AccountPayload{}
	for _, url := range urls {
		p.Messages = append(p.Messages, &codectypes.Any{TypeUrl: url, Value: []byte{1, 2, 3}})
	}
	bz, err := p.Marshal()
	if err != nil {
		panic(err)
	}
	return bz
}

func static(maxFee, maxTip string) *types.Bid {
	return &types.Bid{Static: &types.StaticBid{
		MaxFeePerCycle: decimal.Of(math.LegacyMustNewDecFromStr(maxFee)), MaxPriorityFeePerCycle: decimal.Of(math.LegacyMustNewDecFromStr(maxTip)),
	}}
}

func tier(tier types.PriorityTier) *types.Bid { return &types.Bid{Tier: tier} }

func price(price string) *types.Bid { return &types.Bid{Price: price} }

// scheduling authorizes one timer that runs a send or a vote three times at most, until height 100.
func scheduling(changes ...func(*authz.TimerAuthorization)) *authz.TimerAuthorization {
	a := &authz.TimerAuthorization{
		MsgTypeUrl: sdk.MsgTypeURL(&types.MsgScheduleTimer{}), ExpiresAt: 100, ExpiresTime: 1_000, UsesLeft: 1, MaxFires: 3,
		AllowedMessages: []string{sendURL, voteURL}, GasLimit: 90_000,
	}
	for _, change := range changes {
		change(a)
	}
	return a
}

// scheduled is a timer that scheduling accepts.
func scheduled(changes ...func(*types.MsgScheduleTimer)) *types.MsgScheduleTimer {
	msg := &types.MsgScheduleTimer{
		Sender: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 60}, GasLimit: 90_000, ExpiresAt: 100, Call: types.TimerCall{Payload: payload(sendURL, voteURL)}},
	}
	for _, change := range changes {
		change(msg)
	}
	return msg
}

// stated states messages of these types in place of a payload.
func stated(urls ...string) func(*types.MsgScheduleTimer) {
	return func(m *types.MsgScheduleTimer) {
		m.Spec.Call.Payload, m.Spec.Call.Messages = nil, nil
		for _, url := range urls {
			m.Spec.Call.Messages = append(m.Spec.Call.Messages, &codectypes.Any{TypeUrl: url})
		}
	}
}

// authorizing is an authorization of another type of message than scheduling.
func authorizing(msg sdk.Msg, changes ...func(*authz.TimerAuthorization)) *authz.TimerAuthorization {
	a := &authz.TimerAuthorization{MsgTypeUrl: sdk.MsgTypeURL(msg), ExpiresAt: 100, ExpiresTime: 1_000, UsesLeft: 1}
	for _, change := range changes {
		change(a)
	}
	return a
}

// TestEachLimitOfScheduling: for each limit, what just keeps to it and what just does not.
//
// Rule: 3.8-expires-at, 3.8-allowed-messages, 3.8-max-fires, 3.8-gas-limit, 3.8-cell-limit, 3.8-max-bid
// Rule: 3.8-states-bounds, 3.8-granter-pays, 3.8-errors
func TestEachLimitOfScheduling(t *testing.T) {
	type bounds = func(*authz.TimerAuthorization)
	type change = func(*types.MsgScheduleTimer)
	none := func(*authz.TimerAuthorization) {}
	bid := func(bid *types.Bid) change { return func(m *types.MsgScheduleTimer) { m.Spec.Bid = bid } }
	limit := func(bid *types.Bid) bounds { return func(a *authz.TimerAuthorization) { a.MaxBid = bid } }
	interval := func(remaining uint64, retries uint32) change {
		return func(m *types.MsgScheduleTimer) {
			m.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}
			m.Spec.Repeat = &types.Repeat{Remaining: remaining}
			if retries > 0 {
				m.Spec.Retry = &types.Retry{Max: retries, After: 1}
			}
		}
	}
	byTime := func(remaining uint64, expiresAt uint64, expiresTime int64) change {
		return func(m *types.MsgScheduleTimer) {
			m.Spec.Trigger = types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 60}}}
			m.Spec.Repeat = &types.Repeat{Remaining: remaining}
			m.Spec.ExpiresAt, m.Spec.ExpiresTime = expiresAt, expiresTime
		}
	}
	for name, tc := range map[string]struct {
		bounds bounds
		change change
		words  string
	}{
		"a calendar":               {none, byTime(3, 0, 1_000), ""},
		"a calendar, too late":     {none, byTime(3, 0, 1_001), "expires_time is 1001, want at most 1000"},
		"a calendar, too often":    {none, byTime(4, 0, 1_000), "4 repetitions of up to 1 tries are more than 3 fires"},
		"a calendar without bound": {none, byTime(0, 0, 1_000), "remaining is missing"},
		"a calendar by default":    {none, byTime(3, 0, 0), "the end is missing: state expires_at up to 100 or"},
		"a calendar by height":     {none, byTime(3, 100, 0), "expires_at is 100, and the trigger is a time or a calendar: state expires_time"},
		"a height by time":         {none, func(m *types.MsgScheduleTimer) { m.Spec.ExpiresAt, m.Spec.ExpiresTime = 0, 900 }, "expires_time is 900, and the trigger counts heights"},
		"a name":                   {none, func(m *types.MsgScheduleTimer) { m.Spec.Name = "rent" }, "name is \"rent\", want none"},
		"as allowed":               {none, func(*types.MsgScheduleTimer) {}, ""},
		"expires earlier":          {none, func(m *types.MsgScheduleTimer) { m.Spec.ExpiresAt = 60 }, ""},
		"expires later":            {none, func(m *types.MsgScheduleTimer) { m.Spec.ExpiresAt = 101 }, "expires_at is 101, want at most 100"},
		"expires by default":       {none, func(m *types.MsgScheduleTimer) { m.Spec.ExpiresAt = 0 }, "the end is missing"},
		"less gas":                 {none, func(m *types.MsgScheduleTimer) { m.Spec.GasLimit = 1 }, ""},
		"more gas":                 {none, func(m *types.MsgScheduleTimer) { m.Spec.GasLimit++ }, "gas_limit is 90001, want at most 90000"},
		"gas by default":           {none, func(m *types.MsgScheduleTimer) { m.Spec.GasLimit = 0 }, "gas_limit is missing: state at most 90000"},
		"cells":                    {none, func(m *types.MsgScheduleTimer) { m.Spec.CellLimit = 1 }, "cell_limit is 1, want none"},
		"enough cells":             {func(a *authz.TimerAuthorization) { a.CellLimit = 5 }, func(m *types.MsgScheduleTimer) { m.Spec.CellLimit = 5 }, ""},
		"more cells":               {func(a *authz.TimerAuthorization) { a.CellLimit = 5 }, func(m *types.MsgScheduleTimer) { m.Spec.CellLimit = 6 }, "cell_limit is 6, want at most 5"},
		"cells by default":         {func(a *authz.TimerAuthorization) { a.CellLimit = 5 }, func(*types.MsgScheduleTimer) {}, "cell_limit is missing: state at most 5"},
		"the granter pays":         {none, func(m *types.MsgScheduleTimer) { m.Spec.FeePayer = alice }, ""},
		"another pays":             {none, func(m *types.MsgScheduleTimer) { m.Spec.FeePayer = bob }, "fee_payer is " + bob + ", want none"},
		"calls a contract":         {none, func(m *types.MsgScheduleTimer) { m.Actor = bob }, "actor is " + bob + ", want none"},
		"the default handler":      {none, func(m *types.MsgScheduleTimer) { m.Spec.Call.Handler = types.DefaultHandler }, ""},
		"another handler":          {none, func(m *types.MsgScheduleTimer) { m.Spec.Call.Handler = "withdraw" }, `handler is "withdraw", want handle_timer`},

		"three times":           {none, interval(3, 0), ""},
		"four times":            {none, interval(4, 0), "4 repetitions of up to 1 tries are more than 3 fires"},
		"once with two retries": {none, interval(1, 2), ""},
		"twice with a retry":    {none, interval(2, 1), "2 repetitions of up to 2 tries are more than 3 fires"},
		"most retries":          {none, interval(1, 1<<32-1), "more than 3 fires"},
		"most of both":          {none, interval(1<<64-1, 1<<32-1), "more than 3 fires"},
		"until it expires":      {none, interval(0, 0), "remaining is missing: the timer could fire without end, want at most 3 fires"},
		"three changes": {none, func(m *types.MsgScheduleTimer) {
			m.Spec.Trigger = types.Trigger{Watch: &types.WatchTrigger{}}
			m.Spec.Repeat = &types.Repeat{Remaining: 3}
		}, ""},
		"every change":           {none, func(m *types.MsgScheduleTimer) { m.Spec.Trigger = types.Trigger{Watch: &types.WatchTrigger{}} }, "remaining is missing"},
		"one shot with a retry":  {none, func(m *types.MsgScheduleTimer) { m.Spec.Retry = &types.Retry{Max: 2, After: 1} }, ""},
		"one shot, more retries": {none, func(m *types.MsgScheduleTimer) { m.Spec.Retry = &types.Retry{Max: 3, After: 1} }, "1 repetitions of up to 4 tries are more than 3 fires"},

		"one message":     {none, func(m *types.MsgScheduleTimer) { m.Spec.Call.Payload = payload(voteURL) }, ""},
		"another message": {none, func(m *types.MsgScheduleTimer) { m.Spec.Call.Payload = payload(voteURL, "/x.Y") }, `message 1 of the payload is "/x.Y", which allowed_messages does not list`},
		"a longer name":   {none, func(m *types.MsgScheduleTimer) { m.Spec.Call.Payload = payload("x" + sendURL) }, "does not list"},
		"most messages": {none, func(m *types.MsgScheduleTimer) {
			m.Spec.Call.Payload = payload(slices.Repeat([]string{sendURL}, 128)...)
		}, ""},
		"too many messages": {none, func(m *types.MsgScheduleTimer) {
			m.Spec.Call.Payload = payload(slices.Repeat([]string{sendURL}, 129)...)
		}, "more than 128 messages"},
		"no messages":            {none, func(m *types.MsgScheduleTimer) { m.Spec.Call.Payload = nil }, "the payload has no messages"},
		"stated messages":        {none, stated(sendURL, voteURL), ""},
		"most stated messages":   {none, stated(slices.Repeat([]string{sendURL}, 128)...), ""},
		"another stated message": {none, stated(sendURL, "/x.Y"), `message 1 of the payload is "/x.Y", which allowed_messages does not list`},
		"too many of them":       {none, stated(slices.Repeat([]string{sendURL}, 129)...), "there are 129 messages, want at most 128"},
		"both forms":             {none, func(m *types.MsgScheduleTimer) { stated(sendURL)(m); m.Spec.Call.Payload = payload(sendURL) }, "messages are stated together with a payload"},
		"a hidden form":          {none, func(m *types.MsgScheduleTimer) { stated(sendURL)(m); m.Spec.Call.Payload = payload("/x.Y") }, "messages are stated together with a payload"},
		"a message that is none": {none, func(m *types.MsgScheduleTimer) {
			m.Spec.Call.Payload, m.Spec.Call.Messages = nil, []*codectypes.Any{nil}
		}, `message 0 of the payload is ""`},
		"messages of another one": {none, func(m *types.MsgScheduleTimer) { stated(sendURL)(m); m.Spec.Call.Handler = "withdraw" }, `handler is "withdraw"`},
		"an envelope": {none, func(m *types.MsgScheduleTimer) {
			m.Spec.Call.Payload = []byte(`{"_handler":"handle_timer","_payload":""}`)
		}, "the payload is no timers.v1.AccountPayload"},
		"a cut payload": {none, func(m *types.MsgScheduleTimer) {
			m.Spec.Call.Payload = m.Spec.Call.Payload[:len(m.Spec.Call.Payload)-1]
		}, "the payload is no timers.v1.AccountPayload"},
		"two types in one": {none, func(m *types.MsgScheduleTimer) {
			// The last one counts, for whoever decodes it.
			inner := slices.Concat([]byte{10, byte(len(sendURL))}, []byte(sendURL), []byte{10, 4}, []byte("/x.Y"))
			m.Spec.Call.Payload = slices.Concat([]byte{10, byte(len(inner))}, inner)
		}, `message 0 of the payload is "/x.Y"`},

		"no bid, stated":         {none, bid(&types.Bid{}), ""},
		"prices, none allowed":   {none, bid(static("0", "0")), "the bid states static prices, want no bid"},
		"a tier, none allowed":   {none, bid(tier(types.TierEconomy)), "the bid states a tier, want no bid"},
		"an agent, none allowed": {none, bid(&types.Bid{Agent: bob}), "the bid states an agent, want no bid"},
		"a price, none allowed":  {none, bid(price("0")), "the bid states a price, want no bid"},
		"no bid, prices allowed": {limit(static("2", "1")), bid(nil), "the bid states no bid, want static prices"},
		"highest prices":         {limit(static("2", "1")), bid(static("2", "1")), ""},
		"higher fee":             {limit(static("2", "1")), bid(static("2.000000000000000001", "1")), "is not within"},
		"higher tip":             {limit(static("2", "1")), bid(static("2", "1.1")), "is not within"},
		"highest tier":           {limit(tier(types.TierFast)), bid(tier(types.TierFast)), ""},
		"higher tier":            {limit(tier(types.TierFast)), bid(tier(types.TierUrgent)), "is not within"},
		"the agent":              {limit(&types.Bid{Agent: bob}), bid(&types.Bid{Agent: bob}), ""},
		"another agent":          {limit(&types.Bid{Agent: bob}), bid(&types.Bid{Agent: alice}), "is not within"},
		"highest price":          {limit(price("9")), bid(price("0009")), ""},
		"higher price":           {limit(price("9")), bid(price("10")), "is not within"},
		"beyond 256 bits":        {limit(price("9")), bid(price(strings.Repeat("9", 78))), "is not within"},
	} {
		t.Run(name, func(t *testing.T) {
			a := scheduling(tc.bounds)
			require.NoError(t, a.ValidateBasic())
			response, err := a.Accept(ctxAt(50), scheduled(tc.change))
			if tc.words != "" {
				require.ErrorIs(t, err, sdkerrors.ErrUnauthorized)
				require.ErrorContains(t, err, tc.words)
				require.Zero(t, response)
				return
			}
			require.NoError(t, err)
			require.True(t, response.Accept)
		})
	}
}

// TestTheNumberAndTheHeight: each use counts down, the last deletes the grant, and the height is the last one included.
//
// Rule: 3.8-expires-at, 3.8-uses-left
func TestTheNumberAndTheHeight(t *testing.T) {
	a := scheduling(func(a *authz.TimerAuthorization) { a.UsesLeft = 2 })
	response, err := a.Accept(ctxAt(100), scheduled())
	require.NoError(t, err)
	require.True(t, response.Accept)
	require.False(t, response.Delete)
	require.Equal(t, scheduling(), response.Updated)
	require.Equal(t, uint64(2), a.UsesLeft, "what is stored changes with the update alone")

	response, err = response.Updated.Accept(ctxAt(100), scheduled())
	require.NoError(t, err)
	require.True(t, response.Accept && response.Delete)
	_, err = response.Updated.Accept(ctxAt(100), scheduled())
	require.ErrorContains(t, err, "it is used up")
	_, err = a.Accept(ctxAt(101), scheduled())
	require.ErrorContains(t, err, "it ended with height 100, now is 101")
	_, err = a.Accept(ctxAt(50).WithBlockTime(time.Unix(1_000, 0)), scheduled())
	require.NoError(t, err)
	_, err = a.Accept(ctxAt(50).WithBlockTime(time.Unix(1_001, 0)), scheduled())
	require.ErrorContains(t, err, "it ended at 1970-01-01T00:16:40Z, now is 1970-01-01T00:16:41Z")
	_, err = a.Accept(ctxAt(50), &types.MsgCancelTimer{})
	require.ErrorContains(t, err, "it is for /timers.v1.MsgScheduleTimer, not for /timers.v1.MsgCancelTimer")
}

// Rule: 3.8-types, 3.8-expires-at, 3.8-gas-limit, 3.8-cell-limit, 3.8-max-bid, 3.8-no-call-update
func TestChangesOfTimers(t *testing.T) {
	gas := func(a *authz.TimerAuthorization) { a.GasLimit, a.CellLimit, a.MaxBid = 5, 7, price("9") }
	for name, tc := range map[string]struct {
		a     *authz.TimerAuthorization
		msg   sdk.Msg
		words string
	}{
		"update":           {authorizing(&types.MsgUpdateTimer{}, gas), &types.MsgUpdateTimer{Spec: types.TimerSpec{GasLimit: 5, CellLimit: 7, Bid: price("9")}, Fields: []string{"gas_limit", "cell_limit", "bid"}}, ""},
		"update of no bid": {authorizing(&types.MsgUpdateTimer{}, gas), &types.MsgUpdateTimer{Spec: types.TimerSpec{GasLimit: 1}, Fields: []string{"gas_limit"}}, ""},
		"default bid":      {authorizing(&types.MsgUpdateTimer{}, gas), &types.MsgUpdateTimer{Spec: types.TimerSpec{Bid: &types.Bid{}}, Fields: []string{"bid"}}, "the bid states no bid, want a price"},
		"gas":              {authorizing(&types.MsgUpdateTimer{}, gas), &types.MsgUpdateTimer{Spec: types.TimerSpec{GasLimit: 6}, Fields: []string{"gas_limit"}}, "gas_limit is 6, want at most 5"},
		"cells":            {authorizing(&types.MsgUpdateTimer{}, gas), &types.MsgUpdateTimer{Spec: types.TimerSpec{CellLimit: 8}, Fields: []string{"cell_limit"}}, "cell_limit is 8, want at most 7"},
		"bid":              {authorizing(&types.MsgUpdateTimer{}, gas), &types.MsgUpdateTimer{Spec: types.TimerSpec{Bid: price("10")}, Fields: []string{"bid"}}, "is not within"},
		"call":             {authorizing(&types.MsgUpdateTimer{}, gas), &types.MsgUpdateTimer{Spec: types.TimerSpec{Call: types.TimerCall{}}, Fields: []string{"call"}}, `an update must not state "call", but gas_limit, cell_limit and bid alone`},
		"call, stated":     {authorizing(&types.MsgUpdateTimer{}, gas), &types.MsgUpdateTimer{Spec: types.TimerSpec{Call: types.TimerCall{Payload: []byte("x")}}, Fields: []string{"call"}}, `an update must not state "call"`},
		"repetitions":      {authorizing(&types.MsgUpdateTimer{}, gas), &types.MsgUpdateTimer{Fields: []string{"gas_limit", "repeat.renew"}}, "an update must not return gas_limit to its default"},
		"renewal":          {authorizing(&types.MsgUpdateTimer{}, gas), &types.MsgUpdateTimer{Spec: types.TimerSpec{Repeat: &types.Repeat{Renew: true}}, Fields: []string{"repeat.renew"}}, `an update must not state "repeat.renew"`},
		"default cells":    {authorizing(&types.MsgUpdateTimer{}, gas), &types.MsgUpdateTimer{Fields: []string{"cell_limit"}}, "an update must not return cell_limit to its default"},
		"gas, not named":   {authorizing(&types.MsgUpdateTimer{}, gas), &types.MsgUpdateTimer{Spec: types.TimerSpec{GasLimit: 6}, Fields: []string{"bid"}}, "the bid states no bid, want a price"},
		"gas, none":        {authorizing(&types.MsgUpdateTimer{}), &types.MsgUpdateTimer{Spec: types.TimerSpec{GasLimit: 1}, Fields: []string{"gas_limit"}}, "gas_limit is 1"},
		"extend":           {authorizing(&types.MsgExtendTimer{}), &types.MsgExtendTimer{ExpiresAt: 100}, ""},
		"extend too far":   {authorizing(&types.MsgExtendTimer{}), &types.MsgExtendTimer{ExpiresAt: 101}, "expires_at is 101"},
		"extend to zero":   {authorizing(&types.MsgExtendTimer{}), &types.MsgExtendTimer{}, "the end is missing"},
		"extend by time":   {authorizing(&types.MsgExtendTimer{}), &types.MsgExtendTimer{ExpiresTime: 1_000}, ""},
		"a time too far":   {authorizing(&types.MsgExtendTimer{}), &types.MsgExtendTimer{ExpiresTime: 1_001}, "expires_time is 1001, want at most 1000"},
		"a time before 0":  {authorizing(&types.MsgExtendTimer{}), &types.MsgExtendTimer{ExpiresTime: -1}, "expires_time is -1"},
		"pause":            {authorizing(&types.MsgPauseTimer{}), &types.MsgPauseTimer{}, ""},
		"resume":           {authorizing(&types.MsgResumeTimer{}), &types.MsgResumeTimer{}, ""},
		"cancel":           {authorizing(&types.MsgCancelTimer{}), &types.MsgCancelTimer{}, ""},
		"agent":            {authorizing(&types.MsgSetAgent{}), &types.MsgSetAgent{}, "/timers.v1.MsgSetAgent can't be granted"},
	} {
		t.Run(name, func(t *testing.T) {
			response, err := tc.a.Accept(ctxAt(50), tc.msg)
			if tc.words != "" {
				require.ErrorIs(t, err, sdkerrors.ErrUnauthorized)
				require.ErrorContains(t, err, tc.words)
				return
			}
			require.NoError(t, err)
			require.True(t, response.Accept && response.Delete)
		})
	}
}

// TestValidation: each limit that is missing, without effect, or not a limit.
//
// Rule: 3.8-types, 3.8-allowed-messages, 3.8-unlistable, 3.8-errors
func TestValidation(t *testing.T) {
	allowed := func(urls ...string) func(*authz.TimerAuthorization) {
		return func(a *authz.TimerAuthorization) { a.AllowedMessages = urls }
	}
	many := make([]string, 65)
	for i := range many {
		many[i] = "/" + strings.Repeat("x", i+1)
	}
	for name, tc := range map[string]struct {
		a     *authz.TimerAuthorization
		words string
	}{
		"nothing":          {&authz.TimerAuthorization{}, `msg_type_url is "", want one of /timers.v1.MsgScheduleTimer, `},
		"another message":  {authorizing(&banktypes.MsgSend{}), `msg_type_url is "/cosmos.bank.v1beta1.MsgSend"`},
		"agents":           {authorizing(&types.MsgSetAgent{}), "msg_type_url is"},
		"authority":        {authorizing(&types.MsgSysCancelTimer{}), "msg_type_url is"},
		"no end":           {scheduling(func(a *authz.TimerAuthorization) { a.ExpiresAt = 0 }), "expires_at is missing"},
		"no last time":     {scheduling(func(a *authz.TimerAuthorization) { a.ExpiresTime = 0 }), "expires_time is 0"},
		"a time too late":  {scheduling(func(a *authz.TimerAuthorization) { a.ExpiresTime = 1 << 60 }), "expires_time is"},
		"no uses":          {scheduling(func(a *authz.TimerAuthorization) { a.UsesLeft = 0 }), "uses_left is 0"},
		"no fires":         {scheduling(func(a *authz.TimerAuthorization) { a.MaxFires = 0 }), "max_fires is 0"},
		"no gas":           {scheduling(func(a *authz.TimerAuthorization) { a.GasLimit = 0 }), "gas_limit is 0"},
		"no messages":      {scheduling(allowed()), "allowed_messages has 0 entries, want 1 to 64"},
		"too many":         {scheduling(allowed(many...)), "allowed_messages has 65 entries"},
		"most":             {scheduling(allowed(many[1:]...)), ""},
		"twice":            {scheduling(allowed(sendURL, voteURL, sendURL)), "is listed twice"},
		"wildcard":         {scheduling(allowed("*")), `"*" is no type URL`},
		"no slash":         {scheduling(allowed("cosmos.bank.v1beta1.MsgSend")), "is no type URL"},
		"slash alone":      {scheduling(allowed("/")), "is no type URL"},
		"empty":            {scheduling(allowed("")), "is no type URL"},
		"long":             {scheduling(allowed("/" + strings.Repeat("x", 256))), "is no type URL"},
		"timers of timers": {scheduling(allowed("/timers.v1.MsgScheduleTimer")), "could schedule or grant what outlives"},
		"executions":       {scheduling(allowed(voteURL, "/cosmos.authz.v1beta1.MsgExec")), "could schedule or grant what outlives"},
		"grants":           {scheduling(allowed("/cosmos.authz.v1beta1.MsgGrant")), "could schedule or grant what outlives"},
		"empty bid":        {scheduling(func(a *authz.TimerAuthorization) { a.MaxBid = &types.Bid{} }), "max_bid states nothing"},
		"two bids":         {scheduling(func(a *authz.TimerAuthorization) { a.MaxBid = &types.Bid{Agent: bob, Price: "1"} }), "max_bid: state one of"},
		"half a bid":       {scheduling(func(a *authz.TimerAuthorization) { a.MaxBid = &types.Bid{Static: &types.StaticBid{}} }), "max_bid: max_fee_per_cycle is missing"},
		"update":           {authorizing(&types.MsgUpdateTimer{}, func(a *authz.TimerAuthorization) { a.GasLimit = 5 }), ""},
		"fires of updates": {authorizing(&types.MsgUpdateTimer{}, func(a *authz.TimerAuthorization) { a.MaxFires = 5 }), "max_fires and allowed_messages are for"},
		"list of cancels":  {authorizing(&types.MsgCancelTimer{}, allowed(sendURL)), "max_fires and allowed_messages are for"},
		"gas of cancels":   {authorizing(&types.MsgCancelTimer{}, func(a *authz.TimerAuthorization) { a.GasLimit = 5 }), "gas_limit, cell_limit and max_bid are for"},
		"cells of pauses":  {authorizing(&types.MsgPauseTimer{}, func(a *authz.TimerAuthorization) { a.CellLimit = 5 }), "gas_limit, cell_limit and max_bid are for"},
		"bid of resumes":   {authorizing(&types.MsgResumeTimer{}, func(a *authz.TimerAuthorization) { a.MaxBid = price("1") }), "gas_limit, cell_limit and max_bid are for"},
		"extend":           {authorizing(&types.MsgExtendTimer{}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.a.ValidateBasic()
			if tc.words == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.words)
		})
	}
}

// TestComparisonsArePaidFor: by the transaction's meter, for each message and each entry of the list.
//
// Rule: 3.8-comparison-gas
func TestComparisonsArePaidFor(t *testing.T) {
	ctx := ctxAt(50)
	before := ctx.GasMeter().GasConsumed()
	msg := scheduled(func(m *types.MsgScheduleTimer) { m.Spec.Call.Payload = payload(sendURL, voteURL, sendURL) })
	_, err := scheduling().Accept(ctx, msg)
	require.NoError(t, err)
	require.Equal(t, uint64(3*2*10), ctx.GasMeter().GasConsumed()-before, "three messages, a list of two")
}

// acceptProperty: the authorization accepts what a plain model of its limits accepts, and nothing else.
func acceptProperty(t *rapid.T) {
	small := rapid.Uint64Range(0, 3)
	urls := []string{sendURL, voteURL, "/x.Y"}
	a := &authz.TimerAuthorization{
		MsgTypeUrl: sdk.MsgTypeURL(&types.MsgScheduleTimer{}), ExpiresAt: small.Draw(t, "end"), ExpiresTime: 2, UsesLeft: small.Draw(t, "uses"),
		MaxFires: rapid.Uint64Range(0, 12).Draw(t, "fires"), GasLimit: small.Draw(t, "gas"), CellLimit: small.Draw(t, "cells"),
		AllowedMessages: urls[:rapid.IntRange(0, 3).Draw(t, "allowed")], MaxBid: bidGenerator.Draw(t, "max bid"),
	}
	runs := rapid.SliceOfN(rapid.SampledFrom(urls), 0, 3).Draw(t, "runs")
	msg := &types.MsgScheduleTimer{
		Sender: alice, Spec: types.TimerSpec{
			FeePayer: rapid.SampledFrom([]string{"", alice, bob}).Draw(t, "payer"), ExpiresAt: small.Draw(t, "expires"), ExpiresTime: rapid.Int64Range(0, 3).Draw(t, "expires at a time"),
			GasLimit: small.Draw(t, "gas limit"), CellLimit: small.Draw(t, "cell limit"), Bid: bidGenerator.Draw(t, "bid"),
			Call: types.TimerCall{Handler: rapid.SampledFrom([]string{"", types.DefaultHandler, "x"}).Draw(t, "handler"), Payload: payload(runs...)},
		},
	}
	repetitions := rapid.OneOf(small, rapid.Just(uint64(1<<64-1))).Draw(t, "repetitions")
	switch rapid.IntRange(0, 2).Draw(t, "trigger") {
	case 0:
		msg.Spec.Trigger.Height, repetitions = 9, 1
	case 1:
		msg.Spec.Trigger.Interval, msg.Spec.Repeat = &types.IntervalTrigger{Every: 1}, &types.Repeat{Remaining: repetitions}
	case 2:
		msg.Spec.Trigger.Watch, msg.Spec.Repeat = &types.WatchTrigger{}, &types.Repeat{Remaining: repetitions}
	}
	retries := rapid.Uint32Range(0, 3).Draw(t, "retries")
	if retries > 0 {
		msg.Spec.Retry = &types.Retry{Max: retries, After: 1}
	}
	now := small.Draw(t, "now")

	fires := new(big.Int).Mul(new(big.Int).SetUint64(repetitions), big.NewInt(int64(retries)+1))
	want := now <= a.ExpiresAt && a.UsesLeft > 0 &&
		(msg.Spec.ExpiresAt > 0) != (msg.Spec.ExpiresTime > 0) && (msg.Spec.ExpiresTime == 0 || msg.Spec.Trigger.Watch != nil) &&
		msg.Spec.ExpiresAt <= a.ExpiresAt && msg.Spec.ExpiresTime <= a.ExpiresTime &&
		repetitions > 0 && fires.Cmp(new(big.Int).SetUint64(a.MaxFires)) <= 0 &&
		msg.Spec.FeePayer != bob && msg.Spec.Call.Handler != "x" &&
		msg.Spec.GasLimit > 0 && msg.Spec.GasLimit <= a.GasLimit &&
		msg.Spec.CellLimit <= a.CellLimit && (msg.Spec.CellLimit == 0) == (a.CellLimit == 0) &&
		bidWithin(msg.Spec.Bid, a.MaxBid) && len(runs) > 0 &&
		!slices.ContainsFunc(runs, func(url string) bool { return !slices.Contains(a.AllowedMessages, url) })

	response, err := a.Accept(ctxAt(int64(now)), msg)
	require.Equal(t, want, err == nil, "%v", err)
	require.Equal(t, want, response.Accept)
	if want {
		require.Equal(t, a.UsesLeft == 1, response.Delete)
	}
}

// bidGenerator draws bids of all kinds that are near each other.
var bidGenerator = rapid.Custom(func(t *rapid.T) *types.Bid {
	prices := rapid.SampledFrom([]string{"0", "1", "1.5"})
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return &types.Bid{}
	case 1:
		return static(prices.Draw(t, "fee"), prices.Draw(t, "tip"))
	case 2:
		return tier(types.PriorityTier(rapid.Int32Range(1, 4).Draw(t, "tier")))
	case 3:
		return &types.Bid{Agent: rapid.SampledFrom([]string{alice, bob}).Draw(t, "agent")}
	case 4:
		return price(rapid.SampledFrom([]string{"0", "00", "7", "12"}).Draw(t, "price"))
	}
	return nil
})

// bidWithin is the model of the rule on bids: each kind as a vector of numbers, of which none may exceed the other's.
func bidWithin(bid, limit *types.Bid) bool {
	stated, most := vector(bid), vector(limit)
	if len(stated) != len(most) {
		return false
	}
	for i := range stated {
		if stated[i].Cmp(most[i]) > 0 {
			return false
		}
	}
	return true
}

// vector has a length for each kind of bid. That of an agent holds its name and the opposite of it, so that only the same
// agent is within.
func vector(bid *types.Bid) []*big.Int {
	zero := new(big.Int)
	switch {
	case bid == nil || bid.Equal(&types.Bid{}):
		return nil
	case bid.Static != nil:
		return []*big.Int{bid.Static.MaxFeePerCycle.BigInt(), bid.Static.MaxPriorityFeePerCycle.BigInt()}
	case bid.Tier != types.TierUnspecified:
		return []*big.Int{big.NewInt(int64(bid.Tier))}
	case bid.Agent != "":
		name := new(big.Int).SetBytes([]byte(bid.Agent))
		return []*big.Int{name, new(big.Int).Neg(name), zero}
	}
	amount, _ := new(big.Int).SetString(bid.Price, 10)
	return []*big.Int{amount, zero, zero, zero}
}

// Rule: 3.8-reads-height-only
func TestAcceptIsThatOfTheModel(t *testing.T) { rapid.Check(t, acceptProperty) }

func FuzzAcceptIsThatOfTheModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(acceptProperty)) }

// FuzzStoredAuthorization: whatever bytes a genesis holds, nothing panics, and what is accepted keeps to the height.
func FuzzStoredAuthorization(f *testing.F) {
	seed := func(a *authz.TimerAuthorization, msg *types.MsgScheduleTimer) {
		stored, err := a.Marshal()
		require.NoError(f, err)
		sent, err := msg.Marshal()
		require.NoError(f, err)
		f.Add(stored, sent)
	}
	seed(scheduling(), scheduled())
	seed(scheduling(func(a *authz.TimerAuthorization) { a.MaxBid = static("1", "1") }),
		scheduled(func(m *types.MsgScheduleTimer) { m.Spec.Bid = static("1", "0") }))
	f.Fuzz(func(t *testing.T, stored, sent []byte) {
		var a authz.TimerAuthorization
		var msg types.MsgScheduleTimer
		if a.Unmarshal(stored) != nil || msg.Unmarshal(sent) != nil {
			return
		}
		_ = a.ValidateBasic()
		response, err := a.Accept(ctxAt(50), &msg)
		if err != nil {
			require.Zero(t, response)
			return
		}
		require.LessOrEqual(t, msg.Spec.ExpiresAt, a.ExpiresAt)
		require.LessOrEqual(t, msg.Spec.GasLimit, a.GasLimit)
		var p types.AccountPayload
		if p.Unmarshal(bytes.Clone(msg.Spec.Call.Payload)) == nil {
			require.NotEmpty(t, p.Messages)
			for _, packed := range p.Messages {
				require.Contains(t, a.AllowedMessages, packed.TypeUrl)
			}
		}
	})
}

// TestAuthorization_LongTextIsRefusedByItsLength: in each text of an authorization, and of a message under one. The error
// repeats nothing of it.
func TestAuthorization_LongTextIsRefusedByItsLength(t *testing.T) {
	long := strings.Repeat("9", 1<<20)
	for name, change := range map[string]func(*authz.TimerAuthorization){
		"msg_type_url":     func(a *authz.TimerAuthorization) { a.MsgTypeUrl = long },
		"allowed_messages": func(a *authz.TimerAuthorization) { a.AllowedMessages = []string{long} },
		"max_bid.price":    func(a *authz.TimerAuthorization) { a.MaxBid = &types.Bid{Price: long} },
		"max_bid.agent":    func(a *authz.TimerAuthorization) { a.MaxBid = &types.Bid{Agent: long} },
	} {
		a := &authz.TimerAuthorization{}
		change(a)
		err := a.ValidateBasic()
		require.ErrorContains(t, err, "is 1048576 bytes long, want at most 1024", name)
		require.Less(t, len(err.Error()), 300, name)
	}
	for name, msg := range map[string]*types.MsgScheduleTimer{
		"fee_payer": scheduled(func(m *types.MsgScheduleTimer) { m.Spec.FeePayer = long }),
		"bid":       scheduled(func(m *types.MsgScheduleTimer) { m.Spec.Bid = &types.Bid{Price: long} }),
		"handler":   scheduled(func(m *types.MsgScheduleTimer) { m.Spec.Call.Handler = long }),
	} {
		_, err := scheduling().Accept(ctxAt(1), msg)
		require.ErrorContains(t, err, "is 1048576 bytes long, want at most 1024", name)
		require.Less(t, len(err.Error()), 300, name)
	}
}

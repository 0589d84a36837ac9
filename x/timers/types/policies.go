package types

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/cosmos/gogoproto/proto"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
)

// FirstCustomPolicy is the first id for policies that a chain adds. The ids below it are the module's.
const FirstCustomPolicy = 1_000

// maxPolicies bounds the policies that state parameters in a config, or that carry anything from block to block.
const maxPolicies = 32

// PolicyMessage is a message that a policy brings along.
type PolicyMessage interface {
	proto.Message
	Marshal() ([]byte, error)
	Unmarshal(encoded []byte) error
}

// PolicyParams are the parameters of a policy that the chain has registered: a message in policy_params of the config. Its
// fields are set as NAME.field (PolicyName), as those of the config are: numbers, texts, lists, and messages that are no pointers.
type PolicyParams interface {
	PolicyMessage
	// Defaults returns new parameters with their defaults.
	Defaults() PolicyParams
	// Validate checks every bound. The error is ErrInvalidConfig.
	Validate() error
}

// PolicyState is what such a policy carries from block to block, in policies of the lane's state, or what else it keeps, in
// policies of a genesis.
type PolicyState interface {
	PolicyMessage
	// Validate checks it, in a genesis. The error is ErrInvalidGenesis.
	Validate(head *GenesisState) error
	// MovedBack returns it for a chain that goes back: its last block was last, its next one is first. It changes nothing.
	MovedBack(last, first uint64) PolicyState
}

// PolicyStanding is what a query shows of a policy.
type PolicyStanding interface{ proto.Message }

// PolicyName is what people call the policy of a message: the last element of the message's package that is no version, such as
// auction for /timers.auction.v1.Params.
func PolicyName(typeURL string) string {
	elements := strings.Split(strings.TrimPrefix(typeURL, "/"), ".")
	elements = elements[:len(elements)-1]
	if n := len(elements); n > 1 && strings.HasPrefix(elements[n-1], "v") {
		elements = elements[:n-1]
	}
	if len(elements) == 0 {
		return ""
	}
	return elements[len(elements)-1]
}

// cachedOf is the message that a field was decoded to, nil if its type was not known or JSON states null.
func cachedOf(packed *codectypes.Any) any {
	if packed == nil {
		return nil
	}
	return packed.GetCachedValue()
}

// MessageOf returns the message T in a list of policies' messages, nil if there is none. It is not to be changed. One that was read
// without a registry is decoded.
func MessageOf[T any, P interface {
	*T
	PolicyMessage
}](list []*codectypes.Any) P {
	for _, packed := range list {
		if message, ok := cachedOf(packed).(P); ok {
			return message
		}
		if cachedOf(packed) != nil || packed.GetTypeUrl() != "/"+proto.MessageName(P(new(T))) {
			continue
		}
		if message := P(new(T)); message.Unmarshal(packed.Value) == nil {
			return message
		}
	}
	return nil
}

// pack is a message as a field holds it. It panics if it can't be encoded, which is an error of the program.
func pack(message PolicyMessage) *codectypes.Any {
	packed, err := codectypes.NewAnyWithValue(message)
	if err != nil {
		panic(err)
	}
	return packed
}

// with returns a list in which a message is in its place, instead of another one of its type.
func with(list []*codectypes.Any, message PolicyMessage) []*codectypes.Any {
	packed := pack(message)
	i, found := slices.BinarySearchFunc(list, packed.TypeUrl, func(a *codectypes.Any, url string) int { return cmp.Compare(a.GetTypeUrl(), url) })
	list = slices.Clone(list)
	if found {
		list[i] = packed
		return list
	}
	return slices.Insert(list, i, packed)
}

// ParamsOf returns the parameters T of a policy: those of the config, or their defaults if it states none. They are not to be
// changed.
func ParamsOf[T any, P interface {
	*T
	PolicyParams
}](c *TimerConfig) P {
	if params := MessageOf[T, P](c.PolicyParams); params != nil {
		return params
	}
	return P(new(T)).Defaults().(P)
}

// ChangeParams changes the parameters T of a policy in a config.
func ChangeParams[T any, P interface {
	*T
	PolicyParams
}](c *TimerConfig, change func(params P)) {
	params := *ParamsOf[T, P](c)
	change(&params)
	c.SetParams(P(&params))
}

// SetParams gives the parameters of a policy their place in the config.
func (c *TimerConfig) SetParams(params PolicyParams) { c.PolicyParams = with(c.PolicyParams, params) }

// CopyParams returns a copy of the parameters in the config that are of the type of like, or of their defaults if it states none.
func (c *TimerConfig) CopyParams(like PolicyParams) PolicyParams {
	params, url := like.Defaults(), "/"+proto.MessageName(like)
	for _, packed := range c.PolicyParams {
		if packed.GetTypeUrl() != url {
			continue
		}
		if stated, ok := cachedOf(packed).(PolicyParams); ok {
			reflect.ValueOf(params).Elem().Set(reflect.ValueOf(stated).Elem())
		}
	}
	return params
}

// CopyMissing gives another config the parameters in c of those policies of which it states none.
func (c *TimerConfig) CopyMissing(to *TimerConfig) {
	for _, packed := range c.PolicyParams {
		if params, ok := cachedOf(packed).(PolicyParams); ok && to.paramsNamed(PolicyName(packed.TypeUrl)) == nil {
			to.SetParams(params)
		}
	}
}

// paramsNamed are the parameters of the policy of a name, nil if the config states none.
func (c *TimerConfig) paramsNamed(name string) PolicyParams {
	for _, packed := range c.PolicyParams {
		if PolicyName(packed.GetTypeUrl()) != name {
			continue
		}
		if params, ok := cachedOf(packed).(PolicyParams); ok {
			return params
		}
	}
	return nil
}

// validatePolicyParams checks the parameters of the policies that the chain has registered: each once, and each within its
// bounds.
func (c *TimerConfig) validatePolicyParams() error {
	return eachPolicyMessage(ErrInvalidConfig.Wrapf, "policy_params", c.PolicyParams, false, func(params PolicyParams) error { return params.Validate() })
}

// eachPolicyMessage passes the messages of a list to check. It refuses a list that is not in the order of type URLs, has several of a
// type where it may not, or has a message that is no M, as one is whose type this binary does not know.
func eachPolicyMessage[M PolicyMessage](
	refuse func(string, ...any) error, name string, list []*codectypes.Any, several bool, check func(M) error,
) error {
	if len(list) > maxPolicies && !several {
		return refuse("%s has %d entries, want at most %d", name, len(list), maxPolicies)
	}
	for i, packed := range list {
		if packed == nil {
			return refuse("%s %d: null", name, i)
		}
		message, ok := cachedOf(packed).(M)
		if !ok {
			return refuse("%s %d: %.80q is of no policy of this chain", name, i, packed.TypeUrl)
		}
		if i > 0 && (list[i-1].TypeUrl > packed.TypeUrl || !several && list[i-1].TypeUrl == packed.TypeUrl) {
			return refuse("%s %d: %s is not above the one before by type URL", name, i, packed.TypeUrl)
		}
		if err := check(message); err != nil {
			return err
		}
	}
	return nil
}

// SetPolicy gives what a policy carries from block to block its place in the lane's state.
func (l *LaneState) SetPolicy(state PolicyState) { l.Policies = with(l.Policies, state) }

// RemovePolicy takes what a policy carries off the lane's state.
func (l *LaneState) RemovePolicy(state PolicyState) {
	url := "/" + proto.MessageName(state)
	if slices.ContainsFunc(l.Policies, func(packed *codectypes.Any) bool { return packed.GetTypeUrl() == url }) {
		l.Policies = slices.DeleteFunc(slices.Clone(l.Policies), func(packed *codectypes.Any) bool { return packed.GetTypeUrl() == url })
	}
}

// AddPolicy adds what a policy keeps to a genesis, after what it has of the same type: a long list is stated in several messages,
// which are read and written one at a time.
func (g *GenesisState) AddPolicy(state PolicyState) {
	packed := pack(state)
	i := slices.IndexFunc(g.Policies, func(a *codectypes.Any) bool { return a.GetTypeUrl() > packed.TypeUrl })
	if i < 0 {
		i = len(g.Policies)
	}
	g.Policies = slices.Insert(slices.Clone(g.Policies), i, packed)
}

// PoliciesOf returns what a policy keeps in a genesis, in messages T.
func PoliciesOf[T any, P interface {
	*T
	PolicyState
}](g *GenesisState) (states []P) {
	for _, packed := range g.Policies {
		if state, ok := cachedOf(packed).(P); ok {
			states = append(states, state)
		}
	}
	return states
}

// ValidatePolicies checks what the policies carry and keep.
func (g *GenesisState) ValidatePolicies() error {
	for _, list := range []struct {
		name     string
		policies []*codectypes.Any
		several  bool
	}{{"lane.policies", g.Lane.Policies, false}, {"policies", g.Policies, true}} {
		check := func(state PolicyState) error { return state.Validate(g) }
		if err := eachPolicyMessage(ErrInvalidGenesis.Wrapf, list.name, list.policies, list.several, check); err != nil {
			return err
		}
	}
	return nil
}

// MovePolicies moves what the policies carry and keep, for a chain that goes back. What is not known stays; ValidatePolicies refuses
// it.
func (g *GenesisState) MovePolicies(last, first uint64) {
	for _, list := range []*[]*codectypes.Any{&g.Lane.Policies, &g.Policies} {
		moved := slices.Clone(*list)
		for i, packed := range moved {
			if state, ok := cachedOf(packed).(PolicyState); ok {
				moved[i] = pack(state.MovedBack(last, first))
			}
		}
		*list = moved
	}
}

// unpack resolves the messages of policies. One of a type that is not known stays as it is, so that a binary that no longer has
// a policy reads the state of one that had it; checks refuse it.
func unpack[M proto.Message](unpacker codectypes.AnyUnpacker, list []*codectypes.Any) {
	for _, packed := range list {
		var message M
		_ = unpacker.UnpackAny(packed, &message)
	}
}

// UnpackInterfaces resolves what the policies carry from block to block.
func (l *LaneState) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	unpack[PolicyState](unpacker, l.Policies)
	return nil
}

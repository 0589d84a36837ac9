package types

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// The messages of the authority check themselves, so that x/gov refuses a wrong proposal when it is submitted, not after the
// vote. They name a timer by its whole id: until the vote is over, the actor could schedule one that begins alike.

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidTimerID.
func (m *MsgSysCancelTimer) ValidateBasic() error { return checkWholeID(m.Id) }

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidTimerID.
func (m *MsgSysExtendTimer) ValidateBasic() error { return checkWholeID(m.Id) }

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidTimerID.
func (m *MsgSysReleaseTimer) ValidateBasic() error { return checkWholeID(m.Id) }

// ConfigFields are the parameters that a change of the config can name, but for those of registered policies.
var ConfigFields = MaskSchemaOf(&TimerConfig{})

// IsConfigField reports whether a parameter of the config, or a message of them, has a name.
func IsConfigField(name string) bool {
	return slices.ContainsFunc(ConfigFields.Paths(), func(path string) bool { return path == name || strings.HasPrefix(path, name+".") })
}

// named are parameters that a change of the config names: some of the config itself, and some of policies.
type named struct {
	own      Mask
	policies []namedOfPolicy
}

// maxFields bounds the fields that a change names.
const maxFields = 1_000

// namedOfPolicy are parameters of a policy.
type namedOfPolicy struct {
	name string
	mask Mask
}

// named reads fields: none means all. Those of policies are fields of the parameters that the config states.
func (c *TimerConfig) named(fields []string) (n named, err error) {
	if len(fields) > maxFields || len(c.PolicyParams) > maxPolicies {
		return n, ErrInvalidConfig.Wrapf("fields: %d paths, want at most %d; policy_params has %d entries, want at most %d",
			len(fields), maxFields, len(c.PolicyParams), maxPolicies)
	}
	var own []string
	ofPolicy := map[string][]string{}
	var policies []string
	for _, field := range fields {
		name, path, _ := strings.Cut(field, ".")
		if c.paramsNamed(name) == nil {
			own = append(own, field)
			continue
		}
		if ofPolicy[name] == nil {
			policies = append(policies, name)
		}
		if path == "" {
			return n, ErrInvalidConfig.Wrapf("fields: %s holds fields: name those, such as %s.%s", name, name, MaskSchemaOf(c.paramsNamed(name)).Paths()[0])
		}
		ofPolicy[name] = append(ofPolicy[name], path)
	}
	slices.Sort(policies)
	if n.own, err = ConfigFields.Parse(own); err != nil {
		return n, ErrInvalidConfig.Wrapf("fields: %s", err)
	}
	for _, name := range policies {
		m, err := MaskSchemaOf(c.paramsNamed(name)).Parse(ofPolicy[name])
		if err != nil {
			return n, ErrInvalidConfig.Wrapf("fields: of %s: %s", name, err)
		}
		n.policies = append(n.policies, namedOfPolicy{name, m})
	}
	return n, nil
}

// copy gives what is named the values that it has in another config. The error is ErrInvalidConfig if that states nothing of a
// policy that is named.
func (n *named) copy(to, from *TimerConfig) error {
	n.own.Copy(to, from)
	for _, of := range n.policies {
		theirs := from.paramsNamed(of.name)
		if theirs == nil {
			return ErrInvalidConfig.Wrapf("config states no parameters of %s, which are among the fields", of.name)
		}
		params := reflect.New(reflect.TypeOf(theirs).Elem()).Interface().(PolicyParams)
		if to.paramsNamed(of.name) != nil {
			params = to.CopyParams(theirs)
		}
		of.mask.Copy(params, theirs)
		to.SetParams(params)
	}
	return nil
}

// Hash is what a change of these fields, or with none of the whole config, states as expected if it is made from c.
func (c *TimerConfig) Hash(fields []string) ([]byte, error) {
	if len(fields) == 0 {
		encoded, err := c.Marshal()
		hash := sha256.Sum256(encoded)
		return hash[:], err
	}
	n, err := c.named(fields)
	if err != nil {
		return nil, err
	}
	encoded, err := n.own.Encode(c)
	if err != nil {
		return nil, err
	}
	for _, of := range n.policies {
		values, err := of.mask.Encode(c.paramsNamed(of.name))
		if err != nil {
			return nil, err
		}
		encoded = protowire.AppendString(encoded, of.name)
		encoded = protowire.AppendBytes(encoded, values)
	}
	hash := sha256.Sum256(encoded)
	return hash[:], nil
}

// ChangeConfig is the message that gives these parameters of the current config, or with none all, the values of the next one.
func ChangeConfig(authority string, current, next *TimerConfig, fields []string) (*MsgUpdateTimerConfig, error) {
	msg := &MsgUpdateTimerConfig{Authority: authority, Fields: fields}
	if len(fields) == 0 {
		msg.Config = *next
	} else {
		n, err := next.named(fields)
		if err != nil {
			return nil, err
		}
		if err := n.copy(&msg.Config, next); err != nil {
			return nil, err
		}
	}
	var err error
	msg.Expected, err = current.Hash(fields)
	return msg, err
}

// ValidateBasic implements sdk.HasValidateBasic. The error is ErrInvalidConfig. Of fields their bounds are checked; whether
// they agree with the others shows when they are set.
func (m *MsgUpdateTimerConfig) ValidateBasic() error {
	if err := CheckText(ErrInvalidConfig, m); err != nil {
		return err
	}
	if len(m.Expected) != sha256.Size {
		return ErrInvalidConfig.Wrapf("expected is %d bytes long, want the %d of the hash of what this was made from, as the params query returns it",
			len(m.Expected), sha256.Size)
	}
	if len(m.Fields) == 0 {
		return m.Config.Validate()
	}
	n, err := m.Config.named(m.Fields)
	if err != nil {
		return err
	}
	if beyond := n.beyond(&m.Config); beyond != "" {
		return ErrInvalidConfig.Wrapf("config states %s, which is not among the fields", beyond)
	}
	// What the others are is not known here: defaults are within all bounds.
	whole := DefaultTimerConfig(sdk.DefaultBondDenom)
	n.own.Copy(&whole, &m.Config)
	return whole.validateFields()
}

// beyond is the path of a parameter that a config states and that is not named; empty if there is none.
func (n *named) beyond(c *TimerConfig) string {
	if beyond := n.own.Beyond(c); beyond != "" {
		return beyond
	}
	for _, packed := range c.PolicyParams {
		params, ok := cachedOf(packed).(PolicyParams)
		name := PolicyName(packed.GetTypeUrl())
		i := slices.IndexFunc(n.policies, func(of namedOfPolicy) bool { return of.name == name })
		if !ok || i < 0 {
			return "policy_params of " + packed.GetTypeUrl()
		}
		if beyond := n.policies[i].mask.Beyond(params); beyond != "" {
			return name + "." + beyond
		}
	}
	return ""
}

// Apply is the config that the message makes of the current one. The error is ErrConfigChanged if the message was made from
// another one, or from other values of its fields.
func (m *MsgUpdateTimerConfig) Apply(current *TimerConfig) (TimerConfig, error) {
	hash, err := current.Hash(m.Fields)
	if err != nil {
		return TimerConfig{}, err
	}
	if !bytes.Equal(hash, m.Expected) {
		of := cmp.Or(strings.Join(m.Fields, ", "), "the config")
		text := base64.StdEncoding.EncodeToString
		return TimerConfig{}, ErrConfigChanged.Wrapf("the hash of %.200s is %s now, and %.60s where this was made", of, text(hash), text(m.Expected))
	}
	if len(m.Fields) == 0 {
		return m.Config, current.missingIn(&m.Config)
	}
	n, err := current.named(m.Fields)
	if err != nil {
		return TimerConfig{}, err
	}
	next := *current
	return next, n.copy(&next, &m.Config)
}

// missingIn refuses a config that replaces c and states no parameters of a policy of which c does: they would fall back to
// defaults.
func (c *TimerConfig) missingIn(next *TimerConfig) error {
	for _, packed := range c.PolicyParams {
		if name := PolicyName(packed.GetTypeUrl()); next.paramsNamed(name) == nil {
			return ErrInvalidConfig.Wrapf("config states no parameters of %.80s: one that replaces the config states all", name)
		}
	}
	return nil
}

func checkWholeID(id string) error {
	if _, err := hex.DecodeString(id[:min(len(id), 2*IDBytes)]); err != nil || len(id) != 2*IDBytes {
		return ErrInvalidTimerID.Wrapf("%.80q; state the whole id, %d hexadecimal digits", id, 2*IDBytes)
	}
	return nil
}

// AdminRuntime is a Runtime whose actors may have admins, who can replace what an actor does. So they may schedule calls
// of it, for which they pay (x/timers/README.md, "1.3 Actor").
type AdminRuntime interface {
	Runtime
	// Admin is the admin of the actor now, empty if it has none. Like all of a runtime it reads state through ctx alone.
	Admin(ctx context.Context, actor sdk.AccAddress) sdk.AccAddress
}

// IsAdmin reports whether an address is the admin of an actor now.
func IsAdmin(ctx context.Context, router Router, actor, address sdk.AccAddress) bool {
	runtime, err := router.Route(ctx, actor)
	if err != nil {
		return false
	}
	administered, ok := runtime.(AdminRuntime)
	return ok && !address.Empty() && administered.Admin(ctx, actor).Equals(address)
}

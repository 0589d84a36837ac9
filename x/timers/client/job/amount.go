package job

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/query"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// maxAmountBytes bounds the text of an amount: 78 digits and a denom.
	maxAmountBytes = 256
	// metadataPage and metadataPages bound the denoms of which the units are read to find one by its name.
	metadataPage, metadataPages = 500, 10
)

// amountText is a number and a denom. The denom may begin with an e: 1e6stake is 1 of e6stake, as the bank reads it.
var amountText = regexp.MustCompile(`^([+-]?)(\d+)(?:\.(\d+))?([a-zA-Z][a-zA-Z0-9/:._-]{2,127})$`)

// exponential is how a denom begins that is no denom: 1e6stake.
var exponential = regexp.MustCompile(`^[eE]\d`)

// Coins reads amounts, separated by commas, each of another denom. See Coin.
func (j *Job) Coins(text string) (sdk.Coins, error) {
	if err := checkSeparators(text); err != nil {
		return nil, err
	}
	coins := sdk.Coins{}
	for _, part := range strings.Split(text, ",") {
		coin, err := j.Coin(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		if coins.AmountOf(coin.Denom).IsPositive() {
			return nil, fmt.Errorf("%.80q states %s twice", text, coin.Denom)
		}
		coins = coins.Add(coin)
	}
	return coins, nil
}

// separated is an amount whose digits are in groups of three, which a list of amounts never is: each states its denom.
var separated = regexp.MustCompile(`^\d{1,3}(?:[,_' ]\d{3})+(?:\.\d+)?[a-zA-Z]`)

// checkSeparators refuses separators of thousands.
func checkSeparators(text string) error {
	if !separated.MatchString(text) {
		return nil
	}
	return fmt.Errorf("%.80q: write a number without separators: %.80s", text, strings.NewReplacer(",", "", "_", "", "'", "", " ", "").Replace(text))
}

// IsAmount tells whether a text has the form of an amount.
func IsAmount(text string) bool { return amountText.MatchString(text) || separated.MatchString(text) }

// Coin reads an amount: a whole number of a coin's smallest unit, such as 5utmr, or a decimal number of a unit that the
// bank's metadata names, such as 0.5tmr. It is exact, or refused; so is a denom that the chain has no coins of. Where no node
// can be asked, it takes the smallest unit alone, unchecked.
func (j *Job) Coin(text string) (sdk.Coin, error) {
	if err := checkSeparators(text); err != nil {
		return sdk.Coin{}, err
	}
	if strings.Contains(text, ",") {
		return sdk.Coin{}, fmt.Errorf("%.80q: want one coin", text)
	}
	parts := amountText.FindStringSubmatch(text)
	if parts == nil || len(text) > maxAmountBytes {
		return sdk.Coin{}, fmt.Errorf("%.80q is no amount: want a number and its denom, such as 5utmr", text)
	}
	sign, whole, fraction, denom := parts[1], parts[2], strings.TrimRight(parts[3], "0"), parts[4]
	switch {
	case sign == "-":
		return sdk.Coin{}, fmt.Errorf("%.80q is negative: want more than 0", text)
	case strings.Trim(whole+fraction, "0") == "":
		return sdk.Coin{}, fmt.Errorf("%.80q is nothing: want more than 0", text)
	}
	unit, err := j.unit(denom)
	if err != nil {
		return sdk.Coin{}, fmt.Errorf("%.80q: %w", text, err)
	}
	if exponent := int(unit.exponent); len(fraction) > exponent {
		want := "want a whole number of them"
		if exponent > 0 {
			want = fmt.Sprintf("want at most %d digits behind the point", exponent)
		}
		return sdk.Coin{}, fmt.Errorf("%.80q is a part of %s, the smallest unit: %s", text, unit.base, want)
	}
	digits := whole + fraction + strings.Repeat("0", int(unit.exponent)-len(fraction))
	// A zero at the front would make it octal.
	amount, ok := math.NewIntFromString(strings.TrimLeft(digits, "0"))
	if !ok {
		return sdk.Coin{}, fmt.Errorf("%.80q is too large: want less than 2^256", text)
	}
	coin := sdk.Coin{Denom: unit.base, Amount: amount}
	if unit.base != denom {
		j.Notef("%s is %s", text, coin)
	}
	return coin, nil
}

// unit is how many digits a unit has more than its coin's smallest one.
type unit struct {
	base     string
	exponent uint32
}

// find looks a unit up by its name or an alias.
func find(m *banktypes.Metadata, name string) (unit, bool) {
	for _, u := range m.DenomUnits {
		for _, known := range append([]string{u.Denom}, u.Aliases...) {
			// More digits than an amount has are no unit, whatever its metadata says.
			if known == name && u.Exponent < 78 {
				return unit{m.Base, u.Exponent}, true
			}
		}
	}
	return unit{}, false
}

// unit finds what a denom means. The smallest unit of a coin that there is comes first, then the units of the coin in which
// fires are paid, then those of all others, of which one alone may have that name: on many chains everybody can name units.
func (j *Job) unit(denom string) (unit, error) {
	if j.Offline {
		return unit{base: denom}, nil
	}
	bank := banktypes.NewQueryClient(j.Context)
	supply, err := bank.SupplyOf(j.Ctx, &banktypes.QuerySupplyOfRequest{Denom: denom})
	switch {
	case err != nil && j.GenerateOnly:
		j.Notef("not checked against the chain's coins: %v", err)
		return unit{base: denom}, nil
	case err != nil:
		return unit{}, fmt.Errorf("ask for the chain's coins: %s", plain.ServerSays(err))
	case !supply.Amount.Amount.IsNil() && supply.Amount.IsPositive():
		return unit{base: denom}, nil
	}
	params, err := types.NewQueryClient(j.Context).Params(j.Ctx, &types.QueryParamsRequest{})
	if err != nil {
		return unit{}, fmt.Errorf("ask for the fee denom: %s", plain.ServerSays(err))
	}
	fees := params.Config.FeeDenom
	switch own, err := bank.DenomMetadata(j.Ctx, &banktypes.QueryDenomMetadataRequest{Denom: fees}); {
	case denom == fees:
		return unit{base: denom}, nil
	case strings.EqualFold(denom, fees):
		return unit{}, fmt.Errorf("the chain has no coin %s: did you mean %s?", denom, fees)
	case exponential.MatchString(denom):
		return unit{}, fmt.Errorf("the chain has no coin %s: write a number with all its digits", denom)
	case err == nil:
		if found, ok := find(&own.Metadata, denom); ok {
			return found, nil
		}
	}
	return j.unitOfAny(bank, denom)
}

// unitOfAny finds a unit that one coin alone has.
func (j *Job) unitOfAny(bank banktypes.QueryClient, denom string) (unit, error) {
	var found []unit
	near := ""
	page := &query.PageRequest{Limit: metadataPage}
	for range metadataPages {
		all, err := bank.DenomsMetadata(j.Ctx, &banktypes.QueryDenomsMetadataRequest{Pagination: page})
		if err != nil {
			return unit{}, fmt.Errorf("ask for the units of the chain's coins: %s", plain.ServerSays(err))
		}
		for i := range all.Metadatas {
			if one, ok := find(&all.Metadatas[i], denom); ok {
				found = append(found, one)
			}
			for _, u := range all.Metadatas[i].DenomUnits {
				if strings.EqualFold(u.Denom, denom) {
					near = ": did you mean " + u.Denom + "?"
				}
			}
		}
		if page = (&query.PageRequest{Limit: metadataPage, Key: all.Pagination.GetNextKey()}); len(page.Key) == 0 {
			break
		}
	}
	switch {
	case len(found) == 1 && len(page.Key) == 0:
		return found[0], nil
	case len(found) > 0:
		return unit{}, fmt.Errorf("more than one coin may call a unit %s, %s among them: state the smallest unit", denom, found[0].base)
	case len(page.Key) > 0:
		return unit{}, fmt.Errorf("the chain has no coin %s, and too many to look for a unit of that name: state the smallest unit", denom)
	default:
		return unit{}, errors.New("the chain has no coin " + denom + near)
	}
}

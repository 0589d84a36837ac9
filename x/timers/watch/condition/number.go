package condition

import (
	"bytes"
	"slices"
	"strings"
)

const (
	// MaxDigits bounds the digits of a number, those after the point included: 78 are those of 2^256.
	MaxDigits = 78
	// MaxJSONBytes bounds a value that is read as a JSON number.
	MaxJSONBytes = 256
)

// Number reads a decimal number as JSON writes it, without an exponent and with at most MaxDigits digits, and returns its
// shortest form: 1.50 is 1.5, and -0 is 0.
func Number(text string) (number string, ok bool) {
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	switch {
	case !isDigits(whole), point && !isDigits(fraction), len(whole)+len(fraction) > MaxDigits:
		return "", false
	case len(whole) > 1 && whole[0] == '0':
		return "", false
	}
	number = whole
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		number += "." + fraction
	}
	if negative && number != "0" {
		number = "-" + number
	}
	return number, true
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// JSONNumber reads a value that is a JSON number, or a string that holds one, as contracts store them, and returns its
// shortest form. A value of more than MaxJSONBytes is none.
func JSONNumber(value []byte) (number string, ok bool) {
	if len(value) > MaxJSONBytes {
		return "", false
	}
	text := string(value)
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	return Number(text)
}

const (
	signNegative = 0
	signZero     = 1
	signPositive = 2
	// endOfDigits is less than every digit.
	endOfDigits = 0
)

// numberPlace encodes a number in its shortest form, so that bytes are in the order of the numbers: its sign, how many
// digits are before the point, the digits, and an end that is less than a digit. All but the sign is inverted if it is
// negative.
func numberPlace(number string) []byte {
	if number == "0" {
		return []byte{signZero}
	}
	digits, negative := strings.CutPrefix(number, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	place := make([]byte, 0, 3+len(digits))
	place = append(place, signPositive, byte(len(whole)))
	place = append(append(append(place, whole...), fraction...), endOfDigits)
	if negative {
		place[0] = signNegative
		for i := range place[1:] {
			place[1+i] ^= 0xff
		}
	}
	return place
}

// bytesPlace encodes bytes in their order: a zero byte is followed by 255, and two zero bytes are the end.
func bytesPlace(value []byte) []byte {
	escaped := bytes.ReplaceAll(value, []byte{0}, []byte{0, 0xff})
	return append(slices.Clip(escaped), 0, 0)
}

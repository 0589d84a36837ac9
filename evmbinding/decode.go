package evmbinding

import (
	"encoding/binary"
	"reflect"

	"github.com/ethereum/go-ethereum/accounts/abi"
)

// An ABI's list of what has no fixed size, such as byte strings or structs with lists in them, names the place of each
// element. Two elements may name one place, and decoding copies it for each: a short input can come to very much. So
// what an input comes to is measured before it is decoded, and paid for.

const wordBytes = 32

// decodedBytes is how many bytes the arguments of a call come to when they are decoded, each word and each string as
// often as it is read. It is at most the length of an input as compilers write it, in which each part stands for one
// element. Counting ends above most, and where the input is malformed: decoding ends there too.
func decodedBytes(arguments abi.Arguments, input []byte, most uint64) uint64 {
	m := measure{most: most}
	elems := make([]*abi.Type, len(arguments))
	for i := range arguments {
		elems[i] = &arguments[i].Type
	}
	m.tuple(elems, input)
	return m.bytes
}

// measure is a count that ends.
type measure struct{ bytes, most uint64 }

// add counts bytes, and reports whether to continue.
func (m *measure) add(bytes int) bool {
	m.bytes += uint64(bytes)
	return m.bytes <= m.most
}

// tuple counts elements, whose heads are the beginning of what they lie in.
func (m *measure) tuple(elems []*abi.Type, in []byte) bool {
	at := 0
	for _, elem := range elems {
		if words := fixedWords(elem); words > 0 {
			if at += words * wordBytes; at > len(in) || !m.add(words*wordBytes) {
				return false
			}
			continue
		}
		if !m.element(elem, in, at) {
			return false
		}
		at += wordBytes
	}
	return true
}

// element counts one without a fixed size, whose place stands at an offset of what it lies in.
func (m *measure) element(t *abi.Type, in []byte, at int) bool {
	place, ok := wordAt(in, at)
	if !ok || !m.add(wordBytes) {
		return false
	}
	in = in[place:]
	if t.T == abi.TupleTy {
		return m.tuple(t.TupleElems, in)
	}
	length, ok := wordAt(in, 0)
	if !ok || !m.add(wordBytes) {
		return false
	}
	if in = in[wordBytes:]; t.T != abi.SliceTy {
		return m.add(length)
	}
	if words := fixedWords(t.Elem); words > 0 {
		return m.add(min(length*words*wordBytes, len(in)))
	}
	for i := range length {
		if !m.element(t.Elem, in, i*wordBytes) {
			return false
		}
	}
	return true
}

// wordAt reads a length or a place within bytes, which is no greater than what they have.
func wordAt(in []byte, at int) (int, bool) {
	if at+wordBytes > len(in) {
		return 0, false
	}
	word := in[at : at+wordBytes]
	for _, b := range word[:wordBytes-8] {
		if b != 0 {
			return 0, false
		}
	}
	value := binary.BigEndian.Uint64(word[wordBytes-8:])
	return int(value), value <= uint64(len(in))
}

// encodedBytes is how many bytes a value comes to when it is encoded, less the places of what has no fixed size.
func encodedBytes(value reflect.Value) (bytes uint64) {
	switch value.Kind() {
	case reflect.Struct:
		for i := range value.NumField() {
			bytes += encodedBytes(value.Field(i))
		}
		return bytes
	case reflect.String:
		return wordBytes + uint64(value.Len())
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			return wordBytes + uint64(value.Len())
		}
		for i := range value.Len() {
			bytes += encodedBytes(value.Index(i))
		}
		return wordBytes + bytes
	default:
		return wordBytes
	}
}

// fixedWords is how many words a type always has; 0 if that depends on the value. The interfaces have no arrays.
func fixedWords(t *abi.Type) (words int) {
	switch t.T {
	case abi.StringTy, abi.BytesTy, abi.SliceTy:
		return 0
	case abi.TupleTy:
		for _, elem := range t.TupleElems {
			more := fixedWords(elem)
			if more == 0 {
				return 0
			}
			words += more
		}
		return words
	default:
		return 1
	}
}

package keeper_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/cosmos/gogoproto/grpc"
	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	stdgrpc "google.golang.org/grpc"
	protov2 "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// longText is what is sent in each field: a megabyte.
	longText = 1 << 20
	// refusalBytes bounds what is allocated to refuse it, in addition to what a short text takes.
	refusalBytes = 16 << 10
	// longFieldBytes bounds that for the two fields that may be as long, which are copied a few times, and decoding.
	longFieldBytes = 8 * longText
	// errorBytes bounds the text of an error.
	errorBytes = 2_000
)

// mayBeLong are the fields that may hold a megabyte: the payload of a timer, and a message in a timer.
var mayBeLong = map[string]bool{"payload": true, "value of google.protobuf.Any": true}

// services collects the methods of servers.
type services struct {
	methods []stdgrpc.MethodDesc
	servers []any
}

var _ grpc.Server = (*services)(nil)

func (s *services) RegisterService(desc *stdgrpc.ServiceDesc, server interface{}) {
	for _, method := range desc.Methods {
		s.methods, s.servers = append(s.methods, method), append(s.servers, server)
	}
}

// filled is a message with one field set to a text, wherever the field lies within it, and what it is called.
type filled struct {
	path string
	long bool
	set  func(text []byte) []byte
}

// fieldsOf are the texts and bytes of a message and of those within it. Address fields have an address otherwise, so that
// what is wrong is the text alone.
func fieldsOf(desc protoreflect.MessageDescriptor, depth int, address func(string) string) (all []filled) {
	if depth == 0 {
		return nil
	}
	build := func(field protoreflect.FieldDescriptor, value func(m *dynamicpb.Message)) []byte {
		m := dynamicpb.NewMessage(desc)
		for i := range desc.Fields().Len() {
			other := desc.Fields().Get(i)
			if other != field && other.Kind() == protoreflect.StringKind && !other.IsList() {
				if text := address(string(other.Name())); text != "" {
					m.Set(other, protoreflect.ValueOfString(text))
				}
			}
		}
		value(m)
		bz, err := protov2.Marshal(m)
		if err != nil {
			panic(err)
		}
		return bz
	}
	for i := range desc.Fields().Len() {
		field := desc.Fields().Get(i)
		put := func(m *dynamicpb.Message, value protoreflect.Value) {
			if field.IsList() {
				m.Mutable(field).List().Append(value)
				return
			}
			m.Set(field, value)
		}
		switch field.Kind() {
		case protoreflect.StringKind, protoreflect.BytesKind:
			name := string(field.Name())
			all = append(all, filled{
				path: name, long: mayBeLong[name] || mayBeLong[name+" of "+string(desc.FullName())],
				set: func(text []byte) []byte {
					return build(field, func(m *dynamicpb.Message) {
						if field.Kind() == protoreflect.StringKind {
							put(m, protoreflect.ValueOfString(string(text)))
						} else {
							put(m, protoreflect.ValueOfBytes(text))
						}
					})
				},
			})
		case protoreflect.MessageKind:
			for _, inner := range fieldsOf(field.Message(), depth-1, func(string) string { return "" }) {
				all = append(all, filled{
					path: string(field.Name()) + "." + inner.path, long: inner.long,
					set: func(text []byte) []byte {
						return build(field, func(m *dynamicpb.Message) {
							value := dynamicpb.NewMessage(field.Message())
							if err := protov2.Unmarshal(inner.set(text), value); err != nil {
								panic(err)
							}
							put(m, protoreflect.ValueOfMessage(value))
						})
					},
				})
			}
		default:
		}
	}
	return all
}

// allocated is how many bytes a function allocates.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// handled is what a method does with an encoded message: bytes allocated to decode it and to handle it, and the error.
func handled(f *fixture, server any, method stdgrpc.MethodDesc, bz []byte) (decoding, handling uint64, failure error) {
	ctx, _ := f.Ctx().CacheContext()
	var decoded any
	total := allocated(func() {
		_, failure = method.Handler(server, context.Context(ctx), func(msg any) error {
			var err error
			decoding = allocated(func() { err = f.Codec.Unmarshal(bz, msg.(proto.Message)) })
			decoded = msg
			return err
		}, nil)
	})
	if basic, ok := decoded.(sdk.HasValidateBasic); ok {
		total += allocated(func() {
			if err := basic.ValidateBasic(); err != nil && len(err.Error()) > len(failure.Error()) {
				failure = err
			}
		})
	}
	return decoding, total - decoding, failure
}

// TestInputs_LongTextIsRefusedBeforeItIsRead sends a megabyte in each text of each message and each query, whatever it is
// of. A max_charge of a million digits took 1.5 s of a processor to refuse, of four million 23 s.
func TestInputs_LongTextIsRefusedBeforeItIsRead(t *testing.T) {
	f := newFixture(t)
	all := &services{}
	types.RegisterMsgServer(all, keeper.NewMsgServer(f.Timers))
	types.RegisterQueryServer(all, f.query())
	address := func(name string) string {
		switch name {
		case "sender", "actor":
			return alice.String()
		case "authority":
			return f.Authority
		case "id":
			return strings.Repeat("0", 64)
		}
		return ""
	}
	texts := map[string]string{
		"digits": strings.Repeat("9", longText), "zeros": strings.Repeat("0", longText), "letters": strings.Repeat("a", longText),
		"an address and more": alice.String() + strings.Repeat("1", longText), "a decimal": "0." + strings.Repeat("7", longText),
		"base64": base64.StdEncoding.EncodeToString(make([]byte, longText*3/4)),
	}
	fields := 0
	for i, method := range all.methods {
		request := requestOf(t, all.servers[i], method)
		for _, field := range fieldsOf(request, 6, address) {
			fields++
			_, short, _ := handled(f, all.servers[i], method, field.set([]byte("x")))
			for name, text := range texts {
				what := fmt.Sprintf("%s: %s of %s", method.MethodName, name, field.path)
				decoding, handling, err := handled(f, all.servers[i], method, field.set([]byte(text)))
				assert.Less(t, decoding, uint64(longFieldBytes), "%s is decoded", what)
				// The SDK names a type that it does not know, whole.
				if err != nil && !strings.HasSuffix(field.path, "type_url") {
					assert.Less(t, len(err.Error()), errorBytes, what)
				}
				if field.long {
					assert.Less(t, handling, uint64(longFieldBytes), what)
					continue
				}
				assert.Error(t, err, what)
				assert.Less(t, handling, short+refusalBytes, what)
			}
		}
	}
	require.Greater(t, fields, 100, "texts of messages and queries")
}

// requestOf is the descriptor of what a method takes.
func requestOf(t *testing.T, server any, method stdgrpc.MethodDesc) protoreflect.MessageDescriptor {
	t.Helper()
	var name string
	_, err := method.Handler(server, context.Background(), func(msg any) error {
		name = proto.MessageName(msg.(proto.Message))
		return fmt.Errorf("no more is asked than its type, %s", reflect.TypeOf(msg))
	}, nil)
	require.Error(t, err)
	desc, err := proto.HybridResolver.FindDescriptorByName(protoreflect.FullName(name))
	require.NoError(t, err)
	return desc.(protoreflect.MessageDescriptor)
}

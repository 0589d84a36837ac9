package types_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"
	protov2 "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/cosmos/cosmos-sdk/types/msgservice"

	_ "github.com/cosmos-timers/timers/x/timers/types"
)

// protoPackage is the package of all that the module says.
const protoPackage = "timers.v1"

// ranger is a set of files.
type ranger interface {
	RangeFiles(fn func(protoreflect.FileDescriptor) bool)
}

// resolvers are the two ways in which the SDK looks descriptors up.
func resolvers(t *testing.T) map[string]ranger {
	t.Helper()
	merged, err := proto.MergedRegistry()
	require.NoError(t, err)
	return map[string]ranger{"merged": merged, "hybrid": proto.HybridResolver}
}

// timersFiles are the files of the package, by path.
func timersFiles(t *testing.T, resolver ranger) map[string]protoreflect.FileDescriptor {
	t.Helper()
	files := map[string]protoreflect.FileDescriptor{}
	resolver.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if file.Package() == protoPackage {
			files[file.Path()] = file
		}
		return true
	})
	for _, name := range []string{"config", "core", "events", "genesis", "query", "tx"} {
		require.Contains(t, files, "timers/v1/"+name+".proto")
	}
	return files
}

func timersService(t *testing.T, name protoreflect.Name) protoreflect.ServiceDescriptor {
	t.Helper()
	descriptor, err := proto.HybridResolver.FindDescriptorByName(protoreflect.FullName(protoPackage).Append(name))
	require.NoError(t, err)
	service, ok := descriptor.(protoreflect.ServiceDescriptor)
	require.True(t, ok)
	return service
}

// eachMessage calls fn for all messages, nested ones included.
func eachMessage(messages protoreflect.MessageDescriptors, fn func(protoreflect.MessageDescriptor)) {
	for i := range messages.Len() {
		fn(messages.Get(i))
		eachMessage(messages.Get(i).Messages(), fn)
	}
}

// TestNoDescriptorIsAPlaceholder: files are registered in the order of their names, and one that is registered before a
// file that it imports would see placeholders where messages should be, without an error.
func TestNoDescriptorIsAPlaceholder(t *testing.T) {
	for name, resolver := range resolvers(t) {
		t.Run(name, func(t *testing.T) {
			messages, references := 0, 0
			for path, file := range timersFiles(t, resolver) {
				require.False(t, file.IsPlaceholder(), "%s", path)
				imports := file.Imports()
				for i := range imports.Len() {
					// gogoproto's own registry leaves files of options alone unresolved; what counts is that they are there.
					_, err := proto.HybridResolver.FindFileByPath(imports.Get(i).Path())
					require.NoError(t, err, "%s imports %s", path, imports.Get(i).Path())
				}
				eachMessage(file.Messages(), func(message protoreflect.MessageDescriptor) {
					messages++
					references += requireResolved(t, message)
				})
			}
			require.Greater(t, messages, 40)
			require.Greater(t, references, 30)
		})
	}
}

// requireResolved checks what the fields of a message refer to, and returns how many references there are.
func requireResolved(t *testing.T, message protoreflect.MessageDescriptor) (references int) {
	t.Helper()
	fields := message.Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		var target protoreflect.Descriptor
		switch {
		case field.Message() != nil:
			target = field.Message()
			// Descriptors within placeholders have no fields; a message that is meant to be empty is a response.
			require.Positive(t, field.Message().Fields().Len(), "%s is of a message without fields", field.FullName())
		case field.Enum() != nil:
			target = field.Enum()
			require.Positive(t, field.Enum().Values().Len(), "%s is of an enum without values", field.FullName())
		default:
			continue
		}
		references++
		require.False(t, target.IsPlaceholder(), "%s is of %s, which is a placeholder", field.FullName(), target.FullName())
		require.False(t, target.ParentFile().IsPlaceholder(), "%s", field.FullName())
	}
	return references
}

// TestPlaceholdersWouldBeFound: a file that is built without its imports has them.
func TestPlaceholdersWouldBeFound(t *testing.T) {
	file := &descriptorpb.FileDescriptorProto{
		Name: protov2.String("broken.proto"), Package: protov2.String("broken"), Dependency: []string{"missing.proto"},
		MessageType: []*descriptorpb.DescriptorProto{{
			Name: protov2.String("M"),
			Field: []*descriptorpb.FieldDescriptorProto{{
				Name: protov2.String("f"), Number: protov2.Int32(1), TypeName: protov2.String(".missing.Other"),
				Type:  descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(),
				Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
			}},
		}},
	}
	built, err := protodesc.FileOptions{AllowUnresolvable: true}.New(file, nil)
	require.NoError(t, err)
	field := built.Messages().Get(0).Fields().Get(0)
	require.True(t, field.Message().IsPlaceholder())
	require.Zero(t, field.Message().Fields().Len())
}

// TestProtoAnnotations: every Msg service is marked as one, and every message that is signed names its signer.
func TestProtoAnnotations(t *testing.T) {
	merged, err := proto.MergedRegistry()
	require.NoError(t, err)
	require.NoError(t, msgservice.ValidateProtoAnnotations(merged))
	_, err = merged.FindDescriptorByName(protoPackage + ".Msg")
	require.NoError(t, err, "our service was not among those that were checked")
}

// TestGogoAndProtoRegistriesAgree: the SDK's signing and AutoCLI look messages up by descriptor, its codec by Go type.
func TestGogoAndProtoRegistriesAgree(t *testing.T) {
	for _, file := range timersFiles(t, proto.HybridResolver) {
		eachMessage(file.Messages(), func(message protoreflect.MessageDescriptor) {
			if message.IsMapEntry() {
				return
			}
			require.NotNil(t, proto.MessageType(string(message.FullName())), "%s has no Go type", message.FullName())
		})
	}
}

// TestEveryMethodHasItsOwnRequestAndResponse: shared ones can't be changed apart.
func TestEveryMethodHasItsOwnRequestAndResponse(t *testing.T) {
	var seen []protoreflect.FullName
	for _, name := range []protoreflect.Name{"Msg", "Query"} {
		methods := timersService(t, name).Methods()
		for i := range methods.Len() {
			method := methods.Get(i)
			for _, message := range []protoreflect.MessageDescriptor{method.Input(), method.Output()} {
				require.False(t, message.IsPlaceholder(), "%s", message.FullName())
				require.False(t, slices.Contains(seen, message.FullName()), "%s is used twice", message.FullName())
				require.True(t, strings.Contains(string(message.Name()), string(method.Name())), "%s of %s", message.Name(), method.Name())
				seen = append(seen, message.FullName())
			}
		}
	}
	require.NotEmpty(t, seen)
}

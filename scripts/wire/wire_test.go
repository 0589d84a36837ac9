package wire

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	gogoproto "github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	// They register their files.
	_ "github.com/cosmos-timers/timers/x/timers/authz"
	_ "github.com/cosmos-timers/timers/x/timers/module/v1"
	_ "github.com/cosmos-timers/timers/x/timers/policies/agents"
	_ "github.com/cosmos-timers/timers/x/timers/policies/guests"
	_ "github.com/cosmos-timers/timers/x/timers/types"
)

// released is the image of the last release.
func released(t *testing.T) *descriptorpb.FileDescriptorSet {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "proto", "timers-v1.binpb"))
	require.NoError(t, err)
	var image descriptorpb.FileDescriptorSet
	require.NoError(t, proto.Unmarshal(content, &image))
	return &image
}

// compiled finds a file in the code.
func compiled(path string) *descriptorpb.FileDescriptorProto {
	file, err := gogoproto.HybridResolver.FindFileByPath(path)
	if err != nil {
		return nil
	}
	return protodesc.ToFileDescriptorProto(file)
}

func TestWire_BreaksNothingOfTheLastRelease(t *testing.T) {
	image := released(t)
	require.Empty(t, Breaking(image, compiled), "clients of the last release break; see CONTRIBUTING.md, Protobuf")

	// It looks at every file that the directory proto has, or has had.
	var paths []string
	for _, file := range image.File {
		paths = append(paths, file.GetName())
	}
	root := filepath.Join("..", "..", "proto")
	for _, pattern := range []string{"timers/*/*.proto", "timers/*/*/*.proto"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			path, err := filepath.Rel(root, file)
			require.NoError(t, err)
			if !slices.Contains(paths, path) {
				t.Logf("%s is new since the last release", path)
				require.NotNil(t, compiled(path), path)
			}
		}
	}
}

// TestWire_FindsWhatIsBroken changes one thing at a time, of the code as the image is, and names it.
func TestWire_FindsWhatIsBroken(t *testing.T) {
	type file = descriptorpb.FileDescriptorProto
	message := func(f *file, name string) *descriptorpb.DescriptorProto {
		i := slices.IndexFunc(f.MessageType, func(m *descriptorpb.DescriptorProto) bool { return m.GetName() == name })
		require.GreaterOrEqual(t, i, 0, name)
		return f.MessageType[i]
	}
	for _, c := range []struct {
		path, want string
		change     func(f *file)
	}{
		{"timers/v1/tx.proto", "message timers.v1 MsgPauseTimer is gone", func(f *file) {
			message(f, "MsgPauseTimer").Name = proto.String("MsgHoldTimer")
		}},
		{"timers/v1/tx.proto", "field timers.v1.MsgPauseTimer 1 is gone", func(f *file) {
			m := message(f, "MsgPauseTimer")
			m.Field = m.Field[1:]
		}},
		{"timers/v1/tx.proto", "field timers.v1.MsgPauseTimer 1 is gone", func(f *file) {
			message(f, "MsgPauseTimer").Field[0].Number = proto.Int32(99)
		}},
		{"timers/v1/tx.proto", "name of field timers.v1.MsgPauseTimer 1 was sender and is from", func(f *file) {
			message(f, "MsgPauseTimer").Field[0].Name = proto.String("from")
		}},
		{"timers/v1/tx.proto", "type of field timers.v1.MsgPauseTimer 1 was TYPE_STRING and is TYPE_BYTES", func(f *file) {
			message(f, "MsgPauseTimer").Field[0].Type = descriptorpb.FieldDescriptorProto_TYPE_BYTES.Enum()
		}},
		{"timers/v1/tx.proto", "label of field timers.v1.MsgPauseTimer 1 was LABEL_OPTIONAL and is LABEL_REP", func(f *file) {
			message(f, "MsgPauseTimer").Field[0].Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		}},
		{"timers/v1/tx.proto", "being in a oneof of field timers.v1.MsgPauseTimer 1 was false and is true", func(f *file) {
			message(f, "MsgPauseTimer").Field[0].OneofIndex = proto.Int32(0)
		}},
		{"timers/v1/tx.proto", `signing of timers.v1.MsgPauseTimer was 11110000="\x06sender"`, func(f *file) {
			options := message(f, "MsgPauseTimer").Options
			encoded, err := proto.Marshal(options)
			require.NoError(t, err)
			encoded = protowire.AppendTag(encoded, firstSigning, protowire.BytesType)
			require.NoError(t, proto.Unmarshal(protowire.AppendString(encoded, "payer"), options))
		}},
		{"timers/v1/core.proto", "value timers.v1.HoldReason 4 is gone", func(f *file) {
			i := slices.IndexFunc(f.EnumType, func(e *descriptorpb.EnumDescriptorProto) bool {
				return e.GetName() == "HoldReason"
			})
			values := &f.EnumType[i].Value
			*values = slices.DeleteFunc(*values, func(v *descriptorpb.EnumValueDescriptorProto) bool {
				return v.GetNumber() == 4
			})
		}},
		{"timers/v1/core.proto", "enum timers.v1 ", func(f *file) { f.EnumType = f.EnumType[1:] }},
		{"timers/v1/tx.proto", "service timers.v1 Msg is gone", func(f *file) { f.Service = nil }},
		{"timers/v1/query.proto", "method timers.v1.Query Timer is gone", func(f *file) {
			methods := &f.Service[0].Method
			*methods = slices.DeleteFunc(*methods, func(m *descriptorpb.MethodDescriptorProto) bool {
				return m.GetName() == "Timer"
			})
		}},
		{"timers/v1/query.proto", "streaming of method timers.v1.Query.", func(f *file) {
			f.Service[0].Method[0].ServerStreaming = proto.Bool(true)
		}},
		{"timers/v1/query.proto", "response of method timers.v1.Query.", func(f *file) {
			f.Service[0].Method[0].OutputType = proto.String(".timers.v1.QueryTimerRequest")
		}},
		{"timers/v1/query.proto", "package of timers/v1/query.proto was timers.v1 and is timers.v2", func(f *file) {
			f.Package = proto.String("timers.v2")
		}},
	} {
		broken := Breaking(released(t), func(path string) *file {
			found := compiled(path)
			if path == c.path {
				c.change(found)
			}
			return found
		})
		require.Len(t, broken, 1, c.want)
		require.Contains(t, broken[0], c.want)
	}
	missing := func(path string) *file {
		if path == "timers/v1/tx.proto" {
			return nil
		}
		return compiled(path)
	}
	require.Equal(t, []string{"file timers/v1/tx.proto is gone"}, Breaking(released(t), missing))
}

// TestWire_TakesWhatIsNew: further fields, messages and methods break no client.
func TestWire_TakesWhatIsNew(t *testing.T) {
	image := released(t)
	for _, file := range image.File {
		if file.GetName() != "timers/v1/query.proto" {
			continue
		}
		file.MessageType[0].Field = file.MessageType[0].Field[:0]
		file.MessageType = file.MessageType[:len(file.MessageType)-1]
		file.Service[0].Method = file.Service[0].Method[1:]
	}
	require.Empty(t, Breaking(image, compiled))
}

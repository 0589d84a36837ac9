// Package wire holds the messages and services that the code has to those of the last release, without buf: its test
// is part of `make check`, while `make proto-breaking` needs buf and looks at more, such as options of files.
package wire

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// own begins the paths of the files of this repository. The image has those that they import too.
const own = "timers/"

// The options by which messages are signed: who signs, and how Amino's JSON writes them. They are extensions that the
// SDK has defined in this range of numbers for all options of messages and fields.
const firstSigning, lastSigning = 11110000, 11110099

// Breaking lists what the files of the code break for those who speak to what the image describes: what is gone, and
// what is not what it was. What is new breaks nothing. Find returns a file of the code by its path, nil if there is
// none.
func Breaking(
	image *descriptorpb.FileDescriptorSet, find func(path string) *descriptorpb.FileDescriptorProto,
) []string {
	c := &comparison{}
	for _, was := range image.File {
		if !strings.HasPrefix(was.GetName(), own) {
			continue
		}
		is := find(was.GetName())
		if is == nil {
			c.gone("file " + was.GetName())
			continue
		}
		c.same("package of "+was.GetName(), was.GetPackage(), is.GetPackage())
		c.messages(was.GetPackage(), was.MessageType, is.MessageType)
		c.enums(was.GetPackage(), was.EnumType, is.EnumType)
		c.services(was.GetPackage(), was.Service, is.Service)
	}
	return c.found
}

// comparison collects what is broken.
type comparison struct{ found []string }

func (c *comparison) gone(what string) { c.found = append(c.found, what+" is gone") }

// same compares a property.
func (c *comparison) same(what string, was, is any) {
	if was != is {
		c.found = append(c.found, fmt.Sprintf("%s was %v and is %v", what, was, is))
	}
}

// pairs calls compare with each element and the one that has its key now.
func pairs[K comparable, T any](c *comparison, kind string, was, is []T, key func(T) K, compare func(was, is T)) {
	for _, old := range was {
		i := slices.IndexFunc(is, func(t T) bool { return key(t) == key(old) })
		if i < 0 {
			c.gone(fmt.Sprintf("%s %v", kind, key(old)))
			continue
		}
		compare(old, is[i])
	}
}

func (c *comparison) messages(scope string, was, is []*descriptorpb.DescriptorProto) {
	type message = descriptorpb.DescriptorProto
	pairs(c, "message "+scope, was, is, (*message).GetName, func(was, is *message) {
		name := scope + "." + was.GetName()
		c.same("signing of "+name, signing(was.Options), signing(is.Options))
		pairs(c, "field "+name, was.Field, is.Field, (*descriptorpb.FieldDescriptorProto).GetNumber,
			func(was, is *descriptorpb.FieldDescriptorProto) { c.field(name, was, is) })
		for _, field := range was.Field {
			if field.OneofIndex == nil {
				continue
			}
			i := slices.IndexFunc(is.Field, func(f *descriptorpb.FieldDescriptorProto) bool {
				return f.GetNumber() == field.GetNumber()
			})
			if i >= 0 && is.Field[i].OneofIndex != nil {
				c.same(fmt.Sprintf("oneof of field %s %d", name, field.GetNumber()),
					was.OneofDecl[*field.OneofIndex].GetName(), is.OneofDecl[*is.Field[i].OneofIndex].GetName())
			}
		}
		c.messages(name, was.NestedType, is.NestedType)
		c.enums(name, was.EnumType, is.EnumType)
	})
}

func (c *comparison) field(message string, was, is *descriptorpb.FieldDescriptorProto) {
	what := fmt.Sprintf(" of field %s %d", message, was.GetNumber())
	c.same("name"+what, was.GetName(), is.GetName())
	c.same("name in JSON"+what, was.GetJsonName(), is.GetJsonName())
	c.same("type"+what, was.GetType(), is.GetType())
	c.same("type"+what, was.GetTypeName(), is.GetTypeName())
	c.same("label"+what, was.GetLabel(), is.GetLabel())
	c.same("being in a oneof"+what, was.OneofIndex != nil, is.OneofIndex != nil)
	c.same("being optional"+what, was.GetProto3Optional(), is.GetProto3Optional())
	c.same("signing"+what, signing(was.Options), signing(is.Options))
}

func (c *comparison) enums(scope string, was, is []*descriptorpb.EnumDescriptorProto) {
	type enum = descriptorpb.EnumDescriptorProto
	pairs(c, "enum "+scope, was, is, (*enum).GetName, func(was, is *enum) {
		name := scope + "." + was.GetName()
		pairs(c, "value "+name, was.Value, is.Value, (*descriptorpb.EnumValueDescriptorProto).GetNumber,
			func(was, is *descriptorpb.EnumValueDescriptorProto) {
				c.same(fmt.Sprintf("name of value %s %d", name, was.GetNumber()), was.GetName(), is.GetName())
			})
	})
}

func (c *comparison) services(scope string, was, is []*descriptorpb.ServiceDescriptorProto) {
	type service = descriptorpb.ServiceDescriptorProto
	type method = descriptorpb.MethodDescriptorProto
	pairs(c, "service "+scope, was, is, (*service).GetName, func(was, is *service) {
		name := scope + "." + was.GetName()
		pairs(c, "method "+name, was.Method, is.Method, (*method).GetName, func(was, is *method) {
			what := " of method " + name + "." + was.GetName()
			c.same("request"+what, was.GetInputType(), is.GetInputType())
			c.same("response"+what, was.GetOutputType(), is.GetOutputType())
			c.same("streaming"+what, [2]bool{was.GetClientStreaming(), was.GetServerStreaming()},
				[2]bool{is.GetClientStreaming(), is.GetServerStreaming()})
		})
	})
}

// signing are the options by which a message is signed, in the order of their numbers, with their encoded values.
func signing(options proto.Message) string {
	encoded, err := proto.Marshal(options)
	if err != nil {
		return err.Error()
	}
	var all []string
	for len(encoded) > 0 {
		number, _, size := protowire.ConsumeField(encoded)
		if size < 0 {
			return protowire.ParseError(size).Error()
		}
		if firstSigning <= number && number <= lastSigning {
			all = append(all, fmt.Sprintf("%d=%q", number, encoded[protowire.SizeTag(number):size]))
		}
		encoded = encoded[size:]
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

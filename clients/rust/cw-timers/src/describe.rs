//! One description of each message makes its type, its protobuf, its JSON, and what a test compares with the `.proto` files.

use cosmwasm_std::{AnyMsg, Binary};
use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::wire::{self, DecodeError, Value};

/// The type of a field, as `.proto` files name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldType {
    /// `string`, `bytes`, `uint64`, `uint32`, `int64`, `int32`, `bool`, or the full name of a message or an enum.
    pub name: &'static str,
    /// Whether the field is a list.
    pub repeated: bool,
}

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldInfo {
    /// Its number on the wire.
    pub number: u32,
    /// Its name, which is also that in JSON.
    pub name: &'static str,
    /// Its type.
    pub ty: FieldType,
}

/// A protobuf message.
pub trait Message: Default {
    /// Its full name, such as `timers.v1.MsgScheduleTimer`.
    const NAME: &'static str;
    /// Its fields.
    const FIELDS: &'static [FieldInfo];

    /// Appends the encoded message.
    fn encode_to(&self, out: &mut Vec<u8>);

    /// Sets a field to a value of the wire, or appends to it. Numbers that the message does not have are passed over.
    fn merge_field(&mut self, number: u32, value: Value<'_>) -> Result<(), DecodeError>;

    /// A message with what `set` sets, and defaults otherwise. Messages can't be written as literals.
    fn with(set: impl FnOnce(&mut Self)) -> Self {
        let mut message = Self::default();
        set(&mut message);
        message
    }

    /// The encoded message.
    fn encode(&self) -> Binary {
        let mut out = Vec::new();
        self.encode_to(&mut out);
        Binary::from(out)
    }

    /// Decodes a message. Fields that it does not know, such as those of a later version of the chain, are passed over.
    fn decode(mut bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut message = Self::default();
        while let Some((number, value)) = wire::next_field(&mut bytes)? {
            message.merge_field(number, value)?;
        }
        Ok(message)
    }

    /// The message as an `Any`, whose type URL is a slash and its name.
    fn to_any(&self) -> AnyMsg {
        AnyMsg { type_url: format!("/{}", Self::NAME), value: self.encode() }
    }
}

/// The type of a field.
pub trait Field: Default + PartialEq {
    /// Its description.
    const TYPE: FieldType;
    /// Appends it, unless it is the default.
    fn put(&self, number: u32, out: &mut Vec<u8>);
    /// Sets it to a value of the wire, or appends the value.
    fn take(&mut self, value: Value<'_>) -> Result<(), DecodeError>;
    /// Writes it as protobuf's JSON.
    fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
    /// Reads it from protobuf's JSON, in which `null` is the default.
    fn from_json<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

/// What a list may hold.
pub trait Element: Sized + PartialEq + Serialize + for<'de> Deserialize<'de> {
    /// The name of its type.
    const NAME: &'static str;
    /// Appends it.
    fn put_element(&self, number: u32, out: &mut Vec<u8>);
    /// Reads it.
    fn take_element(value: Value<'_>) -> Result<Self, DecodeError>;
}

/// The name of a field that is a keyword in Rust.
pub(crate) const fn plain(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', rest @ ..] => match core::str::from_utf8(rest) {
            Ok(name) => name,
            Err(_) => name,
        },
        _ => name,
    }
}

const fn scalar(name: &'static str) -> FieldType {
    FieldType { name, repeated: false }
}

fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(d)?.unwrap_or_default())
}

impl Field for String {
    const TYPE: FieldType = scalar("string");
    fn put(&self, number: u32, out: &mut Vec<u8>) {
        wire::put_bytes(out, number, self.as_bytes());
    }
    fn take(&mut self, value: Value<'_>) -> Result<(), DecodeError> {
        *self = value.text()?;
        Ok(())
    }
    fn to_json<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self)
    }
    fn from_json<'de, D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        or_default(d)
    }
}

impl Field for Binary {
    const TYPE: FieldType = scalar("bytes");
    fn put(&self, number: u32, out: &mut Vec<u8>) {
        wire::put_bytes(out, number, self);
    }
    fn take(&mut self, value: Value<'_>) -> Result<(), DecodeError> {
        *self = value.binary()?;
        Ok(())
    }
    fn to_json<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.serialize(s)
    }
    fn from_json<'de, D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        or_default(d)
    }
}

impl Field for bool {
    const TYPE: FieldType = scalar("bool");
    fn put(&self, number: u32, out: &mut Vec<u8>) {
        wire::put_number(out, number, u64::from(*self));
    }
    fn take(&mut self, value: Value<'_>) -> Result<(), DecodeError> {
        *self = value.number()? != 0;
        Ok(())
    }
    fn to_json<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_bool(*self)
    }
    fn from_json<'de, D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        or_default(d)
    }
}

/// A number in JSON: 64 bits are written as a string, and both forms are read.
#[derive(Default)]
struct Number(u64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Number;
            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("a number, or one in quotes")
            }
            fn visit_u64<E: de::Error>(self, n: u64) -> Result<Number, E> {
                Ok(Number(n))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
                text.parse().map(Number).map_err(|_| E::custom("want a number from 0 to 2^64 - 1"))
            }
        }
        d.deserialize_any(Visitor)
    }
}

impl Field for u64 {
    const TYPE: FieldType = scalar("uint64");
    fn put(&self, number: u32, out: &mut Vec<u8>) {
        wire::put_number(out, number, *self);
    }
    fn take(&mut self, value: Value<'_>) -> Result<(), DecodeError> {
        *self = value.number()?;
        Ok(())
    }
    fn to_json<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
    fn from_json<'de, D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(or_default::<Number, D>(d)?.0)
    }
}

impl Field for u32 {
    const TYPE: FieldType = scalar("uint32");
    fn put(&self, number: u32, out: &mut Vec<u8>) {
        wire::put_number(out, number, u64::from(*self));
    }
    fn take(&mut self, value: Value<'_>) -> Result<(), DecodeError> {
        // As protobuf has it: the lower 32 bits.
        *self = value.number()? as u32;
        Ok(())
    }
    fn to_json<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u32(*self)
    }
    fn from_json<'de, D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let number = or_default::<Number, D>(d)?.0;
        u32::try_from(number).map_err(|_| de::Error::custom("want a number from 0 to 2^32 - 1"))
    }
}

/// A number with a sign in JSON: both forms are read.
#[derive(Default)]
struct Signed(i64);

impl<'de> Deserialize<'de> for Signed {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Signed;
            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("a number, or one in quotes")
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<Signed, E> {
                Ok(Signed(n))
            }
            fn visit_u64<E: de::Error>(self, n: u64) -> Result<Signed, E> {
                i64::try_from(n).map(Signed).map_err(|_| E::custom("want a number from -2^63 to 2^63 - 1"))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Signed, E> {
                text.parse().map(Signed).map_err(|_| E::custom("want a number from -2^63 to 2^63 - 1"))
            }
        }
        d.deserialize_any(Visitor)
    }
}

impl Field for i64 {
    const TYPE: FieldType = scalar("int64");
    fn put(&self, number: u32, out: &mut Vec<u8>) {
        wire::put_number(out, number, *self as u64);
    }
    fn take(&mut self, value: Value<'_>) -> Result<(), DecodeError> {
        *self = value.number()? as i64;
        Ok(())
    }
    fn to_json<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
    fn from_json<'de, D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(or_default::<Signed, D>(d)?.0)
    }
}

impl Field for i32 {
    const TYPE: FieldType = scalar("int32");
    fn put(&self, number: u32, out: &mut Vec<u8>) {
        // As protobuf has it: a negative number takes all 64 bits.
        wire::put_number(out, number, i64::from(*self) as u64);
    }
    fn take(&mut self, value: Value<'_>) -> Result<(), DecodeError> {
        *self = value.number()? as i32;
        Ok(())
    }
    fn to_json<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_i32(*self)
    }
    fn from_json<'de, D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let number = or_default::<Signed, D>(d)?.0;
        i32::try_from(number).map_err(|_| de::Error::custom("want a number from -2^31 to 2^31 - 1"))
    }
}

/// A message within a message, which may be absent.
impl<T: Message + Element> Field for Option<T> {
    const TYPE: FieldType = scalar(<T as Message>::NAME);
    fn put(&self, number: u32, out: &mut Vec<u8>) {
        if let Some(message) = self {
            message.put_element(number, out);
        }
    }
    fn take(&mut self, value: Value<'_>) -> Result<(), DecodeError> {
        let mut bytes = value.bytes()?;
        let message = self.get_or_insert_with(T::default);
        while let Some((number, value)) = wire::next_field(&mut bytes)? {
            message.merge_field(number, value)?;
        }
        Ok(())
    }
    fn to_json<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.serialize(s)
    }
    fn from_json<'de, D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Option::deserialize(d)
    }
}

impl<T: Element> Field for Vec<T> {
    const TYPE: FieldType = FieldType { name: T::NAME, repeated: true };
    fn put(&self, number: u32, out: &mut Vec<u8>) {
        for element in self {
            element.put_element(number, out);
        }
    }
    fn take(&mut self, value: Value<'_>) -> Result<(), DecodeError> {
        self.push(T::take_element(value)?);
        Ok(())
    }
    fn to_json<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.serialize(s)
    }
    fn from_json<'de, D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        or_default(d)
    }
}

impl Element for String {
    const NAME: &'static str = "string";
    fn put_element(&self, number: u32, out: &mut Vec<u8>) {
        wire::put_element(out, number, self.as_bytes());
    }
    fn take_element(value: Value<'_>) -> Result<Self, DecodeError> {
        value.text()
    }
}

/// How the fields of messages are written in JSON and read from it. The functions are not inlined: a message with dozens of
/// fields would make one of more local variables than x/wasm accepts, which is a hundred.
pub(crate) mod json {
    use core::fmt;
    use core::marker::PhantomData;

    use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
    use serde::ser::{Serialize, SerializeMap, Serializer};

    use super::Field;

    /// A message whose members can be written and read one by one.
    pub(crate) trait Members: Default {
        /// Writes those that are not the default.
        fn write<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error>;
        /// Reads the value of a member, or passes over one that the message does not have.
        fn read<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error>;
    }

    struct Value<T>(T);

    impl<T: Field> Serialize for Value<&T> {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            self.0.to_json(s)
        }
    }

    impl<'de, T: Field> Deserialize<'de> for Value<T> {
        fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
            T::from_json(d).map(Value)
        }
    }

    #[inline(never)]
    pub(crate) fn write_field<T: Field, S: SerializeMap>(
        map: &mut S,
        name: &'static str,
        field: &T,
    ) -> Result<(), S::Error> {
        if *field == T::default() {
            return Ok(());
        }
        map.serialize_entry(name, &Value(field))
    }

    #[inline(never)]
    pub(crate) fn read_field<'de, T: Field, A: MapAccess<'de>>(map: &mut A, field: &mut T) -> Result<(), A::Error> {
        *field = map.next_value::<Value<T>>()?.0;
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn pass_over<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
        map.next_value::<IgnoredAny>().map(drop)
    }

    pub(crate) fn write<M: Members, S: Serializer>(message: &M, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(None)?;
        message.write(&mut map)?;
        map.end()
    }

    pub(crate) fn read<'de, M: Members, D: Deserializer<'de>>(d: D) -> Result<M, D::Error> {
        struct Object<M>(PhantomData<M>);
        impl<'de, M: Members> Visitor<'de> for Object<M> {
            type Value = M;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<M, A::Error> {
                let mut message = M::default();
                while let Some(name) = map.next_key::<String>()? {
                    message.read(&name, &mut map)?;
                }
                Ok(message)
            }
        }
        d.deserialize_map(Object(PhantomData))
    }
}

/// An enum in JSON is its name, or its number.
pub(crate) fn enum_from_json<'de, D: Deserializer<'de>>(names: &[(i32, &str)], d: D) -> Result<i32, D::Error> {
    struct Visitor<'a>(&'a [(i32, &'a str)]);
    impl de::Visitor<'_> for Visitor<'_> {
        type Value = i32;
        fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            f.write_str("the name of an enum's value, or its number")
        }
        fn visit_str<E: de::Error>(self, name: &str) -> Result<i32, E> {
            // A name that a later version of the chain has is no error.
            Ok(self.0.iter().find(|(_, known)| *known == name).map_or(i32::MIN, |(number, _)| *number))
        }
        fn visit_u64<E: de::Error>(self, number: u64) -> Result<i32, E> {
            i32::try_from(number).map_err(|_| E::custom("want a number of 32 bits"))
        }
        fn visit_unit<E: de::Error>(self) -> Result<i32, E> {
            Ok(0)
        }
    }
    d.deserialize_any(Visitor(names))
}

macro_rules! messages {
    ($(
        $(#[$doc:meta])*
        $name:ident = $full:literal { $( $(#[$field_doc:meta])* $number:literal $field:ident: $ty:ty, )* }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name {$(
            $(#[$field_doc])*
            pub $field: $ty,
        )*}

        impl crate::describe::json::Members for $name {
            #[allow(unused_variables)]
            fn write<S: serde::ser::SerializeMap>(&self, map: &mut S) -> Result<(), S::Error> {
                $( crate::describe::json::write_field(
                    map, const { crate::describe::plain(stringify!($field)) }, &self.$field,
                )?; )*
                Ok(())
            }
            #[allow(unused_variables)]
            fn read<'de, A: serde::de::MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
                $( if name == const { crate::describe::plain(stringify!($field)) } {
                    return crate::describe::json::read_field(map, &mut self.$field);
                } )*
                crate::describe::json::pass_over(map)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                crate::describe::json::write(self, s)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                crate::describe::json::read(d)
            }
        }

        impl crate::describe::Message for $name {
            const NAME: &'static str = $full;
            const FIELDS: &'static [crate::describe::FieldInfo] = &[$(
                crate::describe::FieldInfo {
                    number: $number, name: crate::describe::plain(stringify!($field)), ty: <$ty as crate::describe::Field>::TYPE,
                },
            )*];
            #[allow(unused_variables)]
            fn encode_to(&self, out: &mut Vec<u8>) {
                $( crate::describe::Field::put(&self.$field, $number, out); )*
            }
            #[allow(unused_variables)]
            fn merge_field(
                &mut self, number: u32, value: crate::wire::Value<'_>,
            ) -> Result<(), crate::wire::DecodeError> {
                match number {
                    $( $number => crate::describe::Field::take(&mut self.$field, value), )*
                    _ => Ok(()),
                }
            }
        }

        impl crate::describe::Element for $name {
            const NAME: &'static str = $full;
            fn put_element(&self, number: u32, out: &mut Vec<u8>) {
                crate::wire::put_element(out, number, &crate::describe::Message::encode(self));
            }
            fn take_element(value: crate::wire::Value<'_>) -> Result<Self, crate::wire::DecodeError> {
                <Self as crate::describe::Message>::decode(value.bytes()?)
            }
        }
    )*};
}
pub(crate) use messages;

macro_rules! enums {
    ($(
        $(#[$doc:meta])*
        $name:ident = $full:literal { $( $(#[$value_doc:meta])* $number:literal $value:ident = $text:literal, )* }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$value_doc])* $value, )*
            /// A value of a later version of the chain.
            Unrecognized(i32),
        }

        impl $name {
            /// Its full name in protobuf.
            pub const NAME: &'static str = $full;
            /// The values with their numbers and names.
            pub const VALUES: &'static [(i32, &'static str)] = &[$( ($number, $text), )*];

            /// The value's number.
            pub const fn number(self) -> i32 {
                match self {
                    $( $name::$value => $number, )*
                    $name::Unrecognized(number) => number,
                }
            }

            /// The value with this number.
            pub const fn from_number(number: i32) -> Self {
                match number {
                    $( $number => $name::$value, )*
                    other => $name::Unrecognized(other),
                }
            }

            /// The value's name; `None` for one that is not recognized.
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $( $name::$value => Some($text), )*
                    $name::Unrecognized(_) => None,
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                $name::from_number(0)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                match self.name() {
                    Some(name) => s.serialize_str(name),
                    None => s.serialize_i32(self.number()),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                crate::describe::enum_from_json(Self::VALUES, d).map(Self::from_number)
            }
        }

        impl crate::describe::Field for $name {
            const TYPE: crate::describe::FieldType =
                crate::describe::FieldType { name: $full, repeated: false };
            fn put(&self, number: u32, out: &mut Vec<u8>) {
                // Negative numbers, which no enum of the module has, would be sign-extended.
                crate::wire::put_number(out, number, i64::from(self.number()) as u64);
            }
            fn take(&mut self, value: crate::wire::Value<'_>) -> Result<(), crate::wire::DecodeError> {
                *self = $name::from_number(value.number()? as i32);
                Ok(())
            }
            fn to_json<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(self, s)
            }
            fn from_json<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                serde::Deserialize::deserialize(d)
            }
        }
    )*};
}
pub(crate) use enums;

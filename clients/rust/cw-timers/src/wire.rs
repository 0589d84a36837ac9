//! As much of protobuf as the module's messages take: varints, and fields with a length.

use cosmwasm_std::{Binary, StdError};

/// A value as it lies on the wire.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// A number.
    Varint(u64),
    /// A text, bytes, or a message.
    Bytes(&'a [u8]),
    /// A number of fixed length. No field of the module has one.
    Fixed,
}

/// Why bytes are not the message that they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes end within a field.
    Truncated,
    /// A number has more than 64 bits.
    Overlong,
    /// A field is encoded as another type than its own.
    WrongType,
    /// A text is not UTF-8.
    NotUtf8,
    /// The field has an encoding that protobuf does not have, or the number 0.
    BadTag,
}

impl core::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            DecodeError::Truncated => "protobuf: truncated",
            DecodeError::Overlong => "protobuf: a number of more than 64 bits",
            DecodeError::WrongType => "protobuf: a field of another type",
            DecodeError::NotUtf8 => "protobuf: text that is not UTF-8",
            DecodeError::BadTag => "protobuf: not a field",
        })
    }
}

impl std::error::Error for DecodeError {}

impl From<DecodeError> for StdError {
    fn from(err: DecodeError) -> Self {
        StdError::generic_err(err.to_string())
    }
}

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH: u64 = 2;
const FIXED32: u64 = 5;

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take_varint(input: &mut &[u8]) -> Result<u64, DecodeError> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = input.split_first().ok_or(DecodeError::Truncated)?;
        *input = rest;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return Err(DecodeError::Overlong);
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(DecodeError::Overlong)
}

/// Appends a number, unless it is the default.
pub fn put_number(out: &mut Vec<u8>, field: u32, value: u64) {
    if value != 0 {
        put_varint(out, u64::from(field) << 3 | VARINT);
        put_varint(out, value);
    }
}

/// Appends bytes with their length, even if there are none: a member of a list, or a message that is present.
pub fn put_element(out: &mut Vec<u8>, field: u32, value: &[u8]) {
    put_varint(out, u64::from(field) << 3 | LENGTH);
    put_varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// Appends bytes, unless there are none.
pub fn put_bytes(out: &mut Vec<u8>, field: u32, value: &[u8]) {
    if !value.is_empty() {
        put_element(out, field, value);
    }
}

fn take_bytes<'a>(input: &mut &'a [u8], length: u64) -> Result<&'a [u8], DecodeError> {
    let length = usize::try_from(length).map_err(|_| DecodeError::Truncated)?;
    if length > input.len() {
        return Err(DecodeError::Truncated);
    }
    let (taken, rest) = input.split_at(length);
    *input = rest;
    Ok(taken)
}

/// Takes the next field off the input; `None` at its end.
pub fn next_field<'a>(input: &mut &'a [u8]) -> Result<Option<(u32, Value<'a>)>, DecodeError> {
    if input.is_empty() {
        return Ok(None);
    }
    let tag = take_varint(input)?;
    let field = u32::try_from(tag >> 3).map_err(|_| DecodeError::BadTag)?;
    if field == 0 {
        return Err(DecodeError::BadTag);
    }
    let value = match tag & 7 {
        VARINT => Value::Varint(take_varint(input)?),
        LENGTH => {
            let length = take_varint(input)?;
            Value::Bytes(take_bytes(input, length)?)
        }
        FIXED64 => take_bytes(input, 8).map(|_| Value::Fixed)?,
        FIXED32 => take_bytes(input, 4).map(|_| Value::Fixed)?,
        _ => return Err(DecodeError::BadTag),
    };
    Ok(Some((field, value)))
}

impl<'a> Value<'a> {
    pub(crate) fn number(self) -> Result<u64, DecodeError> {
        match self {
            Value::Varint(n) => Ok(n),
            _ => Err(DecodeError::WrongType),
        }
    }

    pub(crate) fn bytes(self) -> Result<&'a [u8], DecodeError> {
        match self {
            Value::Bytes(b) => Ok(b),
            _ => Err(DecodeError::WrongType),
        }
    }

    pub(crate) fn text(self) -> Result<String, DecodeError> {
        core::str::from_utf8(self.bytes()?).map(String::from).map_err(|_| DecodeError::NotUtf8)
    }

    pub(crate) fn binary(self) -> Result<Binary, DecodeError> {
        Ok(Binary::from(self.bytes()?))
    }
}

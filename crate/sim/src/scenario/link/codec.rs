//! From a fragment to named values and back.
//!
//! *Readable* (`t`): `name=value` joined by `&`; whatever could be misread in an address is written
//! as `%` and two hexadecimal digits. *Compressed* (`z`): the same with hardly anything escaped, raw
//! deflate, base64 with the alphabet for addresses.

use super::LinkError;
use super::packing::{pack, unpack};
use litemap::LiteMap;

/// The most a link may unpack to.
pub const MAX_PAYLOAD_BYTES: usize = 64 * 1024;

/// The most named values of a link.
const MAX_FIELDS: usize = 256;

/// Named values.
pub(super) type Fields = LiteMap<String, String>;

/// The order in which names stand in a readable link; all others follow, by name.
const ORDER: [&str; 8] = ["experiment", "scenario", "case", "kernels", "seed", "seeds", "time", "workload"];

/// Schema and named values of a fragment, with or without its `#`.
pub(super) fn decode(fragment: &str) -> Result<(u32, Fields), LinkError> {
    let fragment = fragment.trim().trim_start_matches('#');
    let digits = fragment.bytes().take_while(u8::is_ascii_digit).count();
    let (schema, rest) = fragment.split_at_checked(digits).unwrap_or(("", fragment));
    let schema: u32 =
        schema.parse().map_err(|_| LinkError::broken("it does not begin with a version, such as #1t."))?;
    if schema > super::SCHEMA {
        return Err(LinkError::Newer { link: schema, known: super::SCHEMA });
    }
    if schema == 0 {
        return Err(LinkError::broken("there is no version 0"));
    }
    let text = match rest.get(..2) {
        Some("t.") => rest.get(2..).unwrap_or("").to_owned(),
        Some("z.") => unpack(rest.get(2..).unwrap_or(""))?,
        _ => return Err(LinkError::broken("after the version comes \"t.\" or \"z.\"")),
    };
    if text.len() > 3 * MAX_PAYLOAD_BYTES {
        return Err(LinkError::TooLarge);
    }
    Ok((schema, parse(&text)?))
}

fn parse(text: &str) -> Result<Fields, LinkError> {
    let mut fields = Fields::new();
    let mut bytes = 0;
    for part in text.split('&').filter(|part| !part.is_empty()) {
        let (name, value) = part
            .split_once('=')
            .ok_or_else(|| LinkError::broken(format!("\"{}\" is no name=value", shown(part))))?;
        let (name, value) = (unescape(name)?, unescape(value)?);
        bytes += name.len() + value.len();
        if bytes > MAX_PAYLOAD_BYTES || fields.len() >= MAX_FIELDS {
            return Err(LinkError::TooLarge);
        }
        let twice = format!("\"{}\" is said twice", shown(&name));
        if fields.insert(name, value).is_some() {
            return Err(LinkError::broken(twice));
        }
    }
    Ok(fields)
}

/// A short beginning of a text that may be anything.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(30).collect()
}

/// The readable fragment, `#` included.
pub(super) fn encode_readable(schema: u32, fields: &Fields) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~,@+:/".contains(&byte);
    format!("#{schema}t.{}", join(fields, is_plain))
}

/// The compressed fragment, `#` included; `None` where nothing is compressed.
pub(super) fn encode_compressed(schema: u32, fields: &Fields) -> Option<String> {
    // Only what separates is escaped, so that the compressor sees the text as it is.
    let is_plain = |byte: u8| !b"%&=".contains(&byte);
    Some(format!("#{schema}z.{}", pack(&join(fields, is_plain))?))
}

fn join(fields: &Fields, is_plain: impl Fn(u8) -> bool + Copy) -> String {
    let first = ORDER.iter().filter_map(|name| fields.get(*name).map(|value| (*name, value.as_str())));
    let named = fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let rest = named.filter(|(name, _)| !ORDER.contains(name));
    let part =
        |(name, value): (&str, &str)| format!("{}={}", escape(name, is_plain), escape(value, is_plain));
    first.chain(rest).map(part).collect::<Vec<_>>().join("&")
}

fn escape(text: &str, is_plain: impl Fn(u8) -> bool) -> String {
    let mut escaped = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            escaped.push(byte);
        } else {
            escaped.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    // Every byte of a letter beyond ASCII is treated alike only if `is_plain` does so; both callers do.
    String::from_utf8_lossy(&escaped).into_owned()
}

fn unescape(text: &str) -> Result<String, LinkError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let value = digit(rest.next()).zip(digit(rest.next())).map(|(high, low)| high * 16 + low);
        match value.and_then(|value| u8::try_from(value).ok()) {
            Some(byte) => bytes.push(byte),
            None => return Err(LinkError::broken("a % is not followed by two hexadecimal digits")),
        }
    }
    String::from_utf8(bytes).map_err(|_| LinkError::broken("it contains bytes that are no text"))
}

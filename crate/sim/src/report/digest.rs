//! The digest of a run: equal digests mean the same run, on every target.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A 64-bit digest. JSON and JavaScript see 16 hexadecimal digits, binary formats a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digest(pub u64);

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl std::str::FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_form = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = is_form.then(|| u64::from_str_radix(text, 16).ok()).flatten();
        number.map(Self).ok_or_else(|| format!("\"{text}\" is no digest: 16 hexadecimal digits"))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_u64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            text.parse().map_err(serde::de::Error::custom)
        } else {
            u64::deserialize(deserializer).map(Self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text and number agree, in both kinds of format.
    #[test]
    fn a_digest_survives_both_formats() {
        let digest = Digest(0x00ff_1234_0000_abcd);
        assert_eq!(serde_json::to_string(&digest).ok().as_deref(), Some("\"00ff12340000abcd\""));
        assert_eq!(serde_json::from_str::<Digest>("\"00ff12340000abcd\"").ok(), Some(digest));
        let bytes = postcard::to_allocvec(&digest).expect("a number");
        assert_eq!(postcard::from_bytes::<Digest>(&bytes), Ok(digest));
        assert!("00ff".parse::<Digest>().is_err());
        assert!("+0ff12340000abcd".parse::<Digest>().is_err());
    }
}

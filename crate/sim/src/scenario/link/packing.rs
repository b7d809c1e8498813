//! The compressed form's payload: raw deflate, base64 with the alphabet for addresses.
//!
//! Without the feature `deflate` nothing is packed, and what is packed is refused: the page leaves both to the browser, which
//! has a deflate of its own (`www/parts/packing.js`), and is 15 KB lighter.

use super::LinkError;

#[cfg(feature = "deflate")]
pub(super) use packed::{pack, unpack};

#[cfg(feature = "deflate")]
mod packed {
    use super::super::codec::MAX_PAYLOAD_BYTES;
    use super::LinkError;
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use miniz_oxide::deflate::compress_to_vec;
    use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

    /// How hard to compress: the most that miniz knows.
    const COMPRESSION_LEVEL: u8 = 10;

    /// A text's payload. Never `None`: that is for builds without the feature.
    pub(in super::super) fn pack(text: &str) -> Option<String> {
        Some(URL_SAFE_NO_PAD.encode(compress_to_vec(text.as_bytes(), COMPRESSION_LEVEL)))
    }

    /// The text of a payload.
    ///
    /// # Errors
    /// It is damaged, or too large.
    pub(in super::super) fn unpack(payload: &str) -> Result<String, LinkError> {
        let compressed = URL_SAFE_NO_PAD
            .decode(payload.trim_end_matches('='))
            .map_err(|_| LinkError::broken("its characters are not those of a compressed link"))?;
        let bytes = decompress_to_vec_with_limit(&compressed, MAX_PAYLOAD_BYTES).map_err(|error| {
            if error.status == TINFLStatus::HasMoreOutput {
                LinkError::TooLarge
            } else {
                LinkError::broken("it cannot be unpacked")
            }
        })?;
        String::from_utf8(bytes).map_err(|_| LinkError::broken("what it unpacks to is no text"))
    }
}

/// Nothing is packed.
#[cfg(not(feature = "deflate"))]
pub(super) fn pack(_: &str) -> Option<String> {
    None
}

/// Nothing can be unpacked.
///
/// # Errors
/// Always.
#[cfg(not(feature = "deflate"))]
pub(super) fn unpack(_: &str) -> Result<String, LinkError> {
    Err(LinkError::broken("it cannot be unpacked"))
}

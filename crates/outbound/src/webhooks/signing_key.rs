//! The secret of a target, which signs requests (Standard Webhooks, "Signature scheme").

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

/// What a secret begins with.
const PREFIX: &str = "whsec_";
/// The bytes of a secret.
const LENGTHS: std::ops::RangeInclusive<usize> = 24..=64;

/// Signs by HMAC-SHA256.
pub struct SigningKey(hmac::Key);

/// Why a text is not a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be whsec_ and 24 to 64 random bytes in base64: echo \"whsec_$(openssl rand -base64 32)\""
)]
pub struct BadKey;

impl SigningKey {
    /// Reads `whsec_` and the bytes in base64.
    ///
    /// # Errors
    /// [`BadKey`].
    pub fn parse(text: &str) -> Result<Self, BadKey> {
        let bytes =
            STANDARD.decode(text.strip_prefix(PREFIX).ok_or(BadKey)?).map_err(|_| BadKey)?;
        let has_valid_length = LENGTHS.contains(&bytes.len());
        has_valid_length.then(|| Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes))).ok_or(BadKey)
    }

    /// The value of `webhook-signature`.
    pub fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        let signed = hmac::sign(&self.0, format!("{id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(signed))
    }
}

/// Keys are equal if their signatures are.
impl PartialEq for SigningKey {
    fn eq(&self, other: &Self) -> bool {
        self.sign("", 0, "") == other.sign("", 0, "")
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_that_of_the_reference_libraries() {
        // The test vector of the libraries of Standard Webhooks.
        let key = SigningKey::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature =
            key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_eq!(format!("{key:?}"), "SigningKey");
    }

    #[test]
    fn secrets_have_a_prefix_and_the_right_length() {
        let secret = |length: usize| format!("whsec_{}", STANDARD.encode(vec![7; length]));
        for (text, is_valid) in [
            (secret(24), true),
            (secret(64), true),
            (secret(23), false),
            (secret(65), false),
            (secret(32).replace("whsec_", ""), false),
            ("whsec_not base64".to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(SigningKey::parse(&text).is_ok(), is_valid, "{text}");
        }
    }
}

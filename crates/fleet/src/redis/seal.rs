//! Seals of values: an HMAC with a key, a checksum without one.

use ring::digest::SHA256_OUTPUT_LEN;
use ring::hmac;
use secrecy::{ExposeSecret, SecretSlice};
use xxhash_rust::xxh3::Xxh3;

/// The value is damaged, has another context, or was sealed with another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the seal does not fit the value")]
pub struct BadSeal;

/// Seals and opens values of one prefix.
pub(super) struct Sealer {
    prefix: String,
    key: Option<hmac::Key>,
}

impl Sealer {
    pub(super) fn new(prefix: &str, key: Option<&SecretSlice<u8>>) -> Self {
        let key = key.map(|key| hmac::Key::new(hmac::HMAC_SHA256, key.expose_secret()));
        Self { prefix: prefix.to_owned(), key }
    }

    pub(super) fn seal(&self, context: &str, body: &[u8]) -> Vec<u8> {
        let mut sealed = Vec::with_capacity(body.len() + SHA256_OUTPUT_LEN);
        sealed.extend_from_slice(body);
        match &self.key {
            Some(key) => sealed.extend_from_slice(self.signature(key, context, body).as_ref()),
            None => sealed.extend_from_slice(&self.checksum(context, body)),
        }
        sealed
    }

    pub(super) fn open<'b>(&self, context: &str, sealed: &'b [u8]) -> Result<&'b [u8], BadSeal> {
        let at = sealed.len().checked_sub(self.len()).ok_or(BadSeal)?;
        let (body, seal) = sealed.split_at(at);
        let is_good = match &self.key {
            Some(key) => {
                let expected = self.signature(key, context, body);
                subtle::ConstantTimeEq::ct_eq(expected.as_ref(), seal).into()
            }
            None => self.checksum(context, body) == seal,
        };
        if is_good { Ok(body) } else { Err(BadSeal) }
    }

    /// The number of bytes that a seal adds.
    pub(super) fn len(&self) -> usize {
        if self.key.is_some() { SHA256_OUTPUT_LEN } else { size_of::<u128>() }
    }

    /// The id of the key, in 16 hexadecimal digits: the first 64 bits of the HMAC of a constant,
    /// which is not the context of any value. `None` without a key.
    pub(super) fn key_id(&self) -> Option<String> {
        let tag = self.signature(self.key.as_ref()?, "key id", b"");
        let first = tag.as_ref().first_chunk().expect("a signature has 32 bytes");
        Some(format!("{:016x}", u64::from_be_bytes(*first)))
    }

    fn signature(&self, key: &hmac::Key, context: &str, body: &[u8]) -> hmac::Tag {
        let mut signing = hmac::Context::with_key(key);
        self.each_part(context, body, |part| signing.update(part));
        signing.sign()
    }

    fn checksum(&self, context: &str, body: &[u8]) -> [u8; 16] {
        let mut hasher = Xxh3::new();
        self.each_part(context, body, |part| hasher.update(part));
        hasher.digest128().to_be_bytes()
    }

    /// The sealed parts; lengths come first, so that no two contexts and bodies have the same
    /// bytes.
    fn each_part(&self, context: &str, body: &[u8], mut part: impl FnMut(&[u8])) {
        for text in [self.prefix.as_bytes(), context.as_bytes()] {
            part(&(text.len() as u64).to_be_bytes());
            part(text);
        }
        part(body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealers() -> [Sealer; 2] {
        [Sealer::new("p", None), Sealer::new("p", Some(&vec![7; 32].into()))]
    }

    #[test]
    fn open_returns_what_was_sealed() {
        for sealer in sealers() {
            for body in [&b""[..], b"x", &[0; 1000]] {
                let sealed = sealer.seal("kind:1", body);
                assert_eq!(sealed.len(), body.len() + sealer.len());
                assert_eq!(sealer.open("kind:1", &sealed), Ok(body));
            }
        }
    }

    #[test]
    fn open_refuses_another_context_and_each_damaged_byte() {
        for sealer in sealers() {
            let sealed = sealer.seal("kind:1", b"body");
            for context in ["kind:2", "kind:", "kind:1b", ""] {
                assert_eq!(sealer.open(context, &sealed), Err(BadSeal), "{context}");
            }
            for at in 0..sealed.len() {
                let mut damaged = sealed.clone();
                damaged[at] ^= 1;
                assert_eq!(sealer.open("kind:1", &damaged), Err(BadSeal), "byte {at}");
                assert_eq!(sealer.open("kind:1", &sealed[..at]), Err(BadSeal), "{at} bytes");
            }
        }
    }

    #[test]
    fn key_id_is_the_same_for_one_key_alone() {
        let id = |key: u8| Sealer::new("p", Some(&vec![key; 32].into())).key_id();
        assert_eq!(id(7), id(7));
        assert_ne!(id(7), id(8));
        assert_eq!(id(7).unwrap().len(), 16);
        assert_eq!(Sealer::new("p", None).key_id(), None);
    }

    #[test]
    fn open_refuses_a_value_of_another_prefix_and_of_another_key() {
        let [plain, keyed] = sealers();
        let others = [
            Sealer::new("q", None),
            Sealer::new("q", Some(&vec![7; 32].into())),
            Sealer::new("p", Some(&vec![8; 32].into())),
        ];
        for other in others {
            let sealed = other.seal("c", b"body");
            assert_eq!(plain.open("c", &sealed), Err(BadSeal));
            assert_eq!(keyed.open("c", &sealed), Err(BadSeal));
        }
        assert_eq!(keyed.open("c", &plain.seal("c", b"body")), Err(BadSeal));
        assert_eq!(plain.open("c", &keyed.seal("c", b"body")), Err(BadSeal));
    }
}

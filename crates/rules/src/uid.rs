//! Content-type UIDs, as Strapi writes them.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// A content-type UID: `plugin::<plugin>.<name>` or `api::<api>.<name>`. Compared exactly.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentTypeUid(Arc<str>);

impl Borrow<str> for ContentTypeUid {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// The text is not a content-type UID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a content-type UID is `api::<api>.<name>` or `plugin::<plugin>.<name>`, the parts made of letters, digits, `-` and `_`, at most {} characters",
    ContentTypeUid::MAX_BYTES
)]
pub struct UidError;

impl ContentTypeUid {
    /// The longest UID that is accepted, in bytes (D3).
    pub const MAX_BYTES: usize = 128;

    /// Parses a UID.
    ///
    /// # Errors
    /// [`UidError`] when the text has another shape.
    pub fn parse(text: &str) -> Result<Self, UidError> {
        let word = |text: &str| {
            !text.is_empty()
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
        };
        let (_, path) = text
            .split_once("::")
            .filter(|(kind, _)| ["api", "plugin"].contains(kind))
            .ok_or(UidError)?;
        let (owner, name) = path.split_once('.').ok_or(UidError)?;
        if text.len() <= Self::MAX_BYTES && word(owner) && word(name) {
            Ok(Self(text.into()))
        } else {
            Err(UidError)
        }
    }

    /// The UID as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The plugin of a plugin's type: `cms` of `plugin::cms.article`.
    pub fn plugin(&self) -> Option<&str> {
        Some(self.0.strip_prefix("plugin::")?.split_once('.')?.0)
    }

    /// The type's own name: `article` of `plugin::cms.article`.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('.').map_or(self.as_str(), |(_, name)| name)
    }
}

impl fmt::Display for ContentTypeUid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsed_uid_has_a_plugin_and_a_name() {
        let uid = ContentTypeUid::parse("plugin::cms.press-release").unwrap();
        assert_eq!((uid.plugin(), uid.name()), (Some("cms"), "press-release"));
        let uid = ContentTypeUid::parse("api::article.article").unwrap();
        assert_eq!((uid.plugin(), uid.name()), (None, "article"));
    }

    #[test]
    fn malformed_uid_is_refused() {
        let long = format!("api::a.{}", "b".repeat(128));
        for bad in [
            "",
            "article",
            "api::article",
            "api::.a",
            "api::a.",
            "admin::a.b",
            "api::a.b.c",
            "api::a b.c",
            "plugin::é.a",
            "plugin::a.é",
            "plugin::a/b.c",
            &long,
        ] {
            assert_eq!(ContentTypeUid::parse(bad), Err(UidError), "{bad}");
        }
    }
}

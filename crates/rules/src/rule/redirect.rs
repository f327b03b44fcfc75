//! Redirects that are documents of the CMS: which fields say where a path leads.

use std::borrow::Cow;
use std::fmt;

use strum::VariantArray;

use crate::document::{Document, FieldValue};
use crate::encode::encode;
use crate::frontend_url::BaseUrl;
use crate::pathname::{PathSegment, Pathname};
use crate::template::FieldPath;
use crate::url_safety::{Fault, Width, check};

/// The end of a path that stands for all paths below, as an editor writes it.
const REST: &str = "*";

/// That end in a path as the service writes it.
pub const ENCODED_REST: &str = "/%2A";

/// The statuses that a redirect can have (RFC 9110, section 15.4), and 410: the page is gone.
pub const REDIRECT_STATUSES: [u16; 5] = [301, 302, 307, 308, GONE];

/// The longest address, in characters: that of a URL in a sitemap.
const MAX_ADDRESS: usize = 2_047;

/// The page is gone for good (RFC 9110, section 15.5.11).
const GONE: u16 = 410;

/// The fields of a content type whose documents are redirects. The path from which one leads is the path
/// field of the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectFields {
    /// The target: a path or a URL.
    pub to: Option<FieldPath>,
    /// The `documentId` behind a relation: the target is that document, wherever it is.
    pub document: Option<FieldPath>,
    /// The status.
    pub status: Option<FieldPath>,
    /// Whether the redirect comes before a live page.
    pub force: Option<FieldPath>,
    /// The hosts of other sites to which a redirect may lead, as a base URL has them.
    pub hosts: Vec<String>,
}

/// What a document says about the path from which it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect<'d> {
    /// Where the path leads.
    pub target: Target<'d>,
    /// The status, if the document has one.
    pub status: Option<u16>,
    /// Whether it comes before a live page.
    pub force: bool,
}

/// Where a redirect leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target<'d> {
    /// A path below the base URL, or a URL of an allowed host, percent-encoded, with query and fragment. A
    /// path that ends with [`ENCODED_REST`] takes over what is behind that of the path that leads here.
    Address(Cow<'d, str>),
    /// The document with this `documentId`.
    Document(Cow<'d, str>),
    /// Nowhere: the page is gone.
    Gone,
}

/// What is wrong with a document that should be a redirect. `Display` is the reason's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, thiserror::Error)]
pub enum RedirectFault {
    /// It has neither an address nor a document. A document that is not published counts as none.
    #[error("target_missing")]
    NoTarget,
    /// It has an address and a document.
    #[error("target_twice")]
    TwoTargets,
    /// The address is neither a path nor a URL, or has a `*` that is not all of its last segment.
    #[error("target_not_allowed")]
    NotAnAddress,
    /// The address has 2,048 characters or more.
    #[error("target_too_long")]
    TooLong,
    /// The settings do not list the host of the address.
    #[error("target_host_not_allowed")]
    OtherHost,
    /// The status is none of [`REDIRECT_STATUSES`].
    #[error("status_not_allowed")]
    Status,
    /// The field for a redirect before a live page is not a boolean.
    #[error("force_not_boolean")]
    Force,
}

impl RedirectFault {
    /// All of them.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The rest of a sentence about the document.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::NoTarget => "it has no target, or the target is not published in this locale",
            Self::TwoTargets => "it has both an address and a document as its target",
            Self::NotAnAddress => {
                "its target is neither a path nor a URL; a `*` may only be the last segment"
            }
            Self::TooLong => "its target has 2,048 characters or more",
            Self::OtherHost => "`redirect_hosts` of the site does not list the host of its target",
            Self::Status => "its status is not 301, 302, 307, 308 or 410",
            Self::Force => "its field for a redirect before a live page is not a boolean",
        }
    }
}

impl RedirectFields {
    /// The fields beside the path from which a redirect leads.
    pub fn fields(&self) -> impl Iterator<Item = &FieldPath> {
        [&self.to, &self.document, &self.status, &self.force].into_iter().flatten()
    }

    /// What a document says.
    ///
    /// # Errors
    /// [`RedirectFault`].
    pub fn of<'d>(&self, document: &'d Document<'_>) -> Result<Redirect<'d>, RedirectFault> {
        let value = |field: &Option<FieldPath>| {
            field.as_ref().map_or(&FieldValue::Missing, |field| document.field(field))
        };
        let status = status(value(&self.status))?;
        let force = match value(&self.force) {
            FieldValue::Boolean(force) => *force,
            FieldValue::Missing | FieldValue::NullAt(_) | FieldValue::Absent(_) => false,
            _ => return Err(RedirectFault::Force),
        };
        let target = match (text(value(&self.to))?, text(value(&self.document))?) {
            _ if status == Some(GONE) => Target::Gone,
            (Some(_), Some(_)) => return Err(RedirectFault::TwoTargets),
            (Some(text), None) => match self.address(text)? {
                address if address.len() > MAX_ADDRESS => return Err(RedirectFault::TooLong),
                address => Target::Address(address.into()),
            },
            (None, Some(id)) => Target::Document(id.into()),
            (None, None) => return Err(RedirectFault::NoTarget),
        };
        Ok(Redirect { target, status, force })
    }

    /// Checks an address, and percent-encodes it.
    fn address(&self, text: &str) -> Result<String, RedirectFault> {
        if text.starts_with('/') {
            return local(text);
        }
        let scheme = text.find("://").ok_or(RedirectFault::NotAnAddress)? + "://".len();
        let end = text[scheme..].find(['/', '?', '#']).map_or(text.len(), |at| scheme + at);
        let base = BaseUrl::parse(&text[..end]).map_err(|_| RedirectFault::NotAnAddress)?;
        if !self.hosts.iter().any(|host| host == base.host()) {
            return Err(RedirectFault::OtherHost);
        }
        let path = &text[end..];
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(base.as_str().to_owned() + &local(&format!("{slash}{path}"))?)
    }
}

/// A path with query and fragment. A second slash at the beginning would name a host.
fn local(text: &str) -> Result<String, RedirectFault> {
    if text.starts_with("//") || text.contains('\\') || text.chars().any(char::is_control) {
        return Err(RedirectFault::NotAnAddress);
    }
    let (path, suffix) = text.split_at(text.find(['?', '#']).unwrap_or(text.len()));
    let mut address = normalized(path).map_err(|_| RedirectFault::NotAnAddress)?;
    if path.len() > 1 && path.ends_with('/') {
        address.push('/');
    }
    for character in suffix.chars() {
        if character.is_ascii_graphic() && !"\"<>`^{|}".contains(character) {
            address.push(character);
        } else {
            let mut bytes = [0; 4];
            address.push_str(&encode(character.encode_utf8(&mut bytes)));
        }
    }
    Ok(address)
}

/// The normalized form of the path from which a redirect leads, or to which one leads, percent-encoded
/// or not.
pub(crate) fn normalized(path: &str) -> Result<String, Fault> {
    if !path.starts_with('/') || path.contains(['?', '#']) {
        return Err(Fault::NotAllowed);
    }
    let pathname = Pathname::parse(path);
    let last = pathname.count().wrapping_sub(1);
    for (at, segment) in pathname.segments().enumerate() {
        match segment {
            PathSegment::Unmatchable(_) => return Err(Fault::UnsafeAfterDecoding),
            PathSegment::Text(text) if text.contains(REST) && (at != last || text != REST) => {
                return Err(Fault::NotAllowed);
            }
            PathSegment::Text(text) => check("", text, "", Width::One)?,
        }
    }
    Ok(pathname.normalized().into_owned())
}

/// What an editor writes into the field of a redirect for exactly this normalized path (D7): letters and
/// digits of all scripts as they are, all else percent-encoded. `None`: the field cannot name the path, such
/// as one with a `*`, which stands for all paths below.
pub fn text_for_path(path: &str) -> Option<String> {
    let pathname = Pathname::parse(path);
    let mut text = String::with_capacity(path.len());
    for segment in pathname.segments() {
        let PathSegment::Text(segment) = segment else { return None };
        text.push('/');
        for character in segment.chars() {
            if character.is_alphanumeric() {
                text.push(character);
            } else {
                text.push_str(&encode(character.encode_utf8(&mut [0; 4])));
            }
        }
    }
    let text = if text.is_empty() { "/".to_owned() } else { text };
    let is_exact = !path.ends_with(ENCODED_REST) && normalized(&text).ok().as_deref() == Some(path);
    is_exact.then_some(text)
}

/// A text without white space around it; `None`: there is none.
fn text<'v>(value: &'v FieldValue<'_>) -> Result<Option<&'v str>, RedirectFault> {
    match value {
        FieldValue::Text(text) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
        FieldValue::Missing | FieldValue::NullAt(_) | FieldValue::Absent(_) => Ok(None),
        FieldValue::Boolean(_) | FieldValue::List(_) | FieldValue::NotText => {
            Err(RedirectFault::NotAnAddress)
        }
    }
}

/// The status: a number, or a text that ends with it, because values of an enumeration in Strapi begin
/// with a letter.
fn status(value: &FieldValue<'_>) -> Result<Option<u16>, RedirectFault> {
    let text = text(value).map_err(|_| RedirectFault::Status)?;
    let Some(text) = text else { return Ok(None) };
    let is_status = |status: &u16| REDIRECT_STATUSES.contains(status);
    let digits = text.trim_start_matches(|character: char| !character.is_ascii_digit());
    let status = digits.parse().ok().filter(is_status);
    status.map(Some).ok_or(RedirectFault::Status)
}

impl fmt::Display for Redirect<'_> {
    /// One line of text, from which [`Redirect::parse`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(status) = self.status {
            write!(f, "{status}")?;
        }
        f.write_str(if self.force { "!" } else { "" })?;
        match &self.target {
            Target::Address(address) => write!(f, ">{address}"),
            Target::Document(id) => write!(f, "@{id}"),
            Target::Gone => f.write_str("-"),
        }
    }
}

impl<'t> Redirect<'t> {
    /// What [`Display`](fmt::Display) has written; `None` for any other text.
    pub fn parse(text: &'t str) -> Option<Self> {
        let (digits, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
        let status = if digits.is_empty() { None } else { Some(digits.parse().ok()?) };
        let (force, rest) = rest.strip_prefix('!').map_or((false, rest), |rest| (true, rest));
        let target = match rest.split_at_checked(1)? {
            (">", address) => Target::Address(address.into()),
            ("@", id) => Target::Document(id.into()),
            ("-", "") => Target::Gone,
            _ => return None,
        };
        Some(Self { target, status, force })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DocumentLocale;
    use crate::fixtures::{field, text as value};

    fn fields() -> RedirectFields {
        RedirectFields {
            to: Some(field("to")),
            document: Some(field("target.documentId")),
            status: Some(field("status")),
            force: Some(field("force")),
            hosts: vec!["other.example".to_owned()],
        }
    }

    fn written(values: &[(&str, FieldValue<'static>)]) -> String {
        let document = Document {
            id: "r1".into(),
            locale: DocumentLocale::None,
            unpublished: false,
            fields: values.iter().map(|(name, _)| field(name)).collect(),
            values: values.iter().map(|(_, value)| value.clone()).collect(),
        };
        match fields().of(&document) {
            Ok(redirect) => {
                let text = redirect.to_string();
                assert_eq!(Redirect::parse(&text), Some(redirect), "{text}");
                text
            }
            Err(fault) => fault.to_string(),
        }
    }

    #[test]
    fn target_is_an_address_or_a_document_and_else_a_fault() {
        let id = || ("target.documentId", value("d1"));
        for (values, expected) in [
            (vec![("to", value("/new"))], ">/new"),
            (vec![("to", value(" /new/?q=a b#ü "))], ">/new/?q=a%20b#%C3%BC"),
            (vec![("to", value("/caf\u{e9} x"))], ">/caf%C3%A9%20x"),
            (vec![("to", value("/caf%c3%a9%20x"))], ">/caf%C3%A9%20x"),
            (vec![("to", value("/"))], ">/"),
            (vec![("to", value("/new/*"))], ">/new/%2A"),
            (vec![("to", value("https://OTHER.example/x?y"))], ">https://other.example/x?y"),
            (vec![("to", value("https://other.example"))], ">https://other.example/"),
            (vec![("to", value("https://other.example?y"))], ">https://other.example/?y"),
            (vec![("to", value("https://evil.example/"))], "target_host_not_allowed"),
            (vec![("to", value("https://other.example:8080/"))], "target_host_not_allowed"),
            (vec![("to", value("https://a@other.example/"))], "target_not_allowed"),
            (vec![("to", value("//other.example/x"))], "target_not_allowed"),
            (vec![("to", value("/\\evil.example"))], "target_not_allowed"),
            (vec![("to", value("javascript:alert(1)"))], "target_not_allowed"),
            (vec![("to", value("new"))], "target_not_allowed"),
            (
                vec![("to", FieldValue::Text(format!("/{}", "x".repeat(2_047)).into()))],
                "target_too_long",
            ),
            (vec![("to", value("/a/../b"))], "target_not_allowed"),
            (vec![("to", value("/a\nb"))], "target_not_allowed"),
            (vec![("to", value("/*/b"))], "target_not_allowed"),
            (vec![("to", value("/b*"))], "target_not_allowed"),
            (vec![("to", FieldValue::Boolean(true))], "target_not_allowed"),
            (vec![id()], "@d1"),
            (vec![("to", value(" ")), id()], "@d1"),
            (vec![("to", value("/x")), id()], "target_twice"),
            (
                vec![("to", FieldValue::Missing), ("target.documentId", FieldValue::NullAt(0))],
                "target_missing",
            ),
            (vec![], "target_missing"),
            (vec![("status", value("410"))], "410-"),
            (vec![("status", value("301")), id()], "301@d1"),
            (vec![("status", value("moved_302")), id()], "302@d1"),
            (vec![("status", value("303")), id()], "status_not_allowed"),
            (vec![("status", value("permanent")), id()], "status_not_allowed"),
            (vec![("status", value("301 or 302")), id()], "status_not_allowed"),
            (vec![("status", FieldValue::Missing), id()], "@d1"),
            (vec![("force", FieldValue::Boolean(true)), ("to", value("/x"))], "!>/x"),
            (vec![("force", FieldValue::Boolean(false)), id()], "@d1"),
            (vec![("force", value("true")), id()], "force_not_boolean"),
        ] {
            assert_eq!(written(&values), expected, "{values:?}");
        }
    }

    #[test]
    fn text_for_a_path_is_readable_and_means_exactly_this_path() {
        for (path, expected) in [
            ("/", Some("/")),
            ("/en/old-page_1.html~", Some("/en/old-page_1.html~")),
            ("/%C3%BCber%20uns", Some("/über%20uns")),
            ("/%E6%97%A5%E6%9C%AC/%C3%84", Some("/日本/Ä")),
            // A letter with a combining mark, and spaces at the end, which a form would take away.
            ("/u%CC%88/%20a%20", Some("/u%CC%88/%20a%20")),
            ("/what%3F", Some("/what%3F")),
            ("/c%23/100%25", Some("/c%23/100%25")),
            ("/a%2Bb/%22x%22%3D%28y%29", Some("/a%2Bb/%22x%22%3D%28y%29")),
            // For all paths below, and a `*` in a name.
            ("/old/%2A", None),
            ("/%2A", None),
            ("/a%2Ab", None),
            ("/%2A/b", None),
            // Segments that no rule matches, and names that are another path after one more decoding.
            ("/a%2Fb", None),
            ("/a%252Fb", None),
            ("/a/../b", None),
            ("/%zz", None),
            ("/a%C2%ADb", None),
            // Not normalized.
            ("/a/", None),
            ("/a b", None),
        ] {
            let text = text_for_path(path);
            assert_eq!(text.as_deref(), expected, "{path}");
            let from = |text: &String| normalized(text.trim()).ok();
            assert_eq!(text.as_ref().and_then(from).as_deref(), expected.and(Some(path)), "{path}");
        }
    }

    #[test]
    fn text_that_no_redirect_has_written_is_none() {
        for text in ["", "301", "!", "301!", "x/a", "-a", "99999>/a"] {
            assert_eq!(Redirect::parse(text), None, "{text}");
        }
    }
}

//! A redirect in place of a response of the CMS. None is followed: the token would go along.

use std::fmt;
use std::sync::Arc;

use url::Url;

/// The longest address that a text names in full; of a longer one it names the host alone.
const MAX_ADDRESS: usize = 200;

/// A redirect of a request to the CMS. `Display` is the text for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// 301, 302, 303, 307 or 308.
    pub status: u16,
    target: Option<Target>,
}

/// Where a redirect leads: neither a query nor a password is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    /// The endpoint of the request below another address of the CMS.
    Cms(Arc<str>),
    /// Another page, such as the admin panel or a login.
    Page(Arc<str>),
}

impl Redirect {
    /// The redirect of a request for this path below `/api/` to what the header `Location` says.
    pub fn new(status: u16, requested: &Url, path: &str, location: Option<&str>) -> Self {
        let target = location.and_then(|location| requested.join(location).ok());
        let target = target.filter(|to| matches!(to.scheme(), "http" | "https") && to.has_host());
        let target = target.map(|to| Target::of(to, requested, path));
        Self { status, target }
    }

    /// What to set.
    pub fn remedy(&self) -> String {
        match &self.target {
            Some(Target::Cms(base)) => format!("set cms.url = \"{base}\""),
            Some(Target::Page(_)) | None => {
                "set cms.url to an address of Strapi at which /api is not redirected".to_owned()
            }
        }
    }
}

impl Target {
    fn of(mut to: Url, requested: &Url, path: &str) -> Self {
        to.set_query(None);
        to.set_fragment(None);
        // They fail for URLs without a host alone.
        let _ = to.set_username("");
        let _ = to.set_password(None);
        let suffix = format!("/api/{path}");
        let base_of = |url: &Url| {
            let base = url.path().trim_end_matches('/').strip_suffix(&suffix)?;
            Some(format!("{}{base}", url.origin().ascii_serialization()))
        };
        let shown = |text: String| -> Arc<str> {
            let is_long = text.len() > MAX_ADDRESS;
            if is_long { to.origin().ascii_serialization() } else { text }.into()
        };
        match base_of(&to) {
            Some(base)
                if base.len() <= MAX_ADDRESS && base_of(requested).as_ref() != Some(&base) =>
            {
                Self::Cms(base.into())
            }
            _ => Self::Page(shown(to.to_string())),
        }
    }
}

impl fmt::Display for Redirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the CMS redirects ({}) ", self.status)?;
        match &self.target {
            Some(Target::Cms(address) | Target::Page(address)) => write!(f, "to {address}"),
            None => f.write_str("without an address in Location"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirect_names_the_address_to_set_without_query_and_password() {
        let requested = "http://cms.example.com/cms/api/news?locale=en";
        let requested = Url::parse(requested).unwrap();
        let no_api = "set cms.url to an address of Strapi at which /api is not redirected";
        let long = format!("https://cms.example.com/{}", "a".repeat(300));
        for (location, to, remedy) in [
            (
                "https://cms.example.com/cms/api/news?locale=en",
                "to https://cms.example.com/cms",
                "set cms.url = \"https://cms.example.com/cms\"",
            ),
            (
                "https://me:secret@other.example.com:8443/api/news/",
                "to https://other.example.com:8443",
                "set cms.url = \"https://other.example.com:8443\"",
            ),
            ("/cms/api/news/", "to http://cms.example.com/cms/api/news/", no_api),
            ("/admin", "to http://cms.example.com/admin", no_api),
            ("/login?next=/cms/api/news#a", "to http://cms.example.com/login", no_api),
            ("//login.example.com", "to http://login.example.com/", no_api),
            (&long, "to https://cms.example.com", no_api),
            ("mailto:me@example.com", "without an address in Location", no_api),
            ("https://", "without an address in Location", no_api),
            ("/a\u{1b}[31m", "to http://cms.example.com/a%1B[31m", no_api),
        ] {
            let redirect = Redirect::new(302, &requested, "news", Some(location));
            let text = format!("the CMS redirects (302) {to}");
            assert_eq!((redirect.to_string(), redirect.remedy()), (text, remedy.to_owned()));
        }
        let without = Redirect::new(301, &requested, "news", None);
        assert_eq!(without.to_string(), "the CMS redirects (301) without an address in Location");
    }
}

//! What redirects of the CMS and the path history say of a path that no document has, and the members of
//! the response with it (D43).

use frontend_map_catalog::json::Json;
use frontend_map_catalog::moved::entries::EntryRedirect;
use frontend_map_catalog::moved::redirects::FormerOwner;
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::{PublicUrl, timestamp_text};

/// What the response says beside the document.
pub(super) enum Note<'a> {
    Nothing,
    /// The page is at another URL.
    Redirect(RedirectTo<'a>),
    /// A redirect of the CMS has the path.
    Entry(&'a EntryRedirect<'a>),
    /// The document that had the path last, at this time in milliseconds since 1970, is not published.
    Gone(i64),
}

/// Where a frontend has to redirect to.
#[derive(Clone, Copy)]
pub(super) struct RedirectTo<'a> {
    pub(super) to: PublicUrl<'a>,
    status: u16,
    /// When a document had the path, in milliseconds since 1970; `None` for another spelling of its
    /// present path.
    since: Option<i64>,
    /// Whether it is a page outside the CMS.
    is_page: bool,
}

impl<'a> Note<'a> {
    /// For a path that no document has.
    pub(super) fn of_former(former: &'a FormerOwner<'a>, status: u16) -> Self {
        match former {
            FormerOwner::Entry(entry) => Self::Entry(entry),
            FormerOwner::Moved(redirect) => Self::Redirect(RedirectTo {
                to: redirect.to,
                status,
                since: Some(redirect.since),
                is_page: false,
            }),
            FormerOwner::Gone { since } => Self::Gone(*since),
            FormerOwner::None | FormerOwner::NotKnown(_) => Self::Nothing,
        }
    }

    /// For another spelling of the path of a document or a page.
    pub(super) fn of_spelling(to: PublicUrl<'a>, is_page: bool, status: u16) -> Self {
        Self::Redirect(RedirectTo { to, status, since: None, is_page })
    }

    /// Whether the path leads elsewhere: to the document that had it before, or by a redirect of the CMS.
    pub(super) fn has_moved(&self) -> bool {
        match self {
            Self::Redirect(redirect) => redirect.since.is_some(),
            Self::Entry(entry) => entry.destination.is_some(),
            Self::Gone(_) | Self::Nothing => false,
        }
    }

    /// Writes the member, if there is one, with a comma before it.
    pub(super) fn write(&self, json: &mut Json, site: &Site) {
        match self {
            Self::Nothing => {}
            Self::Redirect(redirect) => redirect.write(json, site),
            Self::Entry(entry) => write_entry(entry, json, site),
            Self::Gone(since) => {
                json.raw(r#","gone":{"since":"#).text(&timestamp(*since)).raw("}");
            }
        }
    }
}

/// Writes a redirect of the CMS, or that the page is gone.
fn write_entry(entry: &EntryRedirect<'_>, json: &mut Json, site: &Site) {
    let id = entry.entry.document_id();
    let Some(destination) = &entry.destination else {
        json.raw(r#","gone":{"since":null,"status":"#).number(entry.status.into());
        json.raw(r#","entry":"#).text(id).raw("}");
        return;
    };
    json.raw(r#","redirect":{"to":"#).text_or_null(entry.url(site).as_deref());
    json.raw(r#","path":"#).text_or_null(entry.path().as_deref());
    json.raw(r#","status":"#).number(entry.status.into());
    let document = destination.document().map(PublicUrl::document_id);
    json.raw(r#","documentId":"#).text_or_null(document);
    let locale = destination.locale().unwrap_or(entry.entry.locale());
    json.raw(r#","locale":"#).word(site.rules.locales().codes()[locale].as_str());
    json.raw(r#","since":null,"entry":"#).text(id).raw("}");
}

impl RedirectTo<'_> {
    fn write(self, json: &mut Json, site: &Site) {
        let Self { to, status, since, is_page } = self;
        let url = site.hosts.url(to.locale(), to.path());
        json.raw(r#","redirect":{"to":"#).text_or_null(url.as_deref());
        json.raw(r#","path":"#).text(to.path());
        json.raw(r#","status":"#).number(status.into());
        json.raw(r#","documentId":"#).text_or_null((!is_page).then(|| to.document_id()));
        json.raw(r#","locale":"#).word(site.rules.locales().codes()[to.locale()].as_str());
        json.raw(r#","since":"#).text_or_null(since.map(timestamp).as_deref());
        json.raw("}");
    }
}

/// As `lastModified` has it (RFC 3339).
pub(super) fn timestamp(milliseconds: i64) -> String {
    // A time that no date has is written as nothing: it cannot be one of this clock.
    timestamp_text(milliseconds).unwrap_or_default()
}

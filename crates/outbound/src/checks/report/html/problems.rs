//! The problems of the content, and its broken links, as tables of the page.

use askama::Template;

use crate::checks::report::{ProblemList, Visible};
use frontend_map_catalog::links::ContentLink;
use frontend_map_catalog::tables::{Problem, VersionRow};

/// The most versions that are shown for one path.
const VERSIONS_SHOWN: usize = 20;

/// The tables.
pub(super) struct ProblemsView<'r> {
    pub(super) count: usize,
    pub(super) is_truncated: bool,
    pub(super) no_url: Vec<NoUrlView<'r>>,
    pub(super) shared: Vec<SharedView<'r>>,
}

/// A version without a URL.
pub(super) struct NoUrlView<'r> {
    /// HTML.
    pub(super) version: String,
    pub(super) reason: Visible<'r>,
    pub(super) content_type: Visible<'r>,
    pub(super) rule: Visible<'r>,
}

/// A path of several documents.
pub(super) struct SharedView<'r> {
    pub(super) path: Visible<'r>,
    /// HTML.
    pub(super) owner: String,
    /// HTML of each.
    pub(super) others: Vec<String>,
}

/// A link that leads to no page.
pub(super) struct LinkView<'r> {
    /// The document with the link, as HTML.
    pub(super) version: String,
    pub(super) field: Visible<'r>,
    pub(super) text: Visible<'r>,
    pub(super) address: Visible<'r>,
    pub(super) verdict: Visible<'r>,
}

/// A version, with its title and a link.
#[derive(Template)]
#[template(
    ext = "html",
    source = r#"<div class="document">{% if let Some(title) = title %}<span class="title">{{ title }}</span>{% endif %}<code>{{ id }}</code> <span class="means">{{ locale }}</span>{% if let Some(link) = link %}<a href="{{ link }}" target="_blank" rel="noopener noreferrer">Edit in the CMS</a>{% endif %}</div>"#
)]
struct VersionView<'r> {
    title: Option<Visible<'r>>,
    id: Visible<'r>,
    locale: Visible<'r>,
    link: Option<&'r str>,
}

impl<'r> ProblemsView<'r> {
    pub(super) fn new(list: &'r ProblemList<'_>, most: usize) -> Self {
        let (mut no_url, mut shared) = (Vec::new(), Vec::new());
        for problem in &list.problems {
            match problem {
                Problem::NoUrl { version, reason, rule } => no_url.push(NoUrlView {
                    version: html(version),
                    reason: Visible(reason),
                    content_type: Visible(version.content_type),
                    rule: Visible(rule),
                }),
                Problem::SharedPath { path, owner, others } => shared.push(SharedView {
                    path: Visible(path),
                    owner: html(owner),
                    others: others.iter().take(VERSIONS_SHOWN).map(html).collect(),
                }),
                // A report is about pages.
                Problem::Redirect(_) => {}
            }
        }
        let is_truncated = list.truncated || no_url.len() > most || shared.len() > most;
        Self { count: list.count, is_truncated, no_url, shared }
    }
}

impl<'r> LinkView<'r> {
    pub(super) fn new(link: &'r ContentLink<'_>) -> Self {
        let version = VersionView {
            title: None,
            id: Visible(&link.document_id),
            locale: Visible(link.locale.as_deref().unwrap_or_default()),
            link: link.admin_url.as_deref(),
        };
        Self {
            version: version.html(),
            field: Visible(&link.field),
            text: Visible(&link.text),
            address: Visible(&link.address),
            verdict: Visible(&link.verdict),
        }
    }
}

fn html(version: &VersionRow<'_>) -> String {
    let view = VersionView {
        title: version.title.map(Visible),
        id: Visible(version.document_id),
        locale: Visible(version.locale.unwrap_or_default()),
        link: version.admin_url.as_deref(),
    };
    view.html()
}

impl VersionView<'_> {
    fn html(&self) -> String {
        self.render().expect("writing to a string cannot fail")
    }
}

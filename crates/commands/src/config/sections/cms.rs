//! `[cms]`: the source of the documents.

pub(in crate::config) mod content_type;

use std::collections::HashMap;

use url::Url;

use crate::config::file;
use crate::config::section::Section;
use crate::config::value::{parsed, shown_address, text, whole, word};
use frontend_map_cms::{ContentFile, Endpoint, StrapiLimits, StrapiSettings};
use frontend_map_rules::ContentTypeUid;
use frontend_map_rules::frontend_url::BaseUrl;

/// The content of the source `files` when no path is set.
const BUILT_IN: &str = include_str!("../../../../../config/demo/content.json");

/// The most documents that a request of a walk asks for.
const MAX_PAGE_SIZE: u64 = 1_000;

/// The source of the documents.
#[derive(Debug)]
pub enum Cms {
    /// Strapi 5, over its REST API.
    Strapi(StrapiSettings),
    /// A content file, which has been read.
    Files {
        /// Its documents.
        content: ContentFile,
        /// Its path; what it is if none is set.
        name: String,
    },
}

#[derive(Clone, Copy, Default)]
enum Source {
    #[default]
    Strapi,
    Files,
}

/// The source of the documents, and the URL of the CMS's admin panel.
pub(in crate::config) fn read(
    cms: &mut Section<'_>,
    endpoints: HashMap<ContentTypeUid, Endpoint>,
    limits: StrapiLimits,
) -> (Option<Cms>, Option<BaseUrl>) {
    let source = cms.get("source", word([("strapi", Source::Strapi), ("files", Source::Files)]));
    let (address, path) = (cms.optional("url", text), cms.optional("path", text));
    let page_size = cms.get("page_size", whole(1..=MAX_PAGE_SIZE));
    let admin_url = cms.get("admin_url", parsed(admin_url));
    // What the other source needs is not looked at, but it is a setting.
    let cms = match source {
        Source::Files => {
            cms.optional("token_file", text);
            files(cms, path.as_deref())
        }
        Source::Strapi => {
            let token = cms.secret("the token of the CMS", "token", "token_file");
            let url = address.and_then(|address| cms.check("url", url(&address)));
            url.map(|url| Cms::Strapi(StrapiSettings { url, token, endpoints, page_size, limits }))
        }
    };
    (cms, admin_url)
}

/// The URL of the admin panel, which may have a path of its own; an empty text counts as not set.
fn admin_url(text: &str) -> Result<Option<BaseUrl>, String> {
    let url = (!text.is_empty()).then(|| BaseUrl::parse(text)).transpose();
    url.map_err(|error| format!("{}: {error}", shown_address(text)))
}

/// The address of a CMS is checked as strictly as that of a frontend.
pub(in crate::config) fn url(text: &str) -> Result<Url, String> {
    let shown = shown_address(text);
    if text.trim_end_matches('/').ends_with("/api") {
        return Err(format!("{shown}: write it without `/api`, which is added"));
    }
    let base = BaseUrl::parse(text).map_err(|error| format!("{shown}: {error}"))?;
    Url::parse(base.as_str()).map_err(|error| format!("{shown}: {error}"))
}

/// The content file; without a path the content of the demo.
fn files(cms: &Section<'_>, path: Option<&str>) -> Option<Cms> {
    let (name, text) = match path.map(|path| cms.reader.base_dir.join(path)) {
        Some(path) => (path.display().to_string(), file::read_text(&path)),
        None => {
            ("the built-in content, as `cms.path` is not set".to_owned(), Ok(BUILT_IN.to_owned()))
        }
    };
    match ContentFile::parse(cms.check("path", text)?) {
        Ok(content) => Some(Cms::Files { content, name }),
        Err(errors) => {
            for error in errors {
                cms.problem("path", format_args!("{name}: {error}"));
            }
            None
        }
    }
}

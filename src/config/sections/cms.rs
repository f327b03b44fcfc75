//! `[cms]`: the source of the documents.

mod content_type;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use url::Url;

use crate::config::secret::Secret;
use crate::config::sources::Context;
use crate::config::table;
use crate::config::value::{Kind, Origin, Table, Value, shown_address};
use crate::config::variable_names::TOKEN;
use crate::config::{Problems, file};
use frontend_map_cms::{ContentFile, StrapiLimits, StrapiSettings};
use frontend_map_rules::frontend_url::BaseUrl;

/// The content of the source `files` when no path is set.
const BUILT_IN: &str = include_str!("../../../config/demo/content.json");

/// The bounds of `cms.page_size`, in documents.
const PAGE_SIZES: RangeInclusive<usize> = 1..=1_000;
const DEFAULT_PAGE_SIZE: usize = 100;

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

#[derive(Debug, Deserialize)]
#[serde(default)]
struct CmsToml {
    source: Source,
    url: String,
    admin_url: Option<String>,
    token_file: Option<PathBuf>,
    path: Option<PathBuf>,
    page_size: usize,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Source {
    Strapi,
    Files,
}

impl Default for CmsToml {
    fn default() -> Self {
        let url = "http://127.0.0.1:1337".to_owned();
        Self {
            source: Source::Strapi,
            url,
            admin_url: None,
            token_file: None,
            path: None,
            page_size: DEFAULT_PAGE_SIZE,
        }
    }
}

pub(in crate::config) fn read(
    table: &mut Table,
    context: Context<'_>,
    limits: StrapiLimits,
    problems: &mut Problems,
) -> Option<(Cms, Option<BaseUrl>)> {
    let toml: CmsToml = table::read(table, "cms", problems);
    let endpoints = content_type::read(table, problems);
    let page_size = toml.page_size;
    if !PAGE_SIZES.contains(&page_size) {
        let (least, most) = (PAGE_SIZES.start(), PAGE_SIZES.end());
        problems.add("cms.page_size", format_args!("must be between {least} and {most}"));
    }
    let admin_url = admin_url(toml.admin_url.as_deref(), problems);
    let cms = match toml.source {
        Source::Files => files(toml.path.as_deref(), context.base_dir, problems),
        Source::Strapi => {
            let url = problems.take("cms.url", url(&toml.url));
            let token =
                Secret { name: "the token of the CMS", variable: TOKEN, key: "cms.token_file" };
            let token = token.read(toml.token_file.as_deref(), context, problems);
            Some(Cms::Strapi(StrapiSettings { url: url?, token, endpoints, page_size, limits }))
        }
    };
    Some((cms?, admin_url))
}

/// The settings of Strapi at this address, whatever address the environment has.
pub(in crate::config) fn at(
    url: &str,
    table: &mut Table,
    context: Context<'_>,
    limits: StrapiLimits,
    problems: &mut Problems,
) -> Option<StrapiSettings> {
    if let Kind::Table(section) = &mut table.entry("cms".to_owned()).or_insert(Value::empty()).kind
    {
        for (key, text) in [("source", "strapi"), ("url", url)] {
            let kind = Kind::Text(text.to_owned());
            section.insert(key.to_owned(), Value { kind, origin: Origin::Line(1) });
        }
    }
    match read(table, context, limits, problems)? {
        (Cms::Strapi(settings), _) if problems.is_empty() => Some(settings),
        _ => None,
    }
}

/// The URL of the admin panel, which may have a path of its own; an empty text counts as not set.
fn admin_url(text: Option<&str>, problems: &mut Problems) -> Option<BaseUrl> {
    let text = text.filter(|text| !text.is_empty())?;
    let url = BaseUrl::parse(text).map_err(|error| format!("{}: {error}", shown_address(text)));
    problems.take("cms.admin_url", url)
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
fn files(path: Option<&Path>, base_dir: &Path, problems: &mut Problems) -> Option<Cms> {
    let place = "cms.path";
    let (shown, text) = match path.map(|path| base_dir.join(path)) {
        Some(path) => (path.display().to_string(), file::read_text(&path)),
        None => {
            ("the built-in content, as `cms.path` is not set".to_owned(), Ok(BUILT_IN.to_owned()))
        }
    };
    let text = problems.take(place, text);
    match ContentFile::parse(text?) {
        Ok(content) => Some(Cms::Files { content, name: shown }),
        Err(errors) => {
            for error in errors {
                problems.add(place, format_args!("{shown}: {error}"));
            }
            None
        }
    }
}

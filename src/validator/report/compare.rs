//! An earlier result, and what has changed since.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Deserializer};

use super::{Class, SiteReport};
use crate::validator::{Failure, Finding};

/// What an earlier run found, as its JSON says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousReport {
    /// The site key.
    pub site: String,
    /// When that run began, if it says so.
    pub checked_at: Option<String>,
    /// Its URLs, by content type.
    types: BTreeMap<String, HashMap<String, PreviousResult>>,
}

/// What a URL was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PreviousResult {
    class: Class,
    /// Whether that run came to it before its deadline.
    checked: bool,
}

/// What has become of a URL since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It is dead, and was not.
    Broke,
    /// It was dead, and is not.
    Healed,
    /// It was not there.
    New,
}

/// A URL that was there and is not any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemovedUrl<'e> {
    /// The content-type UID.
    pub content_type: &'e str,
    /// The URL.
    pub url: &'e str,
    /// What it was.
    pub class: Class,
}

/// The text is no result of an earlier run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the JSON of an earlier check (line {line}, column {column})")]
pub struct InvalidReport {
    /// Where it stops being one, from 1.
    pub line: usize,
    /// The same, in bytes.
    pub column: usize,
}

impl Change {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Broke => "broke",
            Self::Healed => "healed",
            Self::New => "new",
        }
    }
}

impl PreviousReport {
    /// Reads what `--format json` writes, or an answer of the service to `validate=true`.
    ///
    /// # Errors
    /// [`InvalidReport`] for anything else.
    pub fn parse(json: &str) -> Result<Self, InvalidReport> {
        // A derived reader would take a list for an object.
        if !json.trim_start().starts_with('{') {
            return Err(InvalidReport { line: 1, column: 1 });
        }
        let file = serde_json::from_str(json).or_else(|error| {
            // The position in the form that is the usual one says more.
            serde_json::from_str::<Answer>(json).map(|answer| answer.data.into()).map_err(|_| error)
        });
        let File { site, checked_at, content_types } =
            file.map_err(|error| InvalidReport { line: error.line(), column: error.column() })?;
        let part = |part: Part| {
            let urls = part.results.into_iter().map(|old| {
                let was = old.was();
                (old.url, was)
            });
            (part.content_type, urls.collect())
        };
        Ok(Self { site, checked_at, types: content_types.into_iter().map(part).collect() })
    }

    /// What has become of a URL; `None`: nothing, or it or its content type was not checked then.
    #[must_use]
    pub fn change(&self, finding: &Finding<'_>) -> Option<Change> {
        let now = Class::of(finding.entry.status);
        match self.types.get(finding.content_type)?.get(&finding.entry.url) {
            None => Some(Change::New),
            Some(PreviousResult { checked: false, .. }) => None,
            Some(was) if !was.class.is_dead() && now.is_dead() => Some(Change::Broke),
            Some(was) if was.class.is_dead() && !now.is_dead() => Some(Change::Healed),
            Some(_) => None,
        }
    }

    /// The URLs that are not there any more, of the content types that were checked both times.
    #[must_use]
    pub fn removed_urls(&self, report: &SiteReport<'_>) -> Vec<RemovedUrl<'_>> {
        let mut gone = Vec::new();
        for part in &report.content_types {
            let Some((uid, old)) = self.types.get_key_value(part.content_type) else { continue };
            let now: BTreeSet<&str> = part.results.iter().map(|f| f.entry.url.as_str()).collect();
            let old = old.iter().filter(|(url, _)| !now.contains(url.as_str()));
            gone.extend(old.map(|(url, was)| RemovedUrl {
                content_type: uid,
                url,
                class: was.class,
            }));
        }
        gone.sort_unstable();
        gone
    }

    /// Whether this content type was checked then.
    #[must_use]
    pub fn has(&self, content_type: &str) -> bool {
        self.types.contains_key(content_type)
    }
}

/// What `--format json` writes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    site: String,
    checked_at: Option<String>,
    content_types: Vec<Part>,
}

/// What the service answers.
#[derive(Deserialize)]
struct Answer {
    data: Part,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    site: String,
    content_type: String,
    results: Vec<Old>,
}

#[derive(Deserialize)]
struct Old {
    url: String,
    /// Null is a result, its absence is none.
    #[serde(deserialize_with = "present")]
    status: Option<u16>,
    reason: Option<String>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u16>, D::Error> {
    Option::deserialize(deserializer)
}

impl From<Part> for File {
    fn from(part: Part) -> Self {
        Self { site: part.site.clone(), checked_at: None, content_types: vec![part] }
    }
}

impl Old {
    fn was(&self) -> PreviousResult {
        let not_checked = Failure::NotChecked.to_string();
        let checked = self.reason.as_ref() != Some(&not_checked);
        PreviousResult { class: Class::of(self.status), checked }
    }
}

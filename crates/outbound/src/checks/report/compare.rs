//! A previous report, and what has changed since.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Deserializer};

use super::{Class, SiteReport};
use crate::checks::{Failure, Finding};

/// A previous report, read from its JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousReport {
    /// The site key.
    pub site: String,
    /// When its run began, if the file has it.
    pub checked_at: Option<String>,
    /// Its results, by content type and URL.
    types: BTreeMap<String, HashMap<String, PreviousResult>>,
}

/// The previous result of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PreviousResult {
    class: Class,
    /// False when the run's deadline expired first.
    checked: bool,
}

/// A change of a URL since the previous report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It is dead and was not.
    Broke,
    /// It was dead and is not.
    Healed,
    /// The previous report does not have it.
    New,
}

/// A URL of the previous report that is no longer listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemovedUrl<'e> {
    /// The content-type UID.
    pub content_type: &'e str,
    /// The URL.
    pub url: &'e str,
    /// Its class in the previous report.
    pub class: Class,
}

/// The text is not a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the JSON of an earlier check (line {line}, column {column})")]
pub struct InvalidReport {
    /// The line of the first fault, from 1.
    pub line: usize,
    /// The column of the first fault, from 1, in bytes.
    pub column: usize,
}

impl Change {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Broke => "broke",
            Self::Healed => "healed",
            Self::New => "new",
        }
    }
}

impl PreviousReport {
    /// Reads the output of `--format json`, or a response of the service to `validate=true`.
    ///
    /// # Errors
    /// [`InvalidReport`] for anything else.
    pub fn parse(json: &str) -> Result<Self, InvalidReport> {
        // A derived `Deserialize` accepts an array in place of an object.
        if !json.trim_start().starts_with('{') {
            return Err(InvalidReport { line: 1, column: 1 });
        }
        let file = serde_json::from_str(json).or_else(|error| {
            // If neither form fits, the error of the usual one is more useful.
            serde_json::from_str::<ServiceResponse>(json)
                .map(|response| response.data.into())
                .map_err(|_| error)
        });
        let File { site, checked_at, content_types } =
            file.map_err(|error| InvalidReport { line: error.line(), column: error.column() })?;
        let part = |part: Part| {
            let urls = part.results.into_iter().map(|old| {
                let was = old.result();
                (old.url, was)
            });
            (part.content_type, urls.collect())
        };
        Ok(Self { site, checked_at, types: content_types.into_iter().map(part).collect() })
    }

    /// The change of a URL; `None` when nothing changed, or when the previous run did not check it.
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

    /// The URLs that are no longer listed, of the content types that both reports have.
    pub fn removed_urls(&self, report: &SiteReport<'_>) -> Vec<RemovedUrl<'_>> {
        let mut removed = Vec::new();
        for part in &report.content_types {
            let Some((uid, old)) = self.types.get_key_value(part.content_type) else { continue };
            let now: BTreeSet<&str> = part.results.iter().map(|f| f.entry.url.as_str()).collect();
            let old = old.iter().filter(|(url, _)| !now.contains(url.as_str()));
            removed.extend(old.map(|(url, was)| RemovedUrl {
                content_type: uid,
                url,
                class: was.class,
            }));
        }
        removed.sort_unstable();
        removed
    }

    /// Whether the previous report has this content type.
    pub fn has(&self, content_type: &str) -> bool {
        self.types.contains_key(content_type)
    }
}

/// The output of `--format json`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    site: String,
    checked_at: Option<String>,
    content_types: Vec<Part>,
}

/// A response of the service.
#[derive(Deserialize)]
struct ServiceResponse {
    data: Part,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    site: String,
    content_type: String,
    results: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    url: String,
    /// Null is a valid status, an absent one is not.
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

impl Entry {
    fn result(&self) -> PreviousResult {
        let not_checked = Failure::NotChecked.to_string();
        let checked = self.reason.as_ref() != Some(&not_checked);
        PreviousResult { class: Class::of(self.status), checked }
    }
}

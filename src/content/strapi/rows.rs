//! The rows of one page of a walk: read, judged by the proof, handed on.

use super::page::Page;
use super::proof::{Fault, PageFacts, Proof};
use super::walk::Course;
use crate::content::{BadItem, ContentError, Document, DocumentLocale};

/// Said when a list has another shape.
pub(super) const NO_LIST: ContentError = ContentError::Unusable("an answer that is not a list");

/// Why one walk over one locale came to nothing.
pub(super) enum Stop {
    Failed(ContentError),
    Unproven(Fault),
}

impl From<ContentError> for Stop {
    fn from(error: ContentError) -> Self {
        Self::Failed(error)
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Unproven(fault)
    }
}

/// Whether the documents of a walk have locales, although the type accepts being asked.
#[derive(Default)]
pub(super) struct Localised {
    with: bool,
    without: bool,
}

impl Localised {
    pub(super) fn see(&mut self, document: Option<&Document>) {
        let none = document.map(|document| document.locale == DocumentLocale::None);
        self.without |= none == Some(true);
        self.with |= none == Some(false);
    }

    /// An empty walk says nothing, so the other locales are walked as well.
    pub(super) fn is_localised(&self) -> bool {
        self.with || !self.without
    }
}

/// Reads a page, lets the proof judge it, and hands on the rows that count. Says whether the page
/// is the last.
pub(super) fn take(
    body: &str,
    course: &Course<'_>,
    proof: &mut Proof,
    mut each: impl FnMut(&Result<Document, BadItem>),
) -> Result<bool, Stop> {
    let page = Page::parse(body).ok_or(NO_LIST)?;
    let decode = |row: &&serde_json::value::RawValue| course.ask.projection.decode(row.get());
    let rows: Vec<_> = page.rows.iter().map(decode).collect();
    let keys = rows.iter().map(key).collect();
    let step = proof.page(&PageFacts { echo: page.echo, keys })?;
    for row in &rows[..step.rows] {
        if row.as_ref().is_ok_and(|document| is_mixed_up(document, course)) {
            return Err(ContentError::Unusable("documents of another locale than asked for").into());
        }
        each(row);
    }
    Ok(step.last)
}

fn key(row: &Result<Document, BadItem>) -> Option<&str> {
    match row {
        Ok(document) => Some(&document.id),
        Err(bad) => bad.id.as_deref(),
    }
}

/// A document of another locale that is walked itself: the CMS, or a cache before it, ignores
/// `locale`, and the versions asked for are missing. A locale that nobody asks for is one odd
/// document, and left to the rules.
fn is_mixed_up(document: &Document, course: &Course<'_>) -> bool {
    let DocumentLocale::Named(name) = &document.locale else { return false };
    name != course.locale.as_str() && course.locales.iter().any(|other| other.as_str() == name)
}

//! Hands on the rows of one page of a walk.

use super::error::OTHER_LOCALE;
use super::scope::WalkScope;
use crate::strapi::page::Page;
use crate::{BadItem, ContentError, Document, DocumentLocale};

/// Calls `push` with the first `count` rows of a page.
///
/// # Errors
/// When a row is in the wrong locale.
pub(super) fn push_rows(
    page: Page<'_>,
    count: usize,
    scope: WalkScope<'_>,
    mut push: impl FnMut(Result<&Document<'_>, &BadItem>),
) -> Result<(), ContentError> {
    page.each(count, |row| {
        if row.is_ok_and(|document| is_in_other_walk(document, scope)) {
            return Err(OTHER_LOCALE);
        }
        push(row);
        Ok(())
    })
}

/// Whether a document is in another locale that is walked as well: then the CMS, or a cache before
/// it, ignores `locale`, and the requested versions are missing. A document in a locale that is not
/// walked is left to the rules.
fn is_in_other_walk(document: &Document<'_>, scope: WalkScope<'_>) -> bool {
    let DocumentLocale::Named(name) = &document.locale else { return false };
    name != scope.locale.as_str() && scope.locales.iter().any(|other| other.as_str() == name)
}

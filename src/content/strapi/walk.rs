//! Every published document of a content type, or an error: never fewer (D23).

use super::one::{document, speaks};
use super::page::Page;
use super::place::Place;
use super::proof::{Count, Fault, Proof};
use super::rows::{NO_LIST, OTHER_LOCALE, Spoken, Stop, take};
use super::{Kind, Strapi, query};
use crate::content::{Ask, ContentError, Document, DocumentLocale, Status};
use crate::rules::Locale;

/// How often a walk that proves nothing starts again (D23).
const RESTARTS: usize = 3;

/// What a complete walk found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk<T> {
    /// What `map` made of each document, by locale in the order asked for, then by `documentId`.
    pub items: Vec<T>,
    /// How many rows could not be read as a document.
    pub bad_items: u64,
}

/// What is walked, and in which locale.
pub(super) struct Course<'a> {
    pub(super) ask: &'a Ask,
    pub(super) place: &'a Place,
    pub(super) locale: &'a Locale,
    pub(super) locales: &'a [Locale],
}

impl Strapi {
    /// Every published document in each of `locales`, proved to be complete.
    ///
    /// `map` sees documents that are not published (`unpublished`) or in a locale that was not
    /// asked for too, so that they can be counted; it may see a document again when a walk starts
    /// again, and what it made before is dropped. A type that is not localised is walked once.
    ///
    /// # Errors
    /// [`ContentError`]: of the CMS, or when four walks in turn proved nothing. Then it is
    /// `Unusable` if the CMS contradicts the request, or itself in the same way each time, and
    /// `Unavailable` if the numbers moved, because a quieter moment may help.
    pub async fn walk<T: Send>(
        &self,
        ask: &Ask,
        locales: &[Locale],
        mut map: impl FnMut(&Document) -> T + Send,
    ) -> Result<Walk<T>, ContentError> {
        let place = self.place(&ask.uid).await?;
        let mut walk = Walk { items: Vec::new(), bad_items: 0 };
        for locale in locales {
            let course = Course { ask, place: &place, locale, locales };
            let localised = match place.endpoint.kind() {
                Kind::Collection => self.walk_locale(&course, &mut map, &mut walk).await?,
                Kind::Single => self.visit_single(&course, &mut map, &mut walk).await?,
            };
            if !localised {
                break;
            }
        }
        Ok(walk)
    }

    /// A single type's version in one locale. Says whether the type is localised.
    async fn visit_single<T: Send>(
        &self,
        course: &Course<'_>,
        map: &mut (impl FnMut(&Document) -> T + Send),
        walk: &mut Walk<T>,
    ) -> Result<bool, ContentError> {
        let Course { ask, place, locale, .. } = *course;
        let query = |locale: Option<&Locale>| query::version(ask, locale, Status::Published);
        let body = self.version(place, place.endpoint.path(), locale, query).await?;
        let found = body.map_or(Ok(None), |body| document(&body, &ask.projection))?;
        walk.items.extend(found.iter().filter(|found| speaks(found, locale)).map(map));
        Ok(found.is_none_or(|found| found.locale != DocumentLocale::None))
    }

    /// A collection in one locale, as often as it takes. Says whether the type is localised.
    async fn walk_locale<T: Send>(
        &self,
        course: &Course<'_>,
        map: &mut (impl FnMut(&Document) -> T + Send),
        walk: &mut Walk<T>,
    ) -> Result<bool, ContentError> {
        let start = (walk.items.len(), walk.bad_items);
        let mut faults = Vec::new();
        while faults.len() <= RESTARTS {
            match self.walk_once(course, map, walk).await {
                Ok(localised) => return Ok(localised),
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::Unproven(fault)) => faults.push(fault),
            }
            walk.items.truncate(start.0);
            walk.bad_items = start.1;
            tracing::debug!(uid = %course.ask.uid, fault = ?faults.last(), "a walk proved nothing");
        }
        Err(verdict(&faults))
    }

    async fn walk_once<T: Send>(
        &self,
        course: &Course<'_>,
        map: &mut (impl FnMut(&Document) -> T + Send),
        walk: &mut Walk<T>,
    ) -> Result<bool, Stop> {
        let Course { ask, place, locale, .. } = *course;
        let mut proof = Proof::default();
        let mut asked = Some(locale);
        let mut spoken = Spoken::default();
        loop {
            let query = |locale: Option<&Locale>| query::page(ask, locale, proof.key());
            let (body, localised) = self.list((&ask.uid, place), asked, query).await?;
            asked = asked.filter(|_| localised);
            let last = take(&body, course, &mut proof, |row| match row {
                Ok(document) => {
                    spoken.see(document, locale);
                    walk.items.push(map(document));
                }
                Err(_) => walk.bad_items += 1,
            })?;
            if last {
                break;
            }
        }
        let (body, _) =
            self.list((&ask.uid, place), asked, |locale| query::total(ask, locale)).await?;
        proof.close(Page::parse(&body).ok_or(NO_LIST)?.echo)?;
        if spoken.all_elsewhere() {
            return Err(OTHER_LOCALE.into());
        }
        Ok(asked.is_some() && spoken.is_localised())
    }
}

/// The error after the last walk that proved nothing.
fn verdict(faults: &[Fault]) -> ContentError {
    let counts: Vec<Count> = faults.iter().filter_map(Fault::count).collect();
    match faults.last() {
        Some(Fault::Unusable(why)) => ContentError::Unusable(why),
        _ if counts.len() == faults.len() && counts.windows(2).all(|two| two[0] == two[1]) => {
            ContentError::Unusable("totals that contradict the rows, in the same way each time")
        }
        _ => ContentError::Unavailable { retry_after: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_move_may_settle_and_others_will_not() {
        let count = |rows| Fault::Miscount(Count { before: 3, rows, after: Some(3) });
        let moving = ContentError::Unavailable { retry_after: None };
        assert_eq!(verdict(&[count(2), count(1), count(2)]), moving);
        assert_eq!(verdict(&[Fault::Unusable("x"), count(1)]), moving);
        assert_eq!(verdict(&[count(2), Fault::Unusable("x")]), ContentError::Unusable("x"));
        assert!(matches!(verdict(&[count(2), count(2)]), ContentError::Unusable(_)));
    }
}

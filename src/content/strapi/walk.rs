//! Every published document of a content type, or an error: never fewer (D23).

use std::pin::{Pin, pin};
use std::task::Poll;

use futures::future::{try_join, try_join_all};
use tokio::sync::watch;
use tokio::task::yield_now;

use super::one::{document, speaks};
use super::page::Page;
use super::place::Place;
use super::proof::{Count, Fault, PageFacts, Proof};
use super::rows::{NO_LIST, OTHER_LOCALE, Spoken, Stop, take};
use super::{EndpointKind, Strapi, query};
use crate::content::{ContentError, ContentQuery, DocumentLocale, DocumentSink, Status};
use crate::rules::Locale;

/// How often a walk that proves nothing starts again (D23).
const RESTARTS: usize = 3;

/// The CMS knows locales in one answer and none in the next: versions would be missing.
const CONTRADICTS: Fault =
    Fault::Unusable("answers that contradict each other about the locales of the type");

/// What is walked, and in which locale.
#[derive(Clone, Copy)]
pub(super) struct Course<'a> {
    pub(super) ask: &'a ContentQuery,
    pub(super) place: &'a Place,
    pub(super) locale: &'a Locale,
    pub(super) locales: &'a [Locale],
}

/// Whether the type is localised, as soon as the first locale's walk knows.
type Localised = watch::Sender<Option<bool>>;

impl Strapi {
    /// Every published document in each of `locales`, proved to be complete.
    ///
    /// The locales are walked side by side as soon as the first one's answers show that the type
    /// is localised; a type that is not is walked once.
    ///
    /// # Errors
    /// [`ContentError`]: of the CMS, or when four walks in turn proved nothing. Then it is
    /// `Unusable` if the CMS contradicts the request, or itself in the same way each time, and
    /// `Unavailable` if the numbers moved, because a quieter moment may help.
    pub async fn walk<G: DocumentSink>(
        &self,
        ask: &ContentQuery,
        locales: &[Locale],
        new: impl Fn() -> G + Sync,
    ) -> Result<Vec<G>, ContentError> {
        let place = &*self.place(&ask.uid).await?;
        let Some((first, others)) = locales.split_first() else { return Ok(Vec::new()) };
        let course = |locale| Course { ask, place, locale, locales };
        let (localised, known) = watch::channel(None);
        let others = others.iter().map(|locale| {
            let (course, mut known, new) = (course(locale), known.clone(), &new);
            async move {
                // Nobody sends when the first walk fails, and then this one does not matter.
                let known = known.wait_for(Option::is_some).await;
                if known.is_ok_and(|known| *known == Some(true)) {
                    self.gather(course, new, None).await.map(Some)
                } else {
                    Ok(None)
                }
            }
        });
        let first = self.gather(course(first), &new, Some(localised));
        let (first, others) = try_join(first, try_join_all(others)).await?;
        Ok([first].into_iter().chain(others.into_iter().flatten()).collect())
    }

    async fn gather<G: DocumentSink>(
        &self,
        course: Course<'_>,
        new: &(impl Fn() -> G + Sync),
        localised: Option<Localised>,
    ) -> Result<G, ContentError> {
        match course.place.endpoint.kind() {
            EndpointKind::Collection => self.walk_locale(course, new, localised.as_ref()).await,
            EndpointKind::Single => self.visit_single(course, new(), localised.as_ref()).await,
        }
    }

    /// A single type's version in one locale.
    async fn visit_single<G: DocumentSink>(
        &self,
        course: Course<'_>,
        mut part: G,
        localised: Option<&Localised>,
    ) -> Result<G, ContentError> {
        let Course { ask, place, locale, .. } = course;
        let query = |locale: Option<&Locale>| query::version(ask, locale, Status::Published);
        let body = self.version(place, place.endpoint.path(), locale, query).await?;
        let read = |body| document(body, &ask.projection);
        let found = body.as_deref().map_or(Ok(None), read)?;
        if let Some(document) = found.as_ref().filter(|document| speaks(document, locale)) {
            part.push(Ok(document));
        }
        tell(localised, found.is_none_or(|found| found.locale != DocumentLocale::None));
        Ok(part)
    }

    /// A collection in one locale, as often as it takes.
    async fn walk_locale<G: DocumentSink>(
        &self,
        course: Course<'_>,
        new: &(impl Fn() -> G + Sync),
        localised: Option<&Localised>,
    ) -> Result<G, ContentError> {
        let mut faults = Vec::new();
        while faults.len() <= RESTARTS {
            match self.walk_once(course, new(), localised).await {
                Ok(part) => return Ok(part),
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::Unproven(fault)) => faults.push(fault),
            }
            tracing::debug!(uid = %course.ask.uid, fault = ?faults.last(), "a walk proved nothing");
        }
        Err(verdict(&faults))
    }

    async fn walk_once<G: DocumentSink>(
        &self,
        course: Course<'_>,
        mut part: G,
        localised: Option<&Localised>,
    ) -> Result<G, Stop> {
        let Course { ask, locale, .. } = course;
        let (mut proof, mut spoken) = (Proof::default(), Spoken::default());
        let first = |locale: Option<&Locale>| query::page(ask, locale, None);
        let (mut body, is_localised) =
            self.list((&ask.uid, course.place), Some(locale), first).await?;
        // The other locales are walked only because the type is localised.
        if localised.is_none() && !is_localised {
            return Err(CONTRADICTS.into());
        }
        loop {
            let asked = is_localised.then_some(locale);
            let page = Page::read(&body, &ask.projection).ok_or(NO_LIST)?;
            let step = proof.page(&PageFacts { echo: page.echo, keys: page.keys().collect() })?;
            let next = proof.key().filter(|_| !step.last);
            // The next page, or the total, is under way while the rows of this one are taken in.
            let mut ahead = pin!(self.after(course, asked, next));
            let early = begin(ahead.as_mut()).await;
            take(page, step.rows, course, |row| {
                spoken.see(row, locale);
                part.push(row);
            })?;
            if spoken.is_certain() {
                tell(localised, asked.is_some());
            }
            let answer = match early {
                Some(answer) => answer?,
                None => ahead.await?,
            };
            if answer.1 != is_localised {
                return Err(CONTRADICTS.into());
            }
            body = answer.0;
            if step.last {
                break;
            }
        }
        proof.close(Page::read(&body, &ask.projection).ok_or(NO_LIST)?.echo)?;
        if spoken.all_elsewhere() {
            return Err(OTHER_LOCALE.into());
        }
        tell(localised, is_localised && spoken.is_localised());
        Ok(part)
    }

    /// The page after a key; without one the total.
    async fn after(
        &self,
        course: Course<'_>,
        locale: Option<&Locale>,
        key: Option<&str>,
    ) -> Result<(String, bool), ContentError> {
        let Course { ask, place, .. } = course;
        let query = |locale: Option<&Locale>| match key {
            Some(key) => query::page(ask, locale, Some(key)),
            None => query::total(ask, locale),
        };
        self.list((&ask.uid, place), locale, query).await
    }
}

/// Starts a request: the connection is a task of its own, and gets its turn to send it.
async fn begin<F: Future>(request: Pin<&mut F>) -> Option<F::Output> {
    let early = futures::poll!(request);
    yield_now().await;
    match early {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => None,
    }
}

fn tell(localised: Option<&Localised>, is: bool) {
    if let Some(localised) = localised {
        localised.send_if_modified(|known| known.replace(is) != Some(is));
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

//! Compares what the settings need of a content type with what the CMS returns, for `check`.

mod finding;
mod refused;
mod sample;
mod schema;

pub use finding::{FieldUse, Finding, Purpose};
pub use schema::Schemas;

use serde_json::{Map, Value};

use self::sample::Seen;
use super::Strapi;
use super::endpoint::EndpointKind;
use super::endpoint_cache::ResolvedEndpoint;
use super::page::NO_LIST;
use super::query_string::{self, SampleOf};
use crate::{ContentError, ContentQuery, Projection, SetupProblem, Status};
use frontend_map_rules::{Condition, ContentTypeUid, FieldPath, Locale};

/// The most requests for a document of one type: each one without the fields that were refused.
const MAX_REFUSED: usize = 20;

/// What the settings need of a content type.
#[derive(Clone, Debug)]
pub struct TypeUse {
    /// The content type.
    pub uid: ContentTypeUid,
    /// The fields of all rules of all sites, or those with links.
    pub fields: Vec<FieldUse>,
    /// As in [`ContentQuery`].
    pub alternatives: Vec<Vec<Condition>>,
    /// The default locale of the first site.
    pub locale: Locale,
    /// The other locales of all sites.
    pub other_locales: Vec<Locale>,
}

impl TypeUse {
    /// Whether its fields are those with links.
    pub fn is_for_links(&self) -> bool {
        self.fields.iter().any(|field| field.purpose == Purpose::Links)
    }
}

/// The result for one content type.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The problems, each once.
    pub findings: Vec<Finding>,
    /// Whether there is no document, so that relations and values could not be seen.
    pub is_empty: bool,
    /// Whether the type is a single type.
    pub is_single: bool,
    /// The content type that is meant more likely, if nothing shows whether there is this one.
    pub likelier_type: Option<String>,
}

/// A content type and the fields that were not refused so far.
struct Examiner<'a> {
    strapi: &'a Strapi,
    wanted: &'a TypeUse,
    fields: Vec<FieldUse>,
    has_filters: bool,
    findings: Vec<Finding>,
}

/// Compares what the settings need of a content type with what the CMS returns and, where the
/// token may read it, with the schema. Schemas are requested once and kept in `schemas`.
///
/// # Errors
/// [`ContentError`] when the CMS does not respond.
pub async fn examine(
    strapi: &Strapi,
    schemas: &mut Schemas,
    wanted: &TypeUse,
) -> Result<Examination, ContentError> {
    if let Some(finding) = schemas.missing_type(&strapi.client, &wanted.uid).await? {
        // The endpoint that its name suggests may be that of another type.
        return Ok(Examination {
            findings: vec![finding],
            is_empty: false,
            is_single: false,
            likelier_type: None,
        });
    }
    let findings = schemas.examine(&strapi.client, &wanted.uid, &wanted.fields).await?;
    let (fields, has_filters) = (wanted.fields.clone(), !wanted.alternatives.is_empty());
    let mut examiner = Examiner { strapi, wanted, fields, has_filters, findings };
    examiner.drop_reported_fields();
    let sampled = examiner.sample_usable_fields().await?;
    let is_empty = matches!(sampled, Some(None));
    if let Some(Some(document)) = sampled {
        examiner.examine_documents(document).await;
    }
    let mut findings = examiner.findings;
    name_targets(strapi, &mut findings).await;
    // A refused filter and a document may show the same.
    let mut unique: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        if !unique.contains(&finding) {
            unique.push(finding);
        }
    }
    let findings = unique;
    let is_single = strapi.known_kind(&wanted.uid) == Some(EndpointKind::Single);
    let likelier_type = schemas.likelier_type(&wanted.uid);
    Ok(Examination { findings, is_empty, is_single, likelier_type })
}

/// Adds to findings about relations the content types that these lead to, if the schema says it.
async fn name_targets(strapi: &Strapi, findings: &mut [Finding]) {
    for finding in findings {
        if let Finding::Setup(SetupProblem::AbsentKey { uid, path, is_relation: true, target }) =
            finding
        {
            *target = strapi.targets.get(&strapi.client, uid, path).await;
        }
    }
}

impl Examiner<'_> {
    /// Requests a document, and repeats the request without each field that the CMS refuses.
    /// `None`: there is a problem with the type itself; `Some(None)`: there is no document.
    async fn sample_usable_fields(
        &mut self,
    ) -> Result<Option<Option<Map<String, Value>>>, ContentError> {
        for _ in 0..MAX_REFUSED {
            match self.sample().await {
                // No document meets the conditions; any other one has the same fields.
                Ok(None) if self.has_filters => self.has_filters = false,
                Ok(None) => return Ok(Some(self.sample_of_any_locale(SampleOf::Type).await?)),
                Ok(document) => return Ok(Some(document)),
                Err(ContentError::Setup(problem)) => {
                    if !self.explain(problem).await? {
                        return Ok(None);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Follows the fields through a document and, where this has nothing behind a relation that leads
    /// on to another one, through one that has.
    async fn examine_documents(&mut self, first: Map<String, Value>) {
        let (mut hidden, mut requested) = (Vec::new(), 0);
        self.examine_document(&first, &mut hidden);
        while let Some(relation) = hidden.get(requested) {
            requested += 1;
            // The service itself sends no such filter. If it fails, nothing more is seen.
            let found = self.sample_of_any_locale(SampleOf::Related(relation)).await;
            if let Ok(Some(document)) = found {
                self.examine_document(&document, &mut hidden);
            }
        }
    }

    /// Adds what is wrong to the findings, and to `hidden` each relation behind which nothing was seen.
    fn examine_document(&mut self, document: &Map<String, Value>, hidden: &mut Vec<FieldPath>) {
        for field in &self.fields {
            match sample::examine(document, &self.wanted.uid, field) {
                Seen::Wrong(finding) if !self.findings.contains(&finding) => {
                    self.findings.push(finding);
                }
                Seen::Hidden(relation) if !hidden.contains(&relation) => hidden.push(relation),
                Seen::Fine | Seen::Wrong(_) | Seen::Hidden(_) => {}
            }
        }
    }

    /// One of these documents with the fields that are left, in any locale.
    async fn sample_of_any_locale(
        &self,
        of: SampleOf<'_>,
    ) -> Result<Option<Map<String, Value>>, ContentError> {
        let resolved = self.strapi.resolve(&self.wanted.uid).await?;
        let query = self.query();
        if resolved.endpoint.kind() == EndpointKind::Single {
            // There is no list of its versions.
            for locale in &self.wanted.other_locales {
                let found = request(self.strapi, &query, locale, false).await?;
                let is_one = |found: &Map<String, Value>| match of {
                    SampleOf::Type | SampleOf::Query => true,
                    SampleOf::Related(path) => {
                        sample::has_something(sample::value(found, path.segments()))
                    }
                };
                if let Some(found) = found.filter(is_one) {
                    return Ok(Some(found));
                }
            }
            return Ok(None);
        }
        // A type that is not localized ignores the locale.
        let text = |_: Option<&Locale>| query_string::sample(&query, None, of) + "&locale=%2A";
        let reply = self.strapi.list(&resolved, None, text).await?;
        sample::document(&reply.body).map_err(|()| NO_LIST)
    }

    /// A document with the fields that are left.
    async fn sample(&self) -> Result<Option<Map<String, Value>>, ContentError> {
        request(self.strapi, &self.query(), &self.wanted.locale, self.has_filters).await
    }

    fn query(&self) -> ContentQuery {
        let paths = self.fields.iter().map(|field| field.path.clone()).collect();
        let is_for_links = self.wanted.is_for_links();
        let projection =
            if is_for_links { Projection::of_content(paths) } else { Projection::new(paths) };
        let alternatives = self.wanted.alternatives.clone();
        ContentQuery { alternatives, ..ContentQuery::new(self.wanted.uid.clone(), projection) }
    }

    /// Turns a refusal into findings, and leaves out what was refused. Returns whether the next
    /// request is a different one.
    async fn explain(&mut self, problem: SetupProblem) -> Result<bool, ContentError> {
        // Here `AbsentKey` comes from a refused filter: those of a document are found later.
        let is_filter = matches!(problem, SetupProblem::AbsentKey { .. });
        let asked_for = (self.fields.len(), self.has_filters);
        let findings = refused::explain(self.strapi, self.wanted, &self.fields, problem).await?;
        self.findings.extend(findings);
        self.drop_reported_fields();
        self.has_filters &= !is_filter;
        Ok(asked_for != (self.fields.len(), self.has_filters))
    }

    /// Leaves out the fields that are reported, with those of the same placeholder, and the filters
    /// if one of them names such a field.
    fn drop_reported_fields(&mut self) {
        let findings = &self.findings;
        let is_reported = |path: &FieldPath| {
            let path = path.to_string();
            findings.iter().any(|finding| finding.is_about(&path))
        };
        let reported = self.fields.iter().filter(|field| is_reported(&field.path));
        let groups: Vec<usize> = reported.map(|field| field.group).collect();
        let mut conditions = self.wanted.alternatives.iter().flatten();
        self.has_filters &= !conditions.any(|condition| is_reported(&condition.field));
        self.fields.retain(|field| !groups.contains(&field.group));
    }
}

/// One document, if there is one.
async fn request(
    strapi: &Strapi,
    query: &ContentQuery,
    locale: &Locale,
    has_filters: bool,
) -> Result<Option<Map<String, Value>>, ContentError> {
    let resolved = strapi.resolve(&query.uid).await?;
    let mut body = send(strapi, &resolved, query, locale, has_filters).await;
    if strapi.adopt_single_type(&body).await {
        let resolved = strapi.resolve(&query.uid).await?;
        body = send(strapi, &resolved, query, locale, has_filters).await;
    }
    let Some(body) = body? else { return Ok(None) };
    sample::document(&body).map_err(|()| NO_LIST)
}

async fn send(
    strapi: &Strapi,
    resolved: &ResolvedEndpoint,
    query: &ContentQuery,
    locale: &Locale,
    has_filters: bool,
) -> Result<Option<String>, ContentError> {
    if resolved.endpoint.kind() == EndpointKind::Single {
        let text =
            |locale: Option<&Locale>| query_string::version(query, locale, Status::Published);
        return strapi.version(resolved, resolved.endpoint.path(), locale, text).await;
    }
    let of = if has_filters { SampleOf::Query } else { SampleOf::Type };
    let text = |locale: Option<&Locale>| query_string::sample(query, locale, of);
    let reply = strapi.list(resolved, Some(locale), text).await?;
    Ok(Some(reply.body))
}

//! Asks the CMS what the settings are written from.

use std::collections::BTreeSet;

use super::arguments::{Wanted, WantedType};
use super::locales::SiteLocales;
use super::redirects::{RedirectFields, RedirectGuess};
use super::rules::{self, RuleGuess};
use super::slug::Slug;
use super::types::{LeftOut, Sketch, Type, locale};
use frontend_map_cms::{
    CmsLocale, ContentError, Endpoint, EndpointKind, FieldSchema, Outage, Sample, SetupProblem,
    Strapi, TypeSchema, survey,
};
use frontend_map_platform::spelling::did_you_mean;
use frontend_map_rules::ContentTypeUid;

/// What the settings are written from.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) rules: Vec<RuleGuess>,
    pub(super) redirects: Vec<RedirectGuess>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) locales: SiteLocales,
}

/// The types of the CMS, and the locales of the documents that were read.
#[derive(Default)]
struct Types {
    found: Vec<Type>,
    redirects: Vec<RedirectGuess>,
    left_out: Vec<LeftOut>,
    locales: BTreeSet<String>,
}

/// What a content type is for.
enum Found {
    Pages(Type),
    Redirects(RedirectGuess),
}

/// # Errors
/// The text says what to do.
pub(super) async fn survey(strapi: &Strapi, wanted: &Wanted) -> Result<Survey, String> {
    let schemas = schemas(strapi, wanted).await?;
    // Before the types, because they also show the version of Strapi.
    let cms_locales = survey::locales(strapi).await.map_err(|error| explain(strapi, &error))?;
    let types = match &schemas {
        Some(schemas) => by_schema(strapi, wanted, schemas).await?,
        None => by_documents(strapi, &wanted.types).await?,
    };
    let locales = locales(strapi, wanted, cms_locales.as_deref(), &types).await?;
    let (rules, no_rule) = rules::guess(&types.found);
    let mut left_out = types.left_out;
    left_out.extend(no_rule);
    left_out.sort_by(|one, other| one.uid.cmp(&other.uid));
    if rules.is_empty() {
        return Err(no_rules(&left_out));
    }
    Ok(Survey { rules, redirects: types.redirects, left_out, locales })
}

/// What to do if the schema cannot be read.
const NAME_TYPES: &str = "name the content types, such as --type api::article.article, or use a \
    token that may read it: one with full access, or a custom one with getContentTypes and \
    getContentType of Content-type-builder and listLocales of I18N";

async fn locales(
    strapi: &Strapi,
    wanted: &Wanted,
    cms: Option<&[CmsLocale]>,
    types: &Types,
) -> Result<SiteLocales, String> {
    match (&wanted.locales, cms) {
        (Some(given), cms) => SiteLocales::given(given.codes(), cms),
        (None, Some(cms)) => Ok(SiteLocales::of_cms(cms)),
        (None, None) => {
            let is_list =
                |found: &&Type| found.is_localized && found.kind == EndpointKind::Collection;
            let default = match types.found.iter().find(is_list) {
                Some(found) => survey::default_locale(strapi, &found.uid).await,
                None => Ok(None),
            };
            let default = default.map_err(|error| explain(strapi, &error))?;
            Ok(SiteLocales::of_documents(default.as_ref(), &types.locales))
        }
    }
}

/// The schemas; `None`: the types that the command line names are read by themselves.
async fn schemas(strapi: &Strapi, wanted: &Wanted) -> Result<Option<Vec<TypeSchema>>, String> {
    match survey::type_schemas(strapi).await {
        Ok(Some(schemas)) => Ok(Some(schemas)),
        Ok(None) | Err(ContentError::Setup(SetupProblem::NotPermitted { .. }))
            if !wanted.types.is_empty() =>
        {
            Ok(None)
        }
        Ok(None) => Err(format!("the CMS at {} has no schema to read: {NAME_TYPES}", wanted.cms)),
        Err(ContentError::Setup(SetupProblem::NotPermitted { has_token: true, endpoint })) => {
            Err(format!("403 on /api/{endpoint}: the token may not read the schema: {NAME_TYPES}"))
        }
        Err(error) => Err(explain(strapi, &error)),
    }
}

async fn by_schema(
    strapi: &Strapi,
    wanted: &Wanted,
    schemas: &[TypeSchema],
) -> Result<Types, String> {
    let mut types = Types::default();
    for schema in schemas {
        let named = wanted.types.iter().find(|named| named.uid == schema.uid);
        if named.is_none() && !wanted.types.is_empty() {
            continue;
        }
        match one_by_schema(strapi, schema, named).await {
            Ok(Ok(Found::Pages(found))) => types.found.push(found),
            Ok(Ok(Found::Redirects(found))) => types.redirects.push(found),
            Ok(Err((reason, is_unread))) => {
                let (is_localized, needs_endpoint) = (schema.is_localized, !schema.is_guessable());
                let endpoint = schema.endpoint.as_ref();
                // Redirects have no rule.
                let endpoint = endpoint.filter(|_| RedirectFields::of_schema(schema).is_none());
                let sketch = endpoint.and_then(|endpoint| {
                    Sketch::new(endpoint.path(), endpoint.kind(), is_localized, needs_endpoint)
                });
                let left_out = LeftOut::new(&schema.uid, reason);
                types.left_out.push(LeftOut { sketch, is_unread, ..left_out });
            }
            Err(error) => return Err(format!("{}: {}", schema.uid, explain(strapi, &error))),
        }
    }
    let known: Vec<&str> = schemas.iter().map(|schema| schema.uid.as_str()).collect();
    for named in &wanted.types {
        if !known.contains(&named.uid.as_str()) {
            let similar = did_you_mean(named.uid.as_str(), known.iter().copied());
            let reason = format!("the CMS has no such content type{similar}");
            types.left_out.push(LeftOut::new(&named.uid, reason));
        }
    }
    Ok(types)
}

/// One type, or the reason why it has no rule, and whether that is that it could not be read.
///
/// # Errors
/// That there is no response.
async fn one_by_schema(
    strapi: &Strapi,
    schema: &TypeSchema,
    named: Option<&WantedType>,
) -> Result<Result<Found, (String, bool)>, ContentError> {
    let mut endpoints = schema.endpoints();
    if let Some(named) = named.filter(|named| !named.endpoints.is_empty()) {
        endpoints.clone_from(&named.endpoints);
    }
    let Some(endpoint) = endpoints.first().cloned() else {
        return Ok(Err(("its plural name cannot stand in a path".to_owned(), false)));
    };
    let is_single = endpoint.kind() == EndpointKind::Single;
    let redirect = RedirectFields::of_schema(schema);
    let slug = match Slug::of_schema(&schema.fields) {
        _ if redirect.is_some() => None,
        _ if is_single => None,
        None => slug_in_components(strapi, schema).await?,
        slug => slug,
    };
    let field = match (&slug, &redirect) {
        (_, Some(redirect)) => redirect.from(),
        (Some(slug), None) => &slug.field,
        (None, None) if is_single => "documentId",
        // Its documents would show nothing.
        (None, None) => return Ok(Err(("none of its fields looks like a slug".to_owned(), false))),
    };
    match survey::sample(strapi, &schema.uid, &endpoints, Some(field)).await {
        Ok(sample) => Ok(Ok(match redirect {
            Some(redirect) => Found::Redirects(redirect.guess(schema, &sample)),
            None => Found::Pages(Type::of_schema(schema, slug, &sample)),
        })),
        // Without a document, Strapi returns the same 404.
        Err(ContentError::Setup(SetupProblem::NoEndpoint { .. })) if is_single => {
            let sample = Sample { endpoint, is_guessable: false, documents: Vec::new() };
            Ok(Ok(Found::Pages(Type::of_schema(schema, slug, &sample))))
        }
        Err(ContentError::Setup(SetupProblem::NoEndpoint { endpoint, .. })) => {
            let reason = format!(
                "404 on /api/{endpoint}: it has no routes in Strapi, or another path, which a \
                 [[content_type]] can name"
            );
            Ok(Err((reason, true)))
        }
        Err(error) if error.is_without_response() => Err(error),
        Err(error) => Ok(Err((error.detail(), true))),
    }
}

/// The slug in a component of a type that has none of its own.
async fn slug_in_components(
    strapi: &Strapi,
    schema: &TypeSchema,
) -> Result<Option<Slug>, ContentError> {
    let mut all = Vec::new();
    for FieldSchema { name, component, .. } in &schema.fields {
        let Some(component) = component else { continue };
        let fields = survey::component_fields(strapi, component).await?.unwrap_or_default();
        all.extend(fields.into_iter().map(|field| {
            let name = format!("{name}.{}", field.name);
            FieldSchema { name, ..field }
        }));
    }
    Ok(Slug::of_schema(&all))
}

/// A page of documents with all of their fields; with their components if none of these is a slug.
async fn sample(
    strapi: &Strapi,
    uid: &ContentTypeUid,
    endpoints: &[Endpoint],
) -> Result<Sample, ContentError> {
    let sample = survey::sample(strapi, uid, endpoints, None).await?;
    if sample.documents.is_empty() || Slug::of_documents(&sample.documents).is_some() {
        return Ok(sample);
    }
    let populated =
        survey::sample(strapi, uid, std::slice::from_ref(&sample.endpoint), Some("*")).await?;
    Ok(Sample { documents: populated.documents, ..sample })
}

/// The types that the command line names.
async fn by_documents(strapi: &Strapi, wanted: &[WantedType]) -> Result<Types, String> {
    let mut types = Types::default();
    for WantedType { uid, endpoints } in wanted {
        let sample = match sample(strapi, uid, endpoints).await {
            Ok(sample) => sample,
            Err(error) => {
                let reason = match &error {
                    ContentError::Setup(SetupProblem::NoEndpoint { endpoint, .. }) => format!(
                        "404 on /api/{endpoint}: correct the UID, or add the path of the type below \
                         /api, which is its plural API ID in Strapi: --type {uid}=PATH"
                    ),
                    _ => explain(strapi, &error),
                };
                let is_of_type = matches!(
                    error,
                    ContentError::Setup(
                        SetupProblem::NoEndpoint { .. } | SetupProblem::NotPermitted { .. }
                    )
                );
                if !is_of_type {
                    return Err(format!("--type {uid}: {reason}"));
                }
                let sketch = match &error {
                    ContentError::Setup(SetupProblem::NoEndpoint { endpoint, .. }) => {
                        Sketch::new(endpoint, EndpointKind::Collection, true, true)
                    }
                    ContentError::Setup(SetupProblem::NotPermitted { endpoint, .. }) => {
                        Sketch::new(endpoint, EndpointKind::Collection, true, !endpoints.is_empty())
                    }
                    _ => None,
                };
                let left_out = LeftOut::new(uid, reason);
                types.left_out.push(LeftOut { sketch, is_unread: true, ..left_out });
                continue;
            }
        };
        types.locales.extend(sample.documents.iter().filter_map(locale).map(str::to_owned));
        types.found.push(Type::of_documents(uid, &sample));
    }
    if types.found.is_empty() {
        let reason = |LeftOut { uid, reason, .. }: &LeftOut| format!("--type {uid}: {reason}");
        return Err(types.left_out.iter().map(reason).collect::<Vec<_>>().join("\n"));
    }
    Ok(types)
}

/// The error where no type has a rule.
fn no_rules(left_out: &[LeftOut]) -> String {
    let reasons = left_out.iter().map(|LeftOut { uid, reason, .. }| format!("\n- {uid}: {reason}"));
    let reasons: String = reasons.collect();
    if left_out.iter().any(|left_out| left_out.is_unread) {
        return format!(
            "no content types to write rules for: some could not be read; do what is said for each \
             type, and run init again{reasons}"
        );
    }
    let found =
        if reasons.is_empty() { "the CMS has none" } else { "none of them can have a rule" };
    format!(
        "no content types to write rules for: {found}; create one with a field `slug` in Strapi, or \
         write the settings by hand, as docs/configuration.md describes{reasons}"
    )
}

/// The error with what to do about it.
fn explain(strapi: &Strapi, error: &ContentError) -> String {
    let detail = strapi.detail(error);
    match error {
        ContentError::Setup(_) => detail,
        ContentError::Unavailable { outage: Outage::Status(429), .. } => {
            format!("{detail}: a rate limit refused the request: try again later")
        }
        ContentError::TypeFails { .. }
        | ContentError::Unavailable { outage: Outage::Status(_), .. } => {
            format!("{detail}: the log of Strapi, or of a proxy before it, says why")
        }
        ContentError::Redirected(redirect) => {
            format!(
                "{redirect}: --cms must be an address of Strapi 5 at which /api is not redirected"
            )
        }
        ContentError::Unusable(_) => {
            format!("{detail}: --cms must be the address of Strapi 5, without /admin")
        }
        ContentError::Unavailable { .. }
        | ContentError::CircuitOpen { .. }
        | ContentError::TimedOut
        | ContentError::TlsFailed => format!("{detail}: start Strapi, or correct --cms"),
    }
}

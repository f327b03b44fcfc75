//! `/api/links`: the internal links in the content of a site's documents. GET lists them with what is at
//! each, POST lets the content be read again.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use tokio::task::block_in_place;

use super::Format;
use crate::app::{App, AppPages};
use crate::http::request::bearer::{require_bearer, require_validate_token};
use crate::http::request::call::Call;
use crate::http::request::params::{SITE, known_site, parse_document_id, required};
use crate::http::request::query::{Param, echo, parse};
use crate::http::response::envelope::{json_response, success_text};
use crate::http::response::error::ApiError;
use crate::http::response::no_store;
use crate::http::responses::ReadingLinks;
use frontend_map_cache::SiteLinks;
use frontend_map_catalog::links::{LinkFilter, LinkRows, Linking, Verdict, judge};
use frontend_map_catalog::site::Site;
use frontend_map_catalog::tables::Rows as _;
use frontend_map_rules::PATHNAME_NEEDS_SLASH;

/// The query parameters of GET.
pub(in crate::http) const PARAMS: [Param; 4] = [
    SITE,
    Param { name: "documentId", max_bytes: 64 },
    Param { name: "to", max_bytes: 2_048 },
    Param { name: "verdict", max_bytes: 128 },
];
/// The query parameters of POST.
pub(in crate::http) const POST_PARAMS: [Param; 1] = [SITE];

/// The list.
pub(in crate::http) async fn get(Call { app, query, headers }: Call) -> Result<Response, ApiError> {
    let [site, document_id, to, verdict] = parse(query.as_deref(), &PARAMS)?;
    let site = known_site(&app, &required("site", site)?)?;
    let document_id = document_id.map(parse_document_id).transpose()?;
    let filter = LinkFilter {
        document_id: document_id.map(Cow::into_owned),
        to: to.map(parse_to).transpose()?,
        verdicts: verdict.map_or(Ok(Vec::new()), |text| parse_verdicts(&text))?,
    };
    require_bearer(app.http.validate_token.as_ref(), &headers)?;
    let rows = judged(&app, site, &filter)?;
    let format = Format::preferred(&headers, rows.count() as u64);
    Ok(format.respond_privately(rows.chunks(format.form), &[]))
}

/// The links of a site that a filter lets through, with their verdicts.
pub(super) fn judged(
    app: &App,
    site: &Arc<Site>,
    filter: &LinkFilter,
) -> Result<LinkRows, ApiError> {
    let links = links(app, site)?;
    let table = links.table().ok_or_else(ApiError::links_not_read)?;
    let pages = AppPages::new(app, links);
    let at = pages.position(site).ok_or_else(ApiError::links_not_read)?;
    let index = pages.documents(at).ok_or_else(ApiError::links_not_read)?;
    // A million links take more than a second.
    let judged = block_in_place(|| judge(&table, &pages, at, filter));
    let linking = Linking {
        hosts: links.hosts().clone(),
        site: at,
        index: Arc::clone(index),
        admin: app.admin_links(site),
    };
    Ok(LinkRows::new(table, judged, linking))
}

/// Lets all content be read again, as soon as the share of the CMS permits it.
pub(in crate::http) async fn post(
    Call { app, query, headers }: Call,
) -> Result<Response, ApiError> {
    let [site] = parse(query.as_deref(), &POST_PARAMS)?;
    let site = known_site(&app, &required("site", site)?)?;
    // Without a token anybody could keep the CMS busy.
    require_validate_token(app.http.validate_token.as_ref(), &headers)?;
    let links = links(&app, site)?;
    match app.shared.fleet.links(site) {
        Some(shared) if shared.ask(&site.key).await.is_ok() => {}
        // Alone, or as long as Redis is unavailable.
        _ => links.want(),
    }
    let text = success_text(ReadingLinks { is_reading: true });
    Ok(no_store(json_response(StatusCode::ACCEPTED, text, HeaderMap::new())))
}

fn links<'a>(app: &'a App, site: &Site) -> Result<&'a SiteLinks, ApiError> {
    let links = app.links.get(&site.key).map(|links| &**links);
    links.ok_or_else(|| {
        ApiError::not_configured(format!("site \"{}\" has no [[site.links]]", site.key))
    })
}

fn parse_to(text: Cow<'_, str>) -> Result<String, ApiError> {
    if text.starts_with('/') {
        return Ok(text.into_owned());
    }
    let needs = PATHNAME_NEEDS_SLASH.replace("pathname", "to");
    Err(ApiError::validation(format!("{needs}, not {}", echo(&text))))
}

/// One verdict, or several with commas between them.
fn parse_verdicts(text: &str) -> Result<Vec<Verdict>, ApiError> {
    let parse = |name: &str| Verdict::ALL.into_iter().find(|verdict| verdict.as_str() == name);
    let verdicts: Option<Vec<Verdict>> = text.split(',').map(parse).collect();
    verdicts.ok_or_else(|| {
        let all = Verdict::ALL.map(Verdict::as_str).join(", ");
        ApiError::validation(format!(
            "`verdict` must be one or several of {all}, not {}",
            echo(text)
        ))
    })
}

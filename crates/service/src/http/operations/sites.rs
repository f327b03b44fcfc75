//! `GET /api/sites`: the sites of the settings with their locales, content types and redirects in the CMS,
//! from memory.

use axum::response::Response;

use crate::http::request::bearer::require_bearer;
use crate::http::request::call::Call;
use crate::http::request::query::parse;
use crate::http::response::envelope::success;
use crate::http::response::error::ApiError;
use crate::http::response::no_store;
use crate::http::responses::{RedirectType, SiteRow, Sites};
use frontend_map_catalog::site::Site;
use frontend_map_rules::{ContentTypeUid, FieldPath, Locale, Rule};

/// The response.
pub(in crate::http) async fn get(Call { app, query, headers }: Call) -> Result<Response, ApiError> {
    let [] = parse(query.as_deref(), &[])?;
    require_bearer(app.http.validate_token.as_ref(), &headers)?;
    let sites = app.sites.iter().map(|site| row(site)).collect();
    Ok(no_store(success(Sites { sites })))
}

fn row(site: &Site) -> SiteRow<'_> {
    SiteRow {
        key: &site.key,
        locales: site.rules.locales().codes().iter().map(Locale::as_str).collect(),
        content_types: site.rules.content_types().into_iter().map(ContentTypeUid::as_str).collect(),
        redirects: site
            .redirects
            .iter()
            .flat_map(|of| of.rules.rules())
            .filter_map(redirects_row)
            .collect(),
    }
}

fn redirects_row(rule: &Rule) -> Option<RedirectType<'_>> {
    let fields = rule.redirect.as_ref()?;
    // The settings name the relation, and the rule reads the id behind it.
    let relation = fields.document.as_ref().and_then(|document| document.relations().last());
    Some(RedirectType {
        content_type: rule.content_type.as_str(),
        from: rule.path_field.as_ref()?.to_string(),
        to: fields.to.as_ref().map(FieldPath::to_string),
        document: relation.map(|relation| relation.to_string()),
    })
}

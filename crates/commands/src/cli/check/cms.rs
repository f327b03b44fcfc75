//! Compares the settings with the CMS: asks for one document of each content type. Of a content file,
//! with the content types that it has.

use std::collections::HashSet;
use std::error::Error;
use std::sync::Arc;

use super::findings::{Check, Finding, Level, Place};
use super::type_uses::type_uses;
use crate::config::{Cms, Config};
use frontend_map_cms::{
    AbsentType, ContentError, Finding as TypeFinding, RequestLimiters, Schemas, Strapi,
    StrapiSettings,
};
use frontend_map_rules::ContentTypeUid;

/// What the CMS or the content file showed.
#[derive(Default)]
pub(super) struct CmsReport {
    pub(super) findings: Vec<Finding>,
    /// The content types that are single types.
    pub(super) single_types: HashSet<ContentTypeUid>,
}

/// Asks the CMS, unless `offline`, or looks into the content file.
///
/// # Errors
/// When the HTTP client cannot be set up.
pub(super) fn examine(config: &Config, offline: bool) -> Result<CmsReport, Box<dyn Error>> {
    match &config.cms {
        Cms::Files { .. } => {
            let problem = |AbsentType { uid, text }| {
                Finding::problem(Check::ContentFile, Place::Type(uid), text)
            };
            let findings = config.absent_types().into_iter().map(problem).collect();
            Ok(CmsReport { findings, ..CmsReport::default() })
        }
        Cms::Strapi(_) if offline => {
            let text = "the CMS was not queried (--offline): only the settings were checked";
            let findings = vec![Finding::new(Check::Cms, Level::Information, Place::File, text)];
            Ok(CmsReport { findings, ..CmsReport::default() })
        }
        Cms::Strapi(settings) => Ok(examine_types(config, settings)?),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn examine_types(
    config: &Config,
    settings: &StrapiSettings,
) -> Result<CmsReport, Box<dyn Error>> {
    let limiters = RequestLimiters::new(config.limits.cms_requests);
    let (mut report, mut schemas) = (CmsReport::default(), Schemas::default());
    let (mut has_response, mut failures) = (false, Failures::default());
    for wanted in type_uses(&config.sites) {
        let uid = &wanted.uid;
        // Each type has a circuit breaker of its own: one that hangs must not block the others.
        let strapi = Strapi::new(settings.clone(), Arc::default(), &limiters)?;
        let examined = frontend_map_cms::examine(&strapi, &mut schemas, &wanted).await;
        let is_silent = examined.as_ref().is_err_and(ContentError::is_without_response);
        has_response |= !is_silent || !schemas.is_empty();
        match examined {
            Ok(examination) => {
                if examination.is_single {
                    report.single_types.insert(uid.clone());
                }
                for finding in &examination.findings {
                    match finding {
                        TypeFinding::Field(..) if wanted.is_for_links() => {
                            let text = format!("{uid} in [[site.links]]: {finding}");
                            report.problem(Place::Links(uid.clone()), text);
                        }
                        _ => report.problem(Place::Type(uid.clone()), format!("{uid}: {finding}")),
                    }
                }
                let mut inform = |text| {
                    let place = Place::Type(uid.clone());
                    report.add(Finding::new(Check::Cms, Level::Information, place, text));
                };
                if let Some(likelier) = &examination.likelier_type {
                    inform(format!(
                        "{uid}: note: webhooks name a content type by its UID; the token may not \
                         read the content-type builder, so that this UID is not checked: is it \
                         `{likelier}`?"
                    ));
                }
                if examination.is_empty {
                    inform(format!("{uid}: nothing to check: it has no published document"));
                }
            }
            Err(error) if !has_response || asks_to_wait(&error) => {
                let detail = strapi.detail(&error);
                report.problem(Place::File, format!("the content types are not checked: {detail}"));
                break;
            }
            Err(error) => failures.add(uid, strapi.detail(&error)),
        }
    }
    for (detail, uids) in failures.0 {
        let names: Vec<&str> = uids.iter().map(ContentTypeUid::as_str).collect();
        let text = format!("{}: {detail}", names.join(", "));
        report.problem(Place::Type(uids[0].clone()), text);
    }
    Ok(report)
}

/// Why content types cannot be compared, each reason with its content types.
#[derive(Default)]
struct Failures(Vec<(String, Vec<ContentTypeUid>)>);

impl Failures {
    fn add(&mut self, uid: &ContentTypeUid, detail: String) {
        match self.0.iter_mut().find(|(known, _)| *known == detail) {
            Some((_, uids)) if uids.contains(uid) => {}
            Some((_, uids)) => uids.push(uid.clone()),
            None => self.0.push((detail, vec![uid.clone()])),
        }
    }
}

impl CmsReport {
    fn problem(&mut self, place: Place, text: String) {
        self.add(Finding::problem(Check::Cms, place, text));
    }

    /// Adds a finding, unless it was found already: rules and links may be of one content type.
    fn add(&mut self, finding: Finding) {
        if !self.findings.iter().any(|known| known.text == finding.text) {
            self.findings.push(finding);
        }
    }
}

/// Whether the CMS has asked for a pause in which no request is sent.
fn asks_to_wait(error: &ContentError) -> bool {
    matches!(
        error,
        ContentError::Unavailable { retry_after: Some(_), .. }
            | ContentError::CircuitOpen { retry_after: Some(_), .. }
    )
}

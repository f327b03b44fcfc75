//! `[[site.redirects]]`: content types whose documents are redirects of the site.

use crate::config::section::Section;
use crate::config::value::text;
use frontend_map_catalog::site::ResolveBy;
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{ContentTypeUid, FieldPath, RedirectFields, Rule};

/// The rules of the redirects, in the order of the settings; `None`: one has a problem.
pub(super) fn read(
    site: &mut Section<'_>,
    resolve: Option<ResolveBy>,
    hosts: Option<&Hosts>,
) -> Option<Vec<Rule>> {
    let own = hosts.into_iter().flat_map(Hosts::all).map(|host| host.base.host().to_owned());
    let listed = site.each("redirect_hosts", host);
    let hosts: Vec<String> = own.chain(listed).collect();
    let rules = site.entries("redirects", |section| one(section, &hosts))?;
    if !rules.is_empty() && resolve == Some(ResolveBy::Rules) {
        let fix = "add it there, or remove [[site.redirects]]";
        site.problem("redirects", format_args!("needs resolve = \"documents\" in the site: {fix}"));
    }
    let uids: Vec<&ContentTypeUid> = rules.iter().map(|rule| &rule.content_type).collect();
    for (at, uid) in uids.iter().enumerate() {
        if uids[..at].contains(uid) {
            site.problem("redirects", format_args!("{uid} is named twice"));
        }
    }
    Some(rules)
}

/// The content types of redirects cannot have URLs of their own on the same site.
pub(super) fn check_without_rule(site: &Section<'_>, redirects: &[Rule], rules: &[Rule]) {
    for uid in redirects.iter().map(|rule| &rule.content_type) {
        if rules.iter().any(|rule| rule.content_type == *uid) {
            let fix = "remove one of both";
            site.problem("redirects", format_args!("{uid} has a rule of the site as well: {fix}"));
        }
    }
}

fn one(section: &mut Section<'_>, hosts: &[String]) -> Option<Rule> {
    let uid = section.required("content_type", text);
    let from = section.required("from", text);
    if !section.has("to") && !section.has("document") {
        section.problem("", "`to`, `document` or both are required");
    }
    let [to, document, status, force] =
        ["to", "document", "status", "force"].map(|key| section.optional(key, text));
    let content_type = uid.and_then(|uid| {
        section.title(&uid);
        section.check("", ContentTypeUid::parse(&uid))
    });
    let field = |key: &str, text: Option<String>| {
        let path = FieldPath::parse(&text?);
        let names = "write it as the CMS names it, such as `from` or `target`";
        section.check(key, path.ok_or_else(|| format!("is not the name of a field: {names}")))
    };
    let fields = RedirectFields {
        to: field("to", to),
        document: field("document", document).and_then(|relation| target(section, &relation)),
        status: field("status", status),
        force: field("force", force),
        hosts: hosts.to_vec(),
    };
    let from = field("from", from);
    Some(Rule::redirect(content_type?, from?, fields))
}

/// The `documentId` behind a relation.
fn target(section: &Section<'_>, relation: &FieldPath) -> Option<FieldPath> {
    if relation.segments().last().is_some_and(|last| &**last == "documentId") {
        section.problem("document", "name the relation alone, such as `target`");
        return None;
    }
    Some(relation.document_id())
}

/// A host with its port, as a base URL has it.
fn host(text: &str) -> Result<String, String> {
    let base = BaseUrl::parse(&format!("https://{text}"));
    let base = base.ok().filter(|_| !text.contains('/'));
    let host = base.map(|base| base.host().to_owned());
    host.ok_or_else(|| format!("`{text}` is not a host, such as www.example.com"))
}

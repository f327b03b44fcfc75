//! Explains a document: each rule of its content type, and why it builds the URL or not.

use serde::Serialize;

use crate::path_index::SharedPath;
use crate::site::Site;
use frontend_map_rules::frontend_url::{
    FrontendPath, LocaleVersion, NoUrlReason, NullLink, in_words, path_by_rule,
};
use frontend_map_rules::{
    BuiltSegment, Document, Fault, FieldValue, Locale, Placeholder, Rule, SegmentOutput, Source,
};

/// A document and the result of each rule of its content type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentExplanation {
    /// The key of the site.
    pub site: String,
    /// The content type.
    pub uid: String,
    /// Strapi's `documentId`.
    pub document_id: String,
    /// The locale of the version.
    pub locale: String,
    /// Whether the version exists; null if the CMS could not say.
    pub found: Option<bool>,
    /// Why the document could not be read, or why its URL or the owner of its path is not known; null if
    /// they are.
    pub problem: Option<String>,
    /// The path of the first rule that builds one.
    pub path: Option<String>,
    /// The frontend URL; null without a base URL.
    pub url: Option<String>,
    /// Another document owns the path, so that the URL opens that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_path: Option<SharedPath>,
    /// The rules of the content type, in the order of the settings.
    pub considered: Vec<RuleExplanation>,
}

/// The result of one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleExplanation {
    /// The template for the document's locale, or the rule's first.
    pub rule: String,
    /// The result.
    pub outcome: RuleOutcome,
    /// Why it builds no URL (D13).
    pub reason: Option<String>,
    /// The reason in words.
    pub why: Option<String>,
    /// The path that it builds.
    pub path: Option<String>,
    /// The path of the document's own, if the rule names a field for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_path: Option<OwnPathResult>,
    /// Its conditions.
    pub conditions: Vec<ConditionResult>,
    /// Its placeholders from left to right.
    pub placeholders: Vec<PlaceholderResult>,
}

/// The result of one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleOutcome {
    /// It builds the URL.
    Used,
    /// It could, but an earlier rule builds the URL, or decides that there is none.
    NotNeeded,
    /// It builds none.
    NoUrl,
}

/// One condition and the document's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConditionResult {
    /// The field.
    pub field: String,
    /// The required value.
    pub wanted: String,
    /// The value of the document; null if there is none that can be shown.
    pub found: Option<String>,
    /// Whether they are equal.
    pub holds: bool,
}

/// The path field and the document's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnPathResult {
    /// The field.
    pub field: String,
    /// The value; null if there is none that can be shown.
    pub value: Option<String>,
    /// Whether it takes the place of the template: a value that is not empty.
    pub is_used: bool,
    /// Why it cannot be used; null if it can, or if there is none.
    pub fault: Option<&'static str>,
}

/// One placeholder and the document's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlaceholderResult {
    /// The segment of the template.
    pub placeholder: String,
    /// The value; null if there is none that can be shown.
    pub value: Option<String>,
    /// Whether the path omits it: `{locale}` for the default locale, or an optional placeholder.
    pub left_out: bool,
    /// Why the value cannot be used; null if it can.
    pub fault: Option<&'static str>,
}

impl DocumentExplanation {
    /// This explanation for a document that could not be read, or without a key that decides about
    /// its URL.
    pub fn with_problem(self, problem: String) -> Self {
        Self { found: None, problem: Some(problem), ..self }
    }
}

/// Applies all rules of the content type to a document. Without a document, the list of rules is empty.
pub fn explain_document(
    site: &Site,
    uid: &str,
    document_id: &str,
    locale: &Locale,
    document: Option<&Document<'_>>,
    drafts: bool,
    null: NullLink,
) -> DocumentExplanation {
    let mut explanation = DocumentExplanation {
        site: site.key.clone(),
        uid: uid.to_owned(),
        document_id: document_id.to_owned(),
        locale: locale.to_string(),
        found: Some(document.is_some()),
        problem: None,
        path: None,
        url: None,
        shared_path: None,
        considered: Vec::new(),
    };
    let Some(document) = document else {
        return explanation;
    };
    let mut is_decided = false;
    for rule in site.rules.of_type(uid) {
        let built = path_by_rule(&site.rules, &site.hosts, rule, document, drafts);
        let is_last = match &built {
            Ok(_) => true,
            Err(reason) => reason.is_final(&site.rules, rule, document),
        };
        let used = rule_use(site, rule, document, built, is_decided, null);
        if used.outcome == RuleOutcome::Used {
            explanation.path.clone_from(&used.path);
        }
        explanation.considered.push(used);
        is_decided |= is_last;
    }
    let version = LocaleVersion::of(document, site.rules.locales()).locale;
    let locale = site.rules.locales().position(version.as_str());
    let url = |path: &String| site.hosts.url(locale?, path);
    explanation.url = explanation.path.as_ref().and_then(url);
    explanation
}

fn rule_use(
    site: &Site,
    rule: &Rule,
    document: &Document<'_>,
    built: Result<FrontendPath<'_>, NoUrlReason>,
    is_decided: bool,
    null: NullLink,
) -> RuleExplanation {
    let version = LocaleVersion::of(document, site.rules.locales());
    let template = rule.template(version.locale.code()).unwrap_or(rule.first_template());
    let (outcome, reason, path) = match built {
        Ok(built) if is_decided => (RuleOutcome::NotNeeded, None, Some(built.path)),
        Ok(built) => (RuleOutcome::Used, None, Some(built.path)),
        Err(reason) => (RuleOutcome::NoUrl, Some(reason.to_string()), None),
    };
    let conditions = rule.conditions.iter().map(|condition| {
        let value = document.field(&condition.field);
        ConditionResult {
            field: condition.field.to_string(),
            wanted: condition.equals.as_str().to_owned(),
            found: shown(value),
            holds: condition.holds(value),
        }
    });
    let segments = site.rules.built_segments(template, version.locale.code(), &version);
    let placeholders =
        segments.into_iter().filter_map(|built| placeholder_result(&built, document));
    RuleExplanation {
        rule: template.to_string(),
        outcome,
        why: reason
            .as_deref()
            .and_then(|reason| in_words(reason, template, Some(document), |_| null)),
        reason,
        path,
        own_path: own_path(site, rule, document),
        conditions: conditions.collect(),
        placeholders: placeholders.collect(),
    }
}

fn own_path(site: &Site, rule: &Rule, document: &Document<'_>) -> Option<OwnPathResult> {
    let field = rule.path_field.as_ref()?;
    let version = LocaleVersion::of(document, site.rules.locales());
    Some(OwnPathResult {
        field: field.to_string(),
        value: shown(document.field(field)),
        is_used: rule.has_own_path(&version),
        fault: site.rules.own_path_fault(rule, version.locale.code(), &version).map(Fault::as_str),
    })
}

fn placeholder_result(built: &BuiltSegment<'_>, document: &Document) -> Option<PlaceholderResult> {
    let Placeholder { source, .. } = built.segment.placeholder()?;
    let (value, left_out, fault) = match &built.output {
        SegmentOutput::Static(_) => return None,
        SegmentOutput::Value(value) => (Some(value.text.to_string()), false, None),
        SegmentOutput::Omitted => (unusable(source, document), true, None),
        SegmentOutput::Fault(fault) => (unusable(source, document), false, Some(fault.as_str())),
    };
    Some(PlaceholderResult { placeholder: built.segment.to_string(), value, left_out, fault })
}

/// The field's value of a placeholder that cannot use it.
fn unusable(source: &Source, document: &Document<'_>) -> Option<String> {
    match source {
        Source::Field(path) | Source::Date(path, _) => shown(document.field(path)),
        Source::Locale | Source::DocumentId | Source::Ancestors(_) => None,
    }
}

fn shown(value: &FieldValue<'_>) -> Option<String> {
    match value {
        FieldValue::Text(text) => Some(text.clone().into_owned()),
        FieldValue::Boolean(value) => Some(value.to_string()),
        FieldValue::List(values) if !values.is_empty() => {
            let shown: Vec<String> = values.iter().filter_map(shown).collect();
            Some(shown.join(", "))
        }
        FieldValue::Missing
        | FieldValue::NullAt(_)
        | FieldValue::Absent(_)
        | FieldValue::List(_)
        | FieldValue::NotText => None,
    }
}

//! What a rule's templates come to for matching: one pattern for each form that a path can have.

#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use crate::rules::locale::{Locale, Locales};
use crate::rules::rule::Rule;
use crate::rules::template::{Segment, Template};

/// One form that the paths of a rule can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::rules) struct Pattern {
    /// The position of its rule in the settings.
    pub(in crate::rules) rule: usize,
    /// The position of its template among those of the rule.
    pub(in crate::rules) template: usize,
    /// Its segments, without those that this form leaves out.
    pub(in crate::rules) segments: Vec<Segment>,
    /// The locales that a path of this form can have when no `{locale}` says it: none for all of
    /// them, several where these have the same template.
    pub(in crate::rules) locales: Vec<Locale>,
    /// What `{locale}` takes.
    pub(in crate::rules) accepts: Accepts,
    /// Where `{locale}` was left out: what stands there now may not look like a locale, else
    /// `/de` would be a German page and an English document named `de` at once.
    pub(in crate::rules) bare_at: Option<usize>,
}

/// Which of the site's locales `{locale}` takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::rules) enum Accepts {
    All,
    Only(Locale),
    AllBut(Locale),
}

impl Accepts {
    pub(in crate::rules) fn takes(&self, code: &str, locales: &Locales) -> bool {
        match self {
            Self::All => locales.get(code).is_some(),
            Self::Only(locale) => locale.as_str() == code,
            Self::AllBut(locale) => locale.as_str() != code && locales.get(code).is_some(),
        }
    }
}

/// A template, and the locales that have it; none where it is for all.
struct Own<'r> {
    at: usize,
    template: &'r Template,
    locales: Vec<Locale>,
}

/// All forms of a rule's templates: optional segments are left out from the right, and under
/// [`LocalePrefix::ExceptDefault`](crate::rules::LocalePrefix::ExceptDefault) the default locale has no `{locale}` segment.
pub(in crate::rules) fn patterns(rule: usize, of: &Rule, default: Option<&Locale>) -> Vec<Pattern> {
    let forms = |own: &Own<'_>| -> Vec<Pattern> {
        let all = own.template.segments();
        let optional = all.iter().filter(|segment| matches!(segment, Segment::Optional(_))).count();
        let forms = (0..=optional).rev().map(|kept| without_optional(all, kept));
        forms.flat_map(|segments| localised(rule, own, segments, default)).collect()
    };
    own_templates(of).iter().flat_map(forms).collect()
}

/// Where several locales have the same text and no `{locale}` in it, it is one template.
fn own_templates(of: &Rule) -> Vec<Own<'_>> {
    let mut all: Vec<Own<'_>> = Vec::new();
    let mut known: FxHashMap<&str, usize> = FxHashMap::default();
    for (at, (locale, template)) in of.templates().enumerate() {
        let locales = locale.cloned().into_iter();
        if template.segments().iter().any(Segment::is_locale) {
            all.push(Own { at, template, locales: locales.collect() });
        } else if let Some(known) = known.get(template.as_str()) {
            all[*known].locales.extend(locales);
        } else {
            known.insert(template.as_str(), all.len());
            all.push(Own { at, template, locales: locales.collect() });
        }
    }
    all
}

/// The segments with the first `kept` optional ones as plain ones, and without the others.
fn without_optional(all: &[Segment], kept: usize) -> Vec<Segment> {
    let mut left = kept;
    let keep = |segment: &Segment| match segment {
        Segment::Optional(placeholder) => {
            left = left.checked_sub(1)?;
            let [prefix, suffix] = [String::new(), String::new()];
            Some(Segment::Placeholder { prefix, placeholder: placeholder.clone(), suffix })
        }
        segment => Some(segment.clone()),
    };
    all.iter().filter_map(keep).collect()
}

fn localised(
    rule: usize,
    own: &Own<'_>,
    segments: Vec<Segment>,
    default: Option<&Locale>,
) -> Vec<Pattern> {
    let at = segments.iter().position(Segment::is_locale);
    let pattern = |segments, locales, accepts| Pattern {
        rule,
        template: own.at,
        segments,
        locales,
        accepts,
        bare_at: None,
    };
    let bare = |segments: &[Segment], locale: &Locale| {
        let rest = segments.iter().filter(|segment| !segment.is_locale()).cloned().collect();
        Pattern { bare_at: at, ..pattern(rest, vec![locale.clone()], Accepts::All) }
    };
    // A template with `{locale}` is for one locale or for all.
    match (at, own.locales.first(), default) {
        (None, ..) => vec![pattern(segments, own.locales.clone(), Accepts::All)],
        (Some(_), Some(own), Some(default)) if own == default => vec![bare(&segments, own)],
        (Some(_), Some(own), _) => {
            vec![pattern(segments, vec![own.clone()], Accepts::Only(own.clone()))]
        }
        (Some(_), None, Some(default)) => {
            let bare = bare(&segments, default);
            vec![pattern(segments, Vec::new(), Accepts::AllBut(default.clone())), bare]
        }
        (Some(_), None, None) => vec![pattern(segments, Vec::new(), Accepts::All)],
    }
}

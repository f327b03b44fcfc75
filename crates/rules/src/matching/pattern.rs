//! Path patterns: a template has one for each combination of segments that a path can omit.

#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use crate::constraint::Constraint;
use crate::locale::{Locale, LocalePrefix, Locales, SiteLocale};
use crate::rule::Rule;
use crate::template::{DatePart, Segment, Source, Template};

/// A template with its optional segments and `{locale}` either present or omitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// The position of its rule in the settings.
    pub(crate) rule: usize,
    /// The position of its template among those of the rule.
    pub(crate) template: usize,
    /// Its segments, without the omitted ones.
    pub(crate) segments: Vec<Segment>,
    /// The locales of its paths when it has no `{locale}`: empty for all of the site's, several
    /// where these have the same template.
    pub(crate) locales: Vec<Locale>,
    /// Which locales `{locale}` matches.
    pub(crate) accepts: AcceptedLocales,
    /// The position at which `{locale}` was omitted. The segment there must not be that of a locale
    /// of the site, else `/de` would be both a German page and an English document named `de`.
    pub(crate) locale_omitted_at: Option<usize>,
}

/// Which of the site's locales `{locale}` matches, by their segments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AcceptedLocales {
    All,
    Only(Box<str>),
    AllBut(Box<str>),
}

impl AcceptedLocales {
    pub(crate) fn accepts(&self, segment: &str, locales: &Locales) -> bool {
        match self {
            Self::All => locales.of_segment(segment).is_some(),
            Self::Only(own) => **own == *segment,
            Self::AllBut(other) => **other != *segment && locales.of_segment(segment).is_some(),
        }
    }
}

/// All conditions of a pattern on the value of one placeholder.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct ValueConditions<'p> {
    /// For `{locale}`.
    pub(crate) accepts: Option<&'p AcceptedLocales>,
    pub(crate) date: Option<DatePart>,
    pub(crate) constraint: Option<&'p Constraint>,
    /// Whether the segment must not be that of a locale of the site.
    pub(crate) not_a_locale: bool,
}

impl Pattern {
    /// The conditions on the value in the segment at this position.
    pub(crate) fn value_conditions(&self, at: usize) -> ValueConditions<'_> {
        let segment = &self.segments[at];
        let placeholder = segment.placeholder();
        let date = match placeholder.map(|placeholder| &placeholder.source) {
            Some(Source::Date(_, part)) => Some(*part),
            _ => None,
        };
        ValueConditions {
            accepts: segment.is_locale().then_some(&self.accepts),
            date,
            constraint: placeholder.and_then(|placeholder| placeholder.constraint.as_ref()),
            not_a_locale: self.locale_omitted_at == Some(at),
        }
    }
}

impl ValueConditions<'_> {
    /// No condition: every value fits.
    pub(crate) fn is_empty(&self) -> bool {
        !self.not_a_locale
            && self.accepts.is_none()
            && self.date.is_none()
            && self.constraint.is_none()
    }
}

/// A template and its locales; none where it is for all of them.
struct LocalTemplate<'r> {
    at: usize,
    template: &'r Template,
    locales: Vec<Locale>,
}

/// All patterns of a rule's templates. Optional segments are omitted from the right.
pub(crate) fn patterns(
    rule: usize,
    of: &Rule,
    locales: &Locales,
    prefix: LocalePrefix,
) -> Vec<Pattern> {
    let of_template = |own: &LocalTemplate<'_>| -> Vec<Pattern> {
        let all = own.template.segments();
        let optional = all.iter().filter(|segment| matches!(segment, Segment::Optional(_))).count();
        let variants = (0..=optional).rev().map(|kept| without_optional(all, kept));
        variants.flat_map(|segments| localized(rule, own, segments, locales, prefix)).collect()
    };
    local_templates(of).iter().flat_map(of_template).collect()
}

/// The templates of a rule. Locales with the same text and no `{locale}` in it share one.
fn local_templates(of: &Rule) -> Vec<LocalTemplate<'_>> {
    let mut all: Vec<LocalTemplate<'_>> = Vec::new();
    let mut known: FxHashMap<&str, usize> = FxHashMap::default();
    for (at, (locale, template)) in of.templates().enumerate() {
        let locales = locale.cloned().into_iter();
        if template.segments().iter().any(Segment::is_locale) {
            all.push(LocalTemplate { at, template, locales: locales.collect() });
        } else if let Some(known) = known.get(template.as_str()) {
            all[*known].locales.extend(locales);
        } else {
            known.insert(template.as_str(), all.len());
            all.push(LocalTemplate { at, template, locales: locales.collect() });
        }
    }
    all
}

/// The segments with the first `kept` optional ones as plain placeholders, without the others.
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

fn localized(
    rule: usize,
    own: &LocalTemplate<'_>,
    segments: Vec<Segment>,
    locales: &Locales,
    prefix: LocalePrefix,
) -> Vec<Pattern> {
    // The locale without a `{locale}` segment.
    let default = (prefix == LocalePrefix::ExceptDefault).then(|| locales.default_locale().code());
    let segment = |own: &Locale| -> Box<str> {
        locales.get(own.as_str()).map_or(own.as_str(), SiteLocale::segment).into()
    };
    let at = segments.iter().position(Segment::is_locale);
    let pattern = |segments, locales, accepts| Pattern {
        rule,
        template: own.at,
        segments,
        locales,
        accepts,
        locale_omitted_at: None,
    };
    let without_locale = |segments: &[Segment], locale: &Locale| {
        let rest = segments.iter().filter(|segment| !segment.is_locale()).cloned().collect();
        Pattern {
            locale_omitted_at: at,
            ..pattern(rest, vec![locale.clone()], AcceptedLocales::All)
        }
    };
    // A template with `{locale}` is for one locale or for all.
    match (at, own.locales.first(), default) {
        (None, ..) => vec![pattern(segments, own.locales.clone(), AcceptedLocales::All)],
        (Some(_), Some(own), Some(default)) if own == default => {
            vec![without_locale(&segments, own)]
        }
        (Some(_), Some(own), _) => {
            vec![pattern(segments, vec![own.clone()], AcceptedLocales::Only(segment(own)))]
        }
        (Some(_), None, Some(default)) => {
            let omitted = without_locale(&segments, default);
            vec![pattern(segments, Vec::new(), AcceptedLocales::AllBut(segment(default))), omitted]
        }
        (Some(_), None, None) => vec![pattern(segments, Vec::new(), AcceptedLocales::All)],
    }
}

//! What a rule's templates come to for matching: one pattern for each form that a path can have.

use super::locale::{Locale, Locales};
use super::template::{Segment, Template};

/// Whether the site's default locale shows in its paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LocalePrefix {
    /// Every locale does.
    #[default]
    Always,
    /// All but the default, which has no `{locale}` segment.
    ExceptDefault,
}

/// One form that the paths of a rule can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The position of its rule in the settings.
    pub(super) rule: usize,
    /// The template as written.
    pub(super) template: Template,
    /// Its segments, without those that this form leaves out.
    pub(super) segments: Vec<Segment>,
    /// The locale that a path of this form has when no `{locale}` says it.
    pub(super) locale: Option<Locale>,
    /// What `{locale}` takes.
    pub(super) accepts: Accepts,
    /// Where `{locale}` was left out: what stands there now may not look like a locale, else
    /// `/de` would be a German page and an English document named `de` at once.
    pub(super) bare_at: Option<usize>,
}

/// Which of the site's locales `{locale}` takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Accepts {
    All,
    Only(Locale),
    AllBut(Locale),
}

impl Accepts {
    pub(super) fn takes(&self, code: &str, locales: &Locales) -> bool {
        match self {
            Self::All => locales.get(code).is_some(),
            Self::Only(locale) => locale.as_str() == code,
            Self::AllBut(locale) => locale.as_str() != code && locales.get(code).is_some(),
        }
    }
}

/// All forms of one template: optional segments are left out from the right, and under
/// [`LocalePrefix::ExceptDefault`] the default locale has no `{locale}` segment.
pub(super) fn patterns(
    rule: usize,
    locale: Option<&Locale>,
    template: &Template,
    default: Option<&Locale>,
) -> Vec<Pattern> {
    let all = template.segments();
    let optional = all.iter().filter(|segment| matches!(segment, Segment::Optional(_))).count();
    let forms = (0..=optional).rev().map(|kept| without_optional(all, kept));
    forms.flat_map(|segments| localised(rule, locale, template, &segments, default)).collect()
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
    own: Option<&Locale>,
    template: &Template,
    segments: &[Segment],
    default: Option<&Locale>,
) -> Vec<Pattern> {
    let pattern = |locale: Option<&Locale>, accepts| {
        let (template, segments, locale) = (template.clone(), segments.to_vec(), locale.cloned());
        Pattern { rule, template, segments, locale, accepts, bare_at: None }
    };
    let at = segments.iter().position(Segment::is_locale);
    let bare = |locale| {
        let mut bare = pattern(Some(locale), Accepts::All);
        bare.segments.retain(|segment| !segment.is_locale());
        Pattern { bare_at: at, ..bare }
    };
    match (own, default) {
        (Some(own), Some(default)) if at.is_some() && own == default => vec![bare(own)],
        (Some(own), _) => vec![pattern(Some(own), Accepts::Only(own.clone()))],
        (None, Some(default)) if at.is_some() => {
            vec![pattern(None, Accepts::AllBut(default.clone())), bare(default)]
        }
        (None, _) => vec![pattern(None, Accepts::All)],
    }
}

//! A template for all locales, or a table with one for each of some.

use config::{Value, ValueKind};

use crate::config::section::{Section, table};
use crate::config::value::{Read, parsed};
use frontend_map_platform::spelling::did_you_mean;
use frontend_map_rules::{Locale, Locales, Template, Templates};

/// The texts as they are written; those of single locales are read by `parse`, each for itself.
pub(in crate::config) enum ByLocale {
    One(String),
    Each(Vec<(String, Value)>),
}

/// Reads the texts; `what` is each of them, in problems.
pub(in crate::config) fn read(what: &'static str) -> impl Read<ByLocale> {
    move |value: &Value| {
        let read = match &value.kind {
            ValueKind::String(text) => Ok(ByLocale::One(text.clone())),
            _ => table(value).map(ByLocale::Each),
        };
        read.map_err(|_| format!("must be {what} in quotes, or a table with one for each locale"))
    }
}

impl ByLocale {
    /// The templates of a section's `key`; problems of a single one are named `place`.
    pub(in crate::config) fn parse<E: std::fmt::Display>(
        self,
        section: &Section<'_>,
        key: &str,
        place: &str,
        locales: Option<&Locales>,
        parse: impl Fn(&str) -> Result<Template, E>,
    ) -> Option<Templates> {
        let each = match self {
            Self::One(text) => {
                let parsed = parse(&text);
                let problem = |error| section.problem_of(key, place, error);
                return parsed.map_err(problem).ok().map(Templates::One);
            }
            Self::Each(each) => each,
        };
        if each.is_empty() {
            let what = key;
            section.problem("", format_args!("`{key}` needs a {what} for at least one locale"));
            return None;
        }
        let mut read = Vec::new();
        for (code, value) in each {
            let place = section.named(&format!("{key}.{}", code.escape_debug()));
            let problem = |what: String| section.reader.add(value.origin(), &place, what);
            let locale = Locale::parse(&code).map_err(|error| problem(error.to_string())).ok();
            if let Some(all) = locales.filter(|all| locale.is_some() && all.get(&code).is_none()) {
                let suggestion = did_you_mean(&code, all.codes().iter().map(Locale::as_str));
                problem(format!("the site has no locale `{code}`{suggestion}"));
            }
            let template = parsed(&parse)(&value).map_err(problem).ok();
            read.push(locale.zip(template));
        }
        read.into_iter().collect::<Option<_>>().map(Templates::PerLocale)
    }
}

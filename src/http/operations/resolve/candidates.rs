//! Which documents could have a path: the placeholders of a match as conditions on fields.

use crate::content::Selection;
use crate::rules::{Condition, Literal, Match, Placeholder, Source};

/// The documents that a rule could build a path from.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Candidates {
    /// All of these hold for them, and the conditions of the rule.
    pub(super) conditions: Vec<Condition>,
    /// They have this id, if the path has it.
    pub(super) selection: Option<Selection>,
}

impl Candidates {
    /// The documents whose fields have the values that a match captures. A part of a date is no
    /// condition: their own paths are compared anyway.
    pub(super) fn of(found: &Match<'_>) -> Self {
        let mut candidates = Self { conditions: found.rule.conditions.clone(), selection: None };
        for (name, value) in found.params.iter() {
            let mut placeholders = found.template.placeholders();
            if let Some(placeholder) = placeholders.find(|own| own.name == name) {
                candidates.add(placeholder, value);
            }
        }
        candidates
    }

    /// For a query to the CMS.
    pub(super) fn query(&self) -> (Vec<Condition>, Option<Selection>) {
        (self.conditions.clone(), self.selection.clone())
    }

    fn add(&mut self, placeholder: &Placeholder, value: &str) {
        match &placeholder.source {
            Source::Locale | Source::Date(..) => {}
            Source::DocumentId => {
                self.selection = Some(Selection { relation: None, ids: vec![value.to_owned()] });
            }
            Source::Field(field) => {
                self.conditions.push(Condition { field: field.clone(), equals: text(value) });
            }
            Source::Ancestors(steps) => {
                let own_first = value.rsplit('/').zip(steps);
                self.conditions.extend(own_first.map(|(value, step)| Condition {
                    field: step.value.clone(),
                    equals: text(value),
                }));
            }
        }
    }
}

fn text(value: &str) -> Literal {
    Literal::Text(value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{
        ContentTypeUid, FieldPath, Locale, LocalePrefix, Locales, Param, Pathname, Rule, RuleSet,
        Template,
    };

    fn field(path: &str) -> FieldPath {
        FieldPath::parse(path).unwrap()
    }

    fn candidates(template: &str, pathname: &str, param: Option<(&str, Source)>) -> Candidates {
        let uid = ContentTypeUid::parse("api::a.a").unwrap();
        let mut rule = Rule::new(uid, Template::parse(template).unwrap());
        if let Some((name, source)) = param {
            let param = Param { source: Some(source), constraint: None };
            assert!(rule.set_param(name, &param));
        }
        rule.conditions = vec![Condition { field: field("section"), equals: text("news") }];
        let locales = Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
        let rules = RuleSet::new(locales, LocalePrefix::Always, vec![rule]);
        Candidates::of(&rules.find(&Pathname::parse(pathname)).unwrap())
    }

    #[test]
    fn candidates_have_the_values_of_the_path_and_the_conditions_of_the_rule() {
        let ancestors = Source::ancestors(&field("slug"), &field("parent"), 5);
        for (template, param, pathname, expected) in [
            ("/{locale}/{slug}.html", None, "/en/k%C3%B6ln.html", vec![("slug", "köln")]),
            (
                "/{category.slug}/{slug?}",
                None,
                "/news/x",
                vec![("category.slug", "news"), ("slug", "x")],
            ),
            ("/{category.slug}/{slug?}", None, "/news", vec![("category.slug", "news")]),
            ("/{publishedAt:year}/{slug}", None, "/2024/x", vec![("slug", "x")]),
            (
                "/{*path}",
                Some(("path", ancestors)),
                "/a/b/c",
                vec![("slug", "c"), ("parent.slug", "b"), ("parent.parent.slug", "a")],
            ),
        ] {
            let found = candidates(template, pathname, param);
            let conditions: Vec<(String, &str)> = found
                .conditions
                .iter()
                .map(|condition| (condition.field.to_string(), condition.equals.as_str()))
                .collect();
            let expected = std::iter::once(("section", "news")).chain(expected);
            let expected: Vec<_> =
                expected.map(|(field, value)| (field.to_owned(), value)).collect();
            assert_eq!(conditions, expected, "{template}");
            assert_eq!(found.selection, None);
        }
        let by_id = candidates("/{documentId}", "/d1", None);
        assert_eq!(by_id.selection.unwrap().ids, ["d1"]);
    }
}

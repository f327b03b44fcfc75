//! Which documents could have a path: the placeholders of a match as conditions on fields.

use frontend_map_cms::Selection;
use frontend_map_rules::{Condition, Literal, Match, Placeholder, Rule, Source};

/// The documents that a rule could build a path from.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Candidates {
    /// All conditions of one of these lists hold for them. Without a list, all documents do.
    pub(super) alternatives: Vec<Vec<Condition>>,
    /// They have this id, if the path has it.
    pub(super) selection: Option<Selection>,
}

impl Candidates {
    /// The documents whose fields have the values that a match captures. A part of a date is no
    /// condition: the paths that the rules build from them are compared anyway.
    pub(super) fn of(found: &Match<'_>) -> Self {
        let (mut conditions, mut selection) = (found.rule.conditions.clone(), None);
        for (name, value) in found.params.iter() {
            let mut placeholders = found.template.placeholders();
            if let Some(placeholder) = placeholders.find(|own| own.name == name) {
                add(placeholder, value, &mut conditions, &mut selection);
            }
        }
        let alternatives = if conditions.is_empty() { Vec::new() } else { vec![conditions] };
        Self { alternatives, selection }
    }

    /// The documents with this value in the path field of a rule, with and without a slash in front
    /// (D41).
    pub(super) fn with_own_path(rule: &Rule, value: &str) -> Self {
        let alternatives = rule.path_field.iter().flat_map(|field| {
            [value.to_owned(), format!("/{value}")].map(|value| {
                let own = Condition { field: field.clone(), equals: Literal::Text(value) };
                rule.conditions.iter().cloned().chain([own]).collect()
            })
        });
        Self { alternatives: alternatives.collect(), selection: None }
    }

    /// For a query to the CMS.
    pub(super) fn query(&self) -> (Vec<Vec<Condition>>, Option<Selection>) {
        (self.alternatives.clone(), self.selection.clone())
    }
}

/// Adds the condition that a placeholder has this value.
fn add(
    placeholder: &Placeholder,
    value: &str,
    conditions: &mut Vec<Condition>,
    selection: &mut Option<Selection>,
) {
    match &placeholder.source {
        Source::Locale | Source::Date(..) => {}
        Source::DocumentId => {
            *selection = Some(Selection::Documents(vec![value.to_owned()]));
        }
        Source::Field(field) => {
            conditions.push(Condition { field: field.clone(), equals: text(value) });
        }
        Source::Ancestors(steps) => {
            let own_first = value.rsplit('/').zip(steps);
            conditions.extend(
                own_first.map(|(value, step)| Condition {
                    field: step.value.clone(),
                    equals: text(value),
                }),
            );
        }
    }
}

fn text(value: &str) -> Literal {
    Literal::Text(value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend_map_rules::{
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
                .alternatives
                .iter()
                .flatten()
                .map(|condition| (condition.field.to_string(), condition.equals.as_str()))
                .collect();
            let expected = std::iter::once(("section", "news")).chain(expected);
            let expected: Vec<_> =
                expected.map(|(field, value)| (field.to_owned(), value)).collect();
            assert_eq!(conditions, expected, "{template}");
            assert_eq!(found.selection, None);
        }
        let by_id = candidates("/{documentId}", "/d1", None);
        assert_eq!(by_id.selection.unwrap(), Selection::Documents(vec!["d1".to_owned()]));
    }

    #[test]
    fn candidates_with_an_own_path_have_it_with_or_without_a_slash_in_front() {
        let mut rule = Rule::new(
            ContentTypeUid::parse("api::a.a").unwrap(),
            Template::parse("/{locale}/{slug}").unwrap(),
        );
        assert_eq!(Candidates::with_own_path(&rule, "x"), Candidates::default());
        rule.path_field = Some(field("customPath"));
        rule.conditions = vec![Condition { field: field("section"), equals: text("news") }];
        let found = Candidates::with_own_path(&rule, "a/b");
        let shown = found.alternatives.iter().map(|conditions| {
            let pairs =
                conditions.iter().map(|own| format!("{}={}", own.field, own.equals.as_str()));
            pairs.collect::<Vec<_>>().join(" ")
        });
        let expected = ["section=news customPath=a/b", "section=news customPath=/a/b"];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }
}

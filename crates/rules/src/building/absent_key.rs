//! Which absent key decides about the path that a rule builds (D32).

use super::placeholder_value::TemplateValues;
use crate::document::FieldValue;
use crate::locale::Locale;
use crate::rule::{AbsentKey, Rule};
use crate::template::FieldPath;

impl Rule {
    /// An absent key that decides whether the rule builds a URL for these values, or which one.
    /// `None`: that is known.
    pub fn absent_key(&self, locale: &Locale, values: &impl TemplateValues) -> Option<AbsentKey> {
        let mut absent = None;
        for condition in &self.conditions {
            let value = values.field(&condition.field);
            match condition.outcome(value) {
                // The rule is not used, whatever the other values are.
                Some(false) => return None,
                Some(true) => {}
                None => absent = absent.or_else(|| AbsentKey::of(&condition.field, value)),
            }
        }
        absent.or_else(|| {
            let template = self.template(locale)?;
            let key_of = |field: &FieldPath| match values.field(field) {
                // A list cannot be part of a path, whether its values are known or not.
                FieldValue::List(_) => None,
                value => AbsentKey::of(field, value),
            };
            if let Some(key) = self.path_field.as_ref().and_then(key_of) {
                return Some(key);
            }
            if let Some(redirect) = &self.redirect {
                return redirect.fields().find_map(key_of);
            }
            if self.has_own_path(values) {
                return None;
            }
            let mut fields =
                template.placeholders().flat_map(|placeholder| placeholder.source.fields());
            fields.find_map(key_of)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{Holds, field, locale, rule, text};
    use crate::{Condition, Literal};

    fn condition(path: &str, equals: &str) -> Condition {
        Condition { field: field(path), equals: Literal::Text(equals.to_owned()) }
    }

    #[test]
    fn absent_key_is_one_that_decides_about_the_url() {
        let absent = || FieldValue::Absent(0);
        let list = |values: &[FieldValue<'static>]| FieldValue::List(values.into());
        let mut rule = rule(0, "/{locale}/{category.slug}/{slug?}");
        for (conditions, fields, expected) in [
            (&[][..], &[("slug", text("a")), ("category.slug", text("c"))][..], None),
            (&[], &[("slug", text("a")), ("category.slug", absent())], Some("category")),
            (&[], &[("slug", absent()), ("category.slug", text("c"))], Some("slug")),
            (&[], &[("other", absent())], None),
            (&[("kind", "a")], &[("kind", absent())], Some("kind")),
            (&[("kind", "a")], &[("kind", text("b")), ("slug", absent())], None),
            (&[("kind", "a")], &[("kind", text("a")), ("slug", absent())], Some("slug")),
            (&[("kind", "a"), ("on", "b")], &[("kind", absent()), ("on", text("c"))], None),
            (&[("tags.slug", "a")], &[("tags.slug", list(&[absent(), text("a")]))], None),
            (&[("tags.slug", "a")], &[("tags.slug", list(&[absent(), text("b")]))], Some("tags")),
            (&[], &[("category.slug", list(&[absent()]))], None),
        ] {
            rule.conditions = conditions.iter().map(|(path, is)| condition(path, is)).collect();
            let found = rule.absent_key(&locale("en"), &Holds::new("en", fields));
            let found = found.map(|key| key.to_string());
            assert_eq!(found.as_deref(), expected, "{conditions:?} {fields:?}");
        }
    }

    #[test]
    fn absent_path_field_decides_and_a_value_in_it_makes_the_template_immaterial() {
        let absent = || FieldValue::Absent(0);
        let mut rule = rule(0, "/{locale}/{slug}");
        rule.path_field = Some(field("customPath"));
        for (fields, expected) in [
            (&[("customPath", absent()), ("slug", text("a"))][..], Some("customPath")),
            (&[("customPath", text("x")), ("slug", absent())], None),
            (&[("customPath", text(" ")), ("slug", absent())], Some("slug")),
            (&[("customPath", FieldValue::Missing), ("slug", absent())], Some("slug")),
            (&[("customPath", FieldValue::List([absent()].into())), ("slug", absent())], None),
        ] {
            let found = rule.absent_key(&locale("en"), &Holds::new("en", fields));
            let found = found.map(|key| key.to_string());
            assert_eq!(found.as_deref(), expected, "{fields:?}");
        }
    }
}

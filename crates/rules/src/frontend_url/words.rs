//! Why a document has no URL, in words.

use crate::{Document, Fault, FieldPath, FieldValue, RedirectFault, Template, is_document_id};

/// What null means in place of a relation or component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullLink {
    /// It is empty.
    Empty,
    /// It is a relation, which is empty or leads to a document that is not published in the locale of
    /// the version: the CMS sends null for both.
    Relation,
    /// One of both: it is not known whether it is a relation.
    Unknown,
}

/// A reason of D13 in words, as the rest of a sentence about a document; `None`: the reason has none.
///
/// `document`: the version without a URL, if it is known; it has the ids of related documents. `null`
/// says what null means at a path that leads on to a field of the template.
pub fn in_words(
    reason: &str,
    template: &Template,
    document: Option<&Document<'_>>,
    null: impl Fn(&FieldPath) -> NullLink,
) -> Option<String> {
    let text = match reason {
        "locale_unknown" => "the site does not have its locale",
        "locale_without_template" => "the rule has no template for its locale",
        "conditions_not_met" => "the `where` of no rule holds",
        "not_published" => "it is not published",
        "url_too_long" => "its URL would have 2,048 characters or more",
        "path_taken_by_page" => "a page outside the CMS has its path",
        _ => match RedirectFault::ALL.iter().find(|fault| fault.to_string() == reason) {
            Some(fault) => fault.in_words(),
            None => return of_value(reason, template, document, null),
        },
    };
    Some(text.to_owned())
}

fn of_value(
    reason: &str,
    template: &Template,
    document: Option<&Document<'_>>,
    null: impl Fn(&FieldPath) -> NullLink,
) -> Option<String> {
    let (placeholder, fault) = Fault::ALL.iter().copied().find_map(|fault| {
        let placeholder = reason.strip_suffix(fault.as_str())?.strip_suffix('_')?;
        Some((placeholder, fault))
    })?;
    let field = placeholder.split(':').next().unwrap_or(placeholder);
    let Some(path) = FieldPath::parse(field) else {
        return Some(format!("`{field}` {}", fault_in_words(fault)));
    };
    let place = place(&path, document);
    let mut fields = template.placeholders().flat_map(|placeholder| placeholder.source.fields());
    let leads_on = fault == Fault::Missing && fields.any(|field| field.is_behind(&path));
    Some(match (fault, leads_on.then(|| null(&path))) {
        (Fault::AncestorCycle | Fault::TooManyAncestors, _) => fault_in_words(fault).to_owned(),
        (_, Some(NullLink::Relation)) => {
            format!("{place} is empty, or the document behind it is not published in this locale")
        }
        (_, Some(NullLink::Unknown)) => format!("the CMS sends no value for {place}"),
        (_, Some(NullLink::Empty) | None) => format!("{place} {}", fault_in_words(fault)),
    })
}

/// Where a field is: in the document, or in a related one whose id is known.
fn place(path: &FieldPath, document: Option<&Document<'_>>) -> String {
    let related = path.relations().last().and_then(|relation| {
        match document?.field(&relation.document_id()) {
            FieldValue::Text(id) if is_document_id(id) => Some((relation, id.clone())),
            _ => None,
        }
    });
    match (related, path.segments().last()) {
        (Some((relation, id)), Some(field)) => format!("`{field}` of document {id} (`{relation}`)"),
        _ => format!("`{path}`"),
    }
}

fn fault_in_words(fault: Fault) -> &'static str {
    match fault {
        Fault::Missing | Fault::Empty => "is empty",
        Fault::NotString => "is neither text nor an integer",
        Fault::ControlChar => "contains a control character",
        Fault::BidiOrInvisible => {
            "contains an invisible character, or one that changes the direction of text"
        }
        Fault::BadCodepoint => "contains a broken character",
        Fault::Backslash => "contains a backslash",
        Fault::HasSlash => "contains a slash",
        Fault::EmptySegment => "begins with a slash, or has two slashes in a row",
        Fault::EndsWithSlash => "ends with a slash",
        Fault::DotSegment => "is or contains a segment of dots",
        Fault::UnsafeAfterDecoding => {
            "contains a percent sign with a code that is not safe in a URL"
        }
        Fault::NotAllowed => "has a value that the rule does not allow",
        Fault::NotADate => "is not a date",
        Fault::AncestorCycle => "the document is its own ancestor",
        Fault::TooManyAncestors => "the document has more ancestors than `depth`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DocumentLocale;

    fn field(path: &str) -> FieldPath {
        FieldPath::parse(path).unwrap()
    }

    fn document(ids: &[(&str, &'static str)]) -> Document<'static> {
        let values = ids.iter().map(|(_, id)| FieldValue::Text((*id).into())).collect();
        let fields = ids.iter().map(|(path, _)| field(path)).collect();
        let (id, locale) = ("a".into(), DocumentLocale::None);
        Document { id, locale, unpublished: false, fields, values }
    }

    #[test]
    fn reason_names_the_broken_link_and_the_document_that_has_it() {
        use NullLink::{Empty, Relation, Unknown};
        let template = Template::parse("/{category.department.slug}/{seo.slug}/{slug}").unwrap();
        let both = [("category.documentId", "c7"), ("category.department.documentId", "d3")];
        let (none, one, both) = (document(&[]), document(&both[..1]), document(&both));
        let bad_id = document(&[("category.documentId", "a b")]);
        for (reason, document, null, expected) in [
            ("category_missing", &none, Empty, "`category` is empty"),
            (
                "category_missing",
                &none,
                Relation,
                "`category` is empty, or the document behind it is not published in this locale",
            ),
            ("category_missing", &none, Unknown, "the CMS sends no value for `category`"),
            ("seo_missing", &none, Unknown, "the CMS sends no value for `seo`"),
            (
                "category.department_missing",
                &one,
                Empty,
                "`department` of document c7 (`category`) is empty",
            ),
            (
                "category.department_missing",
                &one,
                Relation,
                "`department` of document c7 (`category`) is empty, or the document behind it is \
                 not published in this locale",
            ),
            ("category.department_missing", &bad_id, Empty, "`category.department` is empty"),
            (
                "category.department.slug_missing",
                &both,
                Relation,
                "`slug` of document d3 (`category.department`) is empty",
            ),
            (
                "category.department.slug_ends_with_slash",
                &both,
                Relation,
                "`slug` of document d3 (`category.department`) ends with a slash",
            ),
            ("seo.slug_missing", &both, Unknown, "`seo.slug` is empty"),
            ("slug_missing", &none, Unknown, "`slug` is empty"),
            ("publishedAt:year_not_a_date", &none, Unknown, "`publishedAt` is not a date"),
            ("slug_has_slash", &none, Unknown, "`slug` contains a slash"),
            ("path_ancestor_cycle", &none, Unknown, "the document is its own ancestor"),
            ("url_too_long", &none, Unknown, "its URL would have 2,048 characters or more"),
        ] {
            let found = in_words(reason, &template, Some(document), |_| null);
            assert_eq!(found.as_deref(), Some(expected), "{reason} {null:?}");
        }
        assert_eq!(in_words("no_version", &template, None, |_| Empty), None);
    }
}

//! The query strings of the requests: they select the fields that the rules need, and no others.

use std::fmt::Write;

use crate::{ContentQuery, Selection, Status, Versions};
use frontend_map_rules::{Condition, FieldPath, Locale, encode};

/// With more alternatives, or a longer text of filters, all documents are requested: Strapi refuses
/// a request whose head has more than 16 KiB.
const MAX_ALTERNATIVES: usize = 20;
const MAX_FILTER_BYTES: usize = 2 << 10;
/// The values of a path, of at most 2 KiB, take three times that when they are encoded.
const MAX_VERSIONS_FILTER_BYTES: usize = 10 << 10;

/// The locale to request. `None`: the type is not localized, and refuses even `fields=locale`.
type RequestedLocale<'a> = Option<&'a Locale>;

/// Which page of a list to request.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageRequest<'a> {
    /// The key after which the page starts; `None`: the first page.
    pub(super) after: Option<&'a str>,
    /// The number of rows. The CMS may return fewer; the page size that it echoes decides.
    pub(super) size: usize,
    /// Whether to request the total as well, for which the CMS counts all rows behind `after`.
    pub(super) with_total: bool,
}

/// One page of published documents, in the order of their keys.
pub(super) fn page(
    query: &ContentQuery,
    locale: RequestedLocale<'_>,
    page: PageRequest<'_>,
) -> String {
    let mut text = list(page.size, page.with_total);
    if let Some(after) = page.after {
        push(&mut text, "filters[documentId][$gt]", after);
    }
    push_filters(&mut text, query);
    push_fields(&mut text, query, locale);
    text
}

/// The query of the list from its start, for its total alone.
pub(super) fn total(query: &ContentQuery, locale: RequestedLocale<'_>) -> String {
    one_row(query, locale, &[], true)
}

/// The first row of the same list, to see whether the CMS responds.
pub(super) fn first_row(query: &ContentQuery, locale: RequestedLocale<'_>) -> String {
    one_row(query, locale, &[], false)
}

/// One of the documents with these ids, at most [`Selection::MAX_IDS`], if any of them is in the
/// list.
pub(super) fn any_of(query: &ContentQuery, locale: RequestedLocale<'_>, ids: &[String]) -> String {
    one_row(query, locale, ids, false)
}

fn one_row(
    query: &ContentQuery,
    locale: RequestedLocale<'_>,
    ids: &[String],
    with_total: bool,
) -> String {
    let mut text = list(1, with_total);
    for (at, id) in ids.iter().enumerate() {
        push(&mut text, &format!("filters[documentId][$in][{at}]"), id);
    }
    push_filters(&mut text, query);
    push(&mut text, "fields[0]", "documentId");
    push_locale(&mut text, locale);
    text
}

/// The first page of the query's selection in all locales at once.
pub(super) fn selection(query: &ContentQuery, is_localized: bool, size: usize) -> String {
    let mut text = list(size, true);
    push_filters(&mut text, query);
    if is_localized {
        push(&mut text, "locale", "*");
    }
    push_field_list(&mut text, query, is_localized);
    text
}

/// The first versions of the query's documents, drafts or published ones. Several locales are
/// requested as all; without one, the type is not localized.
pub(super) fn versions(query: &ContentQuery, locales: &[Locale], status: Status) -> String {
    let mut text = list_of(status, Versions::MAX, true);
    match &query.selection {
        Some(selection) => push_selection(&mut text, selection),
        None => push_conditions(&mut text, query, MAX_VERSIONS_FILTER_BYTES),
    }
    match locales {
        [] => {}
        [locale] => push(&mut text, "locale", locale.as_str()),
        _ => push(&mut text, "locale", "*"),
    }
    push_field_list(&mut text, query, !locales.is_empty());
    text
}

/// The documents of a content type of which one is requested.
#[derive(Clone, Copy, Debug)]
pub(super) enum SampleOf<'a> {
    /// All of the content type.
    Type,
    /// Those of the query.
    Query,
    /// Those with a document or component behind this relation or component.
    Related(&'a FieldPath),
}

/// The first of these documents, with all fields of the query.
pub(super) fn sample(
    query: &ContentQuery,
    locale: RequestedLocale<'_>,
    of: SampleOf<'_>,
) -> String {
    let mut text = list(1, false);
    match of {
        SampleOf::Type => {}
        SampleOf::Query => push_filters(&mut text, query),
        // A component has no `documentId`.
        SampleOf::Related(relation) => {
            push(&mut text, &format!("{}[id][$notNull]", filter(relation)), "true");
        }
    }
    push_fields(&mut text, query, locale);
    text
}

/// One version of one document.
pub(super) fn version(query: &ContentQuery, locale: RequestedLocale<'_>, status: Status) -> String {
    let mut text = format!("status={}", status.as_str());
    push_fields(&mut text, query, locale);
    text
}

/// `page` is always 1, because the walk goes by key; it makes Strapi echo the page size. Whether
/// Strapi counts by default is a setting of the Strapi project, so `withCount` is always sent.
fn list(size: usize, with_total: bool) -> String {
    list_of(Status::Published, size, with_total)
}

fn list_of(status: Status, size: usize, with_total: bool) -> String {
    let status = status.as_str();
    format!(
        "status={status}&sort=documentId:asc&pagination[page]=1&pagination[pageSize]={size}\
         &pagination[withCount]={with_total}"
    )
}

/// The locale, and the fields and relations of the projection.
fn push_fields(text: &mut String, query: &ContentQuery, locale: RequestedLocale<'_>) {
    push_locale(text, locale);
    push_field_list(text, query, locale.is_some());
}

fn push_field_list(text: &mut String, query: &ContentQuery, is_localized: bool) {
    let mut own = vec!["publishedAt"];
    own.extend(is_localized.then_some("locale"));
    let paths = query.projection.paths().iter().filter(|path| !is_locale(path));
    let paths: Vec<_> = paths.map(FieldPath::segments).collect();
    if query.projection.is_of_content() {
        return push_content(text, own, &paths);
    }
    push_level(text, "", own, &paths);
}

/// The longest path through a dynamic zone: with `populate=*` below it, Strapi sends the components of a
/// part, and no deeper ones.
pub(super) const MAX_IN_ZONE: usize = 3;

/// Fields with content. Strapi refuses `fields` of a dynamic zone, and it is not known which name is one,
/// so all fields below the first name are requested, unless a path is longer: no zone is on it then.
fn push_content<'a>(text: &mut String, own: Vec<&'a str>, paths: &[&'a [Box<str>]]) {
    let is_long =
        |name: &str| paths.iter().any(|path| *path[0] == *name && path.len() > MAX_IN_ZONE);
    let (in_zone, exact): (Vec<_>, Vec<_>) =
        paths.iter().copied().partition(|path| path.len() > 1 && !is_long(&path[0]));
    push_level(text, "", own, &exact);
    let mut names: Vec<&str> = in_zone.iter().map(|path| &*path[0]).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        push(text, &format!("populate[{}][populate]", encode(name)), "*");
    }
}

/// Whether a path is the document's own locale, which the parameter `locale` is for.
fn is_locale(path: &FieldPath) -> bool {
    matches!(path.segments(), [name] if **name == *"locale")
}

/// Restricts a list to the documents that a rule is for. Filters are an optimization: each document
/// is checked anyway.
fn push_filters(text: &mut String, query: &ContentQuery) {
    if let Some(selection) = &query.selection {
        return push_selection(text, selection);
    }
    push_conditions(text, query, MAX_FILTER_BYTES);
}

/// The filters for the alternatives of a query, unless they are longer than this.
fn push_conditions(text: &mut String, query: &ContentQuery, max_bytes: usize) {
    // `filters[locale]` would win over the parameter, and select other versions.
    let is_filter = |condition: &&Condition| !is_locale(&condition.field);
    let filters_of =
        |conditions: &Vec<Condition>| conditions.iter().filter(is_filter).cloned().collect();
    let alternatives: Vec<Vec<Condition>> = query.alternatives.iter().map(filters_of).collect();
    if alternatives.len() > MAX_ALTERNATIVES || alternatives.iter().any(Vec::is_empty) {
        return;
    }
    let mut filters = String::new();
    for (at, conditions) in alternatives.iter().enumerate() {
        let prefix = match alternatives.len() {
            1 => "filters".to_owned(),
            _ => format!("filters[$or][{at}]"),
        };
        let is_separate = share_a_relation(conditions);
        for (nth, Condition { field, equals }) in conditions.iter().enumerate() {
            let prefix =
                if is_separate { format!("{prefix}[$and][{nth}]") } else { prefix.clone() };
            let segments = field.segments().iter();
            let name =
                segments.fold(prefix, |name, segment| format!("{name}[{}]", encode(segment)));
            push(&mut filters, &format!("{name}[$eq]"), equals.as_str());
        }
    }
    if !filters.is_empty() && filters.len() <= max_bytes {
        text.push('&');
        text.push_str(&filters);
    }
}

/// Whether two conditions lead through one relation. Strapi would look for one related document for
/// which both hold, but each of them may hold for another one.
fn share_a_relation(conditions: &[Condition]) -> bool {
    let relation = |condition: &Condition| match condition.field.segments() {
        [relation, _, ..] => Some(relation.clone()),
        _ => None,
    };
    let mut seen: Vec<Box<str>> = conditions.iter().filter_map(relation).collect();
    let count = seen.len();
    seen.sort();
    seen.dedup();
    seen.len() < count
}

fn push_selection(text: &mut String, selection: &Selection) {
    match selection {
        Selection::Documents(ids) => push_ids(text, "filters", ids),
        Selection::Dependents { relation, of } => push_ids(text, &filter(relation), of),
        Selection::Unrelated(relation) => {
            push(text, &format!("{}[documentId][$null]", filter(relation)), "true");
        }
    }
}

/// The key of filters on what is behind a relation.
fn filter(relation: &FieldPath) -> String {
    let segments = relation.segments().iter();
    segments.fold("filters".to_owned(), |key, one| format!("{key}[{}]", encode(one)))
}

fn push_ids(text: &mut String, name: &str, ids: &[String]) {
    match ids {
        [id] => push(text, &format!("{name}[documentId][$eq]"), id),
        ids => {
            for (at, id) in ids.iter().enumerate() {
                push(text, &format!("{name}[documentId][$in][{at}]"), id);
            }
        }
    }
}

fn push_locale(text: &mut String, locale: RequestedLocale<'_>) {
    if let Some(locale) = locale {
        push(text, "locale", locale.as_str());
    }
}

/// The fields of one level, then each relation with its own level. `prefix` is the key of the
/// level; empty: the document itself.
fn push_level<'a>(
    text: &mut String,
    prefix: &str,
    mut fields: Vec<&'a str>,
    paths: &[&'a [Box<str>]],
) {
    let mut relations: Vec<&str> = Vec::new();
    for path in paths {
        let (list, name) = match path {
            [name] => (&mut fields, &**name),
            [name, ..] => (&mut relations, &**name),
            [] => continue,
        };
        if !list.contains(&name) && name != "documentId" {
            list.push(name);
        }
    }
    // A relation or component that is only passed through needs one field: none would select all of
    // them. Only `id` is a field of both: a component has no `documentId`.
    let fields = if fields.is_empty() { &["id"] } else { fields.as_slice() };
    for (at, field) in fields.iter().enumerate() {
        push(text, &below(prefix, &format!("fields[{at}]")), field);
    }
    for relation in relations {
        let rest: Vec<_> = paths.iter().filter_map(|path| after(path, relation)).collect();
        let prefix = below(prefix, &format!("populate[{}]", encode(relation)));
        push_level(text, &prefix, Vec::new(), &rest);
    }
}

/// The rest of a path that leads through `relation`.
fn after<'p>(path: &'p [Box<str>], relation: &str) -> Option<&'p [Box<str>]> {
    path.split_first()
        .filter(|(first, rest)| ***first == *relation && !rest.is_empty())
        .map(|(_, rest)| rest)
}

/// `populate[a]` below nothing, `populate[a][populate][b]` for `populate[b]` below `populate[a]`.
fn below(prefix: &str, key: &str) -> String {
    match key.split_once('[') {
        Some((word, rest)) if !prefix.is_empty() => format!("{prefix}[{word}][{rest}"),
        _ => key.to_owned(),
    }
}

fn push(text: &mut String, name: &str, value: &str) {
    let separator = if text.is_empty() { "" } else { "&" };
    write!(text, "{separator}{name}={}", encode(value)).expect("a String takes any text");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Projection;
    use frontend_map_rules::{ContentTypeUid, Literal};

    fn query(paths: &[&str]) -> ContentQuery {
        let paths = paths.iter().map(|path| FieldPath::parse(path).unwrap()).collect();
        let uid = ContentTypeUid::parse("api::article.article").unwrap();
        ContentQuery::new(uid, Projection::new(paths))
    }

    fn en() -> Locale {
        Locale::parse("en").unwrap()
    }

    const FIRST: PageRequest<'_> = PageRequest { after: None, size: 100, with_total: true };

    #[test]
    fn page_of_content_requests_all_below_a_name_that_may_be_a_dynamic_zone() {
        let paths = ["body", "zone.text", "zone.button.url", "seo.url", "a.b.c.d", "a.url"];
        let fields = paths.iter().map(|path| FieldPath::parse(path).unwrap()).collect();
        let query = ContentQuery { projection: Projection::of_content(fields), ..query(&[]) };
        let text = page(&query, Some(&en()), FIRST);
        let (_, fields) = text.split_once("&locale=en&").unwrap();
        assert_eq!(
            fields,
            "fields[0]=publishedAt&fields[1]=locale&fields[2]=body&populate[a][fields][0]=url\
             &populate[a][populate][b][fields][0]=id\
             &populate[a][populate][b][populate][c][fields][0]=d\
             &populate[seo][populate]=%2A&populate[zone][populate]=%2A"
        );
    }

    #[test]
    fn page_starts_after_a_key_and_names_its_fields() {
        let later = PageRequest { after: Some("d1&x"), size: 250, with_total: false };
        assert_eq!(
            page(&query(&["slug"]), Some(&en()), later),
            "status=published&sort=documentId:asc&pagination[page]=1&pagination[pageSize]=250\
             &pagination[withCount]=false&filters[documentId][$gt]=d1%26x&locale=en\
             &fields[0]=publishedAt&fields[1]=locale&fields[2]=slug"
        );
        assert_eq!(
            page(&query(&["slug"]), None, FIRST),
            "status=published&sort=documentId:asc&pagination[page]=1&pagination[pageSize]=100\
             &pagination[withCount]=true&fields[0]=publishedAt&fields[1]=slug"
        );
    }

    #[test]
    fn version_populates_relations_with_the_needed_fields_alone() {
        let paths = ["category.slug", "category.name", "category.parent.slug", "a.b.c", "slug"];
        assert_eq!(
            version(&query(&paths), None, Status::Draft),
            "status=draft&fields[0]=publishedAt&fields[1]=slug\
             &populate[category][fields][0]=slug&populate[category][fields][1]=name\
             &populate[category][populate][parent][fields][0]=slug\
             &populate[a][fields][0]=id\
             &populate[a][populate][b][fields][0]=c"
        );
    }

    #[test]
    fn version_names_each_field_once() {
        assert_eq!(
            version(
                &query(&["documentId", "locale", "publishedAt"]),
                Some(&en()),
                Status::Published
            ),
            "status=published&locale=en&fields[0]=publishedAt&fields[1]=locale"
        );
    }

    #[test]
    fn total_turns_conditions_into_filters() {
        let condition =
            |field: &str, equals| Condition { field: FieldPath::parse(field).unwrap(), equals };
        let news = condition("section", Literal::Text("a&b".into()));
        let site = condition("site.key", Literal::Text("main".into()));
        let open = condition("open", Literal::Boolean(true));
        let one = ContentQuery { alternatives: vec![vec![news.clone(), site]], ..query(&[]) };
        let both = ContentQuery { alternatives: vec![vec![news], vec![open]], ..query(&[]) };
        let start = "status=published&sort=documentId:asc&pagination[page]=1\
                     &pagination[pageSize]=1&pagination[withCount]=true";
        assert_eq!(
            total(&one, None),
            format!(
                "{start}&filters[section][$eq]=a%26b&filters[site][key][$eq]=main&fields[0]=documentId"
            )
        );
        assert_eq!(
            total(&both, None),
            format!(
                "{start}&filters[$or][0][section][$eq]=a%26b&filters[$or][1][open][$eq]=true&fields[0]=documentId"
            )
        );
    }

    #[test]
    fn conditions_through_one_relation_are_separate_filters() {
        let is = |field: &str, text: &str| {
            let field = FieldPath::parse(field).unwrap();
            Condition { field, equals: Literal::Text(text.into()) }
        };
        let conditions = vec![is("tags.slug", "a"), is("slug", "x"), is("tags.kind", "b")];
        for (alternatives, expected) in [
            (
                vec![conditions.clone()],
                "&filters[$and][0][tags][slug][$eq]=a&filters[$and][1][slug][$eq]=x\
                 &filters[$and][2][tags][kind][$eq]=b&",
            ),
            (
                vec![vec![is("tags.slug", "c")], conditions],
                "&filters[$or][0][tags][slug][$eq]=c&filters[$or][1][$and][0][tags][slug][$eq]=a\
                 &filters[$or][1][$and][1][slug][$eq]=x&filters[$or][1][$and][2][tags][kind][$eq]=b&",
            ),
        ] {
            let text = total(&ContentQuery { alternatives, ..query(&[]) }, None);
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn filters_that_are_too_many_or_about_the_locale_are_left_out() {
        let is = |field: &str, text: &str| {
            let field = FieldPath::parse(field).unwrap();
            Condition { field, equals: Literal::Text(text.into()) }
        };
        let [news, en] = [is("section", "news"), is("locale", "en")];
        let filter = "&filters[section][$eq]=news";
        let many = |n: usize| (0..n).map(|n| vec![is("a", &n.to_string())]).collect::<Vec<_>>();
        for (alternatives, expected) in [
            (vec![vec![news.clone(), en.clone()]], Some(filter)),
            (vec![vec![en.clone()]], None),
            (vec![vec![news], vec![en]], None),
            (many(20), Some("&filters[$or][19][a][$eq]=19")),
            (many(21), None),
            (vec![vec![is("a", &"x".repeat(2_048))]], None),
        ] {
            let query = ContentQuery { alternatives, ..query(&["locale"]) };
            for text in [total(&query, None), page(&query, None, FIRST)] {
                let filtered = expected.is_some_and(|filter| text.contains(filter));
                assert_eq!(text.contains("filters"), filtered, "{text}");
                assert!(!text.contains("locale"), "{text}");
            }
        }
    }

    #[test]
    fn selection_filters_by_the_documents_or_by_those_behind_a_relation() {
        let start = "status=published&sort=documentId:asc&pagination[page]=1\
                     &pagination[pageSize]=100&pagination[withCount]=true";
        let path = |path| FieldPath::parse(path).unwrap();
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let select = |selection: Selection| {
            let alternatives = vec![vec![Condition {
                field: FieldPath::parse("section").unwrap(),
                equals: Literal::Text("news".into()),
            }]];
            ContentQuery { alternatives, selection: Some(selection), ..query(&["slug"]) }
        };
        assert_eq!(
            selection(&select(Selection::Documents(ids(&["a", "b"]))), true, 100),
            format!(
                "{start}&filters[documentId][$in][0]=a&filters[documentId][$in][1]=b&locale=%2A\
                 &fields[0]=publishedAt&fields[1]=locale&fields[2]=slug"
            )
        );
        let relation = path("parent.parent");
        let parent = select(Selection::Dependents { relation, of: ids(&["a"]) });
        let filter = "&filters[parent][parent][documentId][$eq]=a";
        assert_eq!(
            selection(&parent, false, 100),
            format!("{start}{filter}&fields[0]=publishedAt&fields[1]=slug")
        );
        let behind = PageRequest { after: Some("k"), size: 100, with_total: false };
        let next = page(&parent, Some(&en()), behind);
        assert!(next.contains("filters[documentId][$gt]=k") && next.contains(filter), "{next}");
        assert!(total(&parent, None).contains(filter));
        let unrelated = total(&select(Selection::Unrelated(path("parent"))), None);
        assert!(unrelated.contains("&filters[parent][documentId][$null]=true&"), "{unrelated}");
    }

    #[test]
    fn total_and_first_row_request_one_row() {
        let start = "status=published&sort=documentId:asc&pagination[page]=1\
                     &pagination[pageSize]=1&pagination[withCount]";
        for (text, with_total) in
            [(total(&query(&[]), Some(&en())), true), (first_row(&query(&[]), Some(&en())), false)]
        {
            assert_eq!(text, format!("{start}={with_total}&fields[0]=documentId&locale=en"));
        }
    }

    #[test]
    fn any_of_lists_the_ids_beside_the_filters() {
        let field = FieldPath::parse("section").unwrap();
        let news = Condition { field, equals: Literal::Text("news".into()) };
        let query = ContentQuery { alternatives: vec![vec![news]], ..query(&[]) };
        assert_eq!(
            any_of(&query, None, &["a".to_owned(), "b&c".to_owned()]),
            "status=published&sort=documentId:asc&pagination[page]=1&pagination[pageSize]=1\
             &pagination[withCount]=false&filters[documentId][$in][0]=a\
             &filters[documentId][$in][1]=b%26c&filters[section][$eq]=news&fields[0]=documentId"
        );
    }
}

//! The query strings of the requests: only what the rules need is asked for.

use std::fmt::Write;

use crate::content::{ContentQuery, Status};
use crate::rules::{Condition, FieldPath, Locale, encode};

/// As many as Strapi grants by default (`api.rest.maxLimit`); more would be clamped silently.
pub(super) const PAGE_SIZE: usize = 100;

/// With more alternatives, or more text than this, all documents are asked for: Strapi refuses a
/// request whose head has more than 16 KiB.
const MAX_ALTERNATIVES: usize = 20;
const MAX_FILTERS: usize = 2 << 10;

/// Which locale to ask for. `None`: the type is not localised, and refuses even `fields=locale`.
type Asked<'a> = Option<&'a Locale>;

/// One page of published documents after the key `after`, in the order of their keys.
pub(super) fn page(ask: &ContentQuery, locale: Asked<'_>, after: Option<&str>) -> String {
    let mut query = list(PAGE_SIZE);
    if let Some(after) = after {
        push(&mut query, "filters[documentId][$gt]", after);
    }
    push_filters(&mut query, ask);
    select(&mut query, ask, locale);
    query
}

/// The same list from its start, for its total alone.
pub(super) fn total(ask: &ContentQuery, locale: Asked<'_>) -> String {
    let mut query = list(1);
    push_filters(&mut query, ask);
    push(&mut query, "fields[0]", "documentId");
    push_locale(&mut query, locale);
    query
}

/// One version of one document.
pub(super) fn version(ask: &ContentQuery, locale: Asked<'_>, status: Status) -> String {
    let mut query = format!("status={}", status.as_str());
    select(&mut query, ask, locale);
    query
}

/// `page` is always 1, because the walk goes by key; it makes Strapi echo the page size.
fn list(size: usize) -> String {
    format!("status=published&sort=documentId:asc&pagination[page]=1&pagination[pageSize]={size}")
}

fn select(query: &mut String, ask: &ContentQuery, locale: Asked<'_>) {
    push_locale(query, locale);
    let mut own = vec!["publishedAt"];
    own.extend(locale.map(|_| "locale"));
    let paths = ask.projection.paths().iter().filter(|path| !is_locale(path));
    let paths: Vec<_> = paths.map(FieldPath::segments).collect();
    select_below(query, "", own, &paths);
}

/// The document's own locale, which the parameter `locale` is for.
fn is_locale(path: &FieldPath) -> bool {
    matches!(path.segments(), [name] if **name == *"locale")
}

/// Only documents that a rule is for. Without a filter all are sent, and each is checked anyway.
fn push_filters(query: &mut String, ask: &ContentQuery) {
    // `filters[locale]` would beat the parameter, and ask for other versions than it says.
    let sent = |condition: &&Condition| !is_locale(&condition.field);
    let sent = |conditions: &Vec<Condition>| conditions.iter().filter(sent).cloned().collect();
    let alternatives: Vec<Vec<Condition>> = ask.alternatives.iter().map(sent).collect();
    if alternatives.len() > MAX_ALTERNATIVES || alternatives.iter().any(Vec::is_empty) {
        return;
    }
    let mut filters = String::new();
    for (at, conditions) in alternatives.iter().enumerate() {
        let start = match alternatives.len() {
            1 => "filters".to_owned(),
            _ => format!("filters[$or][{at}]"),
        };
        for Condition { field, equals } in conditions {
            let steps = field.segments().iter();
            let name = steps.fold(start.clone(), |name, step| format!("{name}[{}]", encode(step)));
            push(&mut filters, &format!("{name}[$eq]"), equals.as_str());
        }
    }
    if !filters.is_empty() && filters.len() <= MAX_FILTERS {
        query.push('&');
        query.push_str(&filters);
    }
}

fn push_locale(query: &mut String, locale: Asked<'_>) {
    if let Some(locale) = locale {
        push(query, "locale", locale.as_str());
    }
}

/// The fields of one level, then each relation with what is needed of it.
fn select_below<'a>(
    query: &mut String,
    at: &str,
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
    push_fields(query, at, &fields);
    for name in relations {
        let below: Vec<_> = paths.iter().filter_map(|path| through(path, name)).collect();
        select_below(
            query,
            &within(at, &format!("populate[{}]", encode(name))),
            Vec::new(),
            &below,
        );
    }
}

/// A relation that is only passed through still needs one field: none would mean all of them.
fn push_fields(query: &mut String, at: &str, fields: &[&str]) {
    let fields = if fields.is_empty() { &["documentId"] } else { fields };
    for (n, field) in fields.iter().enumerate() {
        push(query, &within(at, &format!("fields[{n}]")), field);
    }
}

fn through<'p>(path: &'p [Box<str>], name: &str) -> Option<&'p [Box<str>]> {
    path.split_first()
        .filter(|(first, rest)| ***first == *name && !rest.is_empty())
        .map(|(_, rest)| rest)
}

/// `populate[a]` within nothing, `[populate][b]` within `populate[a]`.
fn within(at: &str, key: &str) -> String {
    match key.split_once('[') {
        Some((word, rest)) if !at.is_empty() => format!("{at}[{word}][{rest}"),
        _ => key.to_owned(),
    }
}

fn push(query: &mut String, name: &str, value: &str) {
    let joint = if query.is_empty() { "" } else { "&" };
    write!(query, "{joint}{name}={}", encode(value)).expect("a String takes any text");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Projection;
    use crate::rules::{ContentTypeUid, Literal};

    fn ask(paths: &[&str]) -> ContentQuery {
        let paths = paths.iter().map(|path| FieldPath::parse(path).unwrap()).collect();
        let uid = ContentTypeUid::parse("api::article.article").unwrap();
        ContentQuery { uid, projection: Projection::new(paths), alternatives: Vec::new() }
    }

    fn en() -> Locale {
        Locale::parse("en").unwrap()
    }

    #[test]
    fn a_page_goes_by_key_and_names_its_fields() {
        assert_eq!(
            page(&ask(&["slug"]), Some(&en()), Some("d1&x")),
            "status=published&sort=documentId:asc&pagination[page]=1&pagination[pageSize]=100\
             &filters[documentId][$gt]=d1%26x&locale=en\
             &fields[0]=publishedAt&fields[1]=locale&fields[2]=slug"
        );
        assert_eq!(
            page(&ask(&["slug"]), None, None),
            "status=published&sort=documentId:asc&pagination[page]=1&pagination[pageSize]=100\
             &fields[0]=publishedAt&fields[1]=slug"
        );
    }

    #[test]
    fn relations_are_populated_with_what_is_needed() {
        let paths = ["category.slug", "category.name", "category.parent.slug", "a.b.c", "slug"];
        assert_eq!(
            version(&ask(&paths), None, Status::Draft),
            "status=draft&fields[0]=publishedAt&fields[1]=slug\
             &populate[category][fields][0]=slug&populate[category][fields][1]=name\
             &populate[category][populate][parent][fields][0]=slug\
             &populate[a][fields][0]=documentId\
             &populate[a][populate][b][fields][0]=c"
        );
    }

    #[test]
    fn nothing_is_asked_for_twice() {
        assert_eq!(
            version(&ask(&["documentId", "locale", "publishedAt"]), Some(&en()), Status::Published),
            "status=published&locale=en&fields[0]=publishedAt&fields[1]=locale"
        );
    }

    #[test]
    fn conditions_become_filters() {
        let condition =
            |field: &str, equals| Condition { field: FieldPath::parse(field).unwrap(), equals };
        let news = condition("section", Literal::Text("a&b".into()));
        let site = condition("site.key", Literal::Text("main".into()));
        let open = condition("open", Literal::Boolean(true));
        let one = ContentQuery { alternatives: vec![vec![news.clone(), site]], ..ask(&[]) };
        let both = ContentQuery { alternatives: vec![vec![news], vec![open]], ..ask(&[]) };
        let start =
            "status=published&sort=documentId:asc&pagination[page]=1&pagination[pageSize]=1";
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
    fn what_is_too_much_for_a_query_or_at_odds_with_it_is_not_filtered() {
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
            let ask = ContentQuery { alternatives, ..ask(&["locale"]) };
            let queries = [total(&ask, None), page(&ask, None, None)];
            for query in queries {
                let filtered = expected.is_some_and(|filter| query.contains(filter));
                assert_eq!(query.contains("filters"), filtered, "{query}");
                assert!(!query.contains("locale"), "{query}");
            }
        }
    }

    #[test]
    fn the_total_needs_one_row() {
        assert_eq!(
            total(&ask(&[]), Some(&en())),
            "status=published&sort=documentId:asc&pagination[page]=1&pagination[pageSize]=1\
             &fields[0]=documentId&locale=en"
        );
    }
}

//! The fields of `[[site.links]]`.

use super::*;

/// The report of `check` for a site with a rule of `api::page.page` and these fields with links.
fn check_links(cms: &Cms, uid: &str, fields: &[&str]) -> Ended {
    let links = format!("[[site.links]]\ncontent_type = \"{uid}\"\nfields = {fields:?}");
    let site = site("main").resolve("documents").rule("api::page.page", "/{slug}").with(&links);
    let setup = site.strapi(cms).without_endpoints();
    setup.env("FRONTEND_MAP__CMS__TOKEN", "canary-token").run(&["check"])
}

/// The findings, each without the content type and what is in front of it.
fn faults(ended: &Ended) -> Vec<&str> {
    let start = "api::page.page in [[site.links]]: ";
    findings(ended).iter().map(|finding| finding.strip_prefix(start).unwrap_or(finding)).collect()
}

const ZONE: &str = "`zone` is a dynamic zone: name a field of its components, like `zone.text`, or one a level deeper, but no deeper one";

#[test]
fn schema_says_which_fields_can_have_links() {
    let fields = r#"{"slug":{"type":"uid"},"body":{"type":"richtext"},"blocks":{"type":"blocks"},"json":{"type":"json"},
        "price":{"type":"integer"},"hidden":{"type":"boolean"},"day":{"type":"date"},"secret":{"type":"text","private":true},
        "seo":{"type":"component","component":"shared.seo"},"cards":{"type":"component","component":"shared.card","repeatable":true},
        "zone":{"type":"dynamiczone","components":["shared.seo","shared.card","shared.unreadable"]},
        "known":{"type":"dynamiczone","components":["shared.seo","shared.card"]}}"#;
    let cms = Cms::start(move |target| match target.split_once("/api/content-type-builder/") {
        Some((_, "content-types/api::page.page")) => schema("page", fields),
        Some((_, "components/shared.seo")) => {
            schema("seo", r#"{"url":{"type":"string"},"order":{"type":"integer"}}"#)
        }
        Some((_, "components/shared.card")) => {
            schema("card", r#"{"button":{"type":"component","component":"shared.seo"}}"#)
        }
        Some(_) => denied(),
        None => list(&[], 1, 0),
    });
    let good = [
        "body",
        "blocks",
        "json",
        "seo.url",
        "cards.button.url",
        "zone.url",
        "zone.anything",
        "known.url",
        "known.button.url",
    ];
    let empty = "api::page.page: nothing to check: it has no published document";
    let ended = check_links(&cms, "api::page.page", &good);
    assert_eq!(findings(&ended), [empty], "{}", ended.stderr);
    for (field, expected) in [
        ("bdy", "there is no field or relation `bdy`: correct the name"),
        ("seo.link", "there is no field or relation `seo.link`: correct the name"),
        ("known.link", "there is no field or relation `known.link`: correct the name"),
        (
            "known.order",
            "`known.order` is a number, which has no links: name a text, Blocks or JSON",
        ),
        ("price", "`price` is a number, which has no links: name a text, Blocks or JSON"),
        ("hidden", "`hidden` is a boolean, which has no links: name a text, Blocks or JSON"),
        ("day", "`day` is a date or a time, which has no links: name a text, Blocks or JSON"),
        (
            "secret",
            "`secret` is private, and Strapi never returns it: use another field, or remove `private` from its schema",
        ),
        (
            "cards",
            "`cards` is a relation, a component or media: name one of its fields, like `cards.slug`",
        ),
        (
            "body.url",
            "`body` is neither a relation nor a component, or it is private: a path cannot lead through it",
        ),
        ("zone", ZONE),
        ("zone.button.more.url", ZONE),
    ] {
        let ended = check_links(&cms, "api::page.page", &[field]);
        assert_eq!(faults(&ended), [empty, expected], "{field}: {}", ended.stderr);
    }
}

#[test]
fn document_shows_which_fields_can_have_links_where_the_schema_is_unreadable() {
    let cms = reader(|target| {
        let is_for_zone = ["[zone][fields]", "[zone][populate][button]"];
        if is_for_zone.iter().any(|part| target.contains(part)) {
            refusal(400, "ValidationError", "{}")
        } else if target.contains("=bdy") {
            invalid_key("bdy", None, "fields")
        } else if target.contains("[soe]") {
            invalid_key("soe", None, "populate")
        } else if target.contains("=zone") {
            invalid_key("zone", Some("zone"), "fields")
        } else if target.contains("=slug") {
            one(r#""slug":"s""#)
        } else {
            one(
                r#""body":"[a](/a)","blocks":[{"type":"paragraph"}],"price":5,"hidden":true,"seo":{"id":1,"url":"/a"},
                "cards":[{"id":1,"url":null}],"empty":null,"zone":[{"__component":"shared.x","id":1}]"#,
            )
        }
    });
    let good = ["body", "blocks", "seo.url", "cards.url", "empty.url", "zone.url", "zone.a.url"];
    let ended = check_links(&cms, "api::page.page", &good);
    assert_eq!(findings(&ended), [""; 0], "{}", ended.stderr);
    let targets = cms.targets();
    let content = targets.iter().filter(|target| target.contains("=body")).collect::<Vec<_>>();
    let [request] = content[..] else { panic!("one request for content, not {targets:?}") };
    let expected = "&fields[0]=publishedAt&fields[1]=locale&fields[2]=body&fields[3]=blocks\
                    &populate[cards][populate]=%2A&populate[empty][populate]=%2A\
                    &populate[seo][populate]=%2A&populate[zone][populate]=%2A";
    assert!(request.ends_with(expected), "{request}");
    for (fields, expected) in [
        (&["bdy", "body"][..], "there is no field or relation `bdy`: correct the name"),
        (&["soe.url"], "there is no field or relation `soe`: correct the name"),
        (&["price"], "`price` is a number, which has no links: name a text, Blocks or JSON"),
        (&["hidden"], "`hidden` is a boolean, which has no links: name a text, Blocks or JSON"),
        (&["zone"], ZONE),
        (&["zone.button.more.url", "seo.url"], ZONE),
        (
            &["seo.ulr"],
            "the CMS does not send `seo.ulr`: correct the name; or it is private, or the token may not read it",
        ),
    ] {
        let ended = check_links(&cms, "api::page.page", fields);
        assert_eq!(faults(&ended), [expected], "{fields:?}: {}", ended.stderr);
    }
}

#[test]
fn finding_about_a_content_type_is_reported_once_for_its_rules_and_links() {
    let cms = reader(|_| denied());
    let problem = |uid: &str, path: &str| {
        format!("{uid}: 403 on /api/{path}: grant find and findOne to the token")
    };
    let of_page = problem("api::page.page", "pages");
    let ended = check_links(&cms, "api::page.page", &["body"]);
    assert_eq!(findings(&ended), [of_page.as_str()], "{}", ended.stderr);
    // A menu has no pages, and no rule.
    let ended = check_links(&cms, "api::menu.menu", &["url"]);
    let of_menu = problem("api::menu.menu", "menus");
    assert_eq!(findings(&ended), [of_page, of_menu], "{}", ended.stderr);
    let cms = reader(|_| Script::json(500, "{}"));
    let ended = check_links(&cms, "api::page.page", &["body"]);
    let [failure] = findings(&ended)[..] else { panic!("{}", ended.stdout) };
    assert!(failure.starts_with("api::page.page: the CMS is not available"), "{failure}");
}

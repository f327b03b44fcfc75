//! `moved.import`: redirects of other systems lead to documents.

use super::{apply, assert_leads, documents, edit, known, pages, reload, start};
use crate::support::http;
use crate::support::service::{Service, Setup};
use crate::support::settings::Settings;
use crate::support::wait::until_so;

const TEMPLATE: &str = "/{locale}/{slug}";
const IMPORTED: &str = "redirects are imported";

fn settings(template: &str) -> Settings {
    super::settings(template).more("[moved]\nimport = [\"old.csv\"]")
}

fn setup(list: &str, content: &str) -> Setup {
    settings(TEMPLATE).files(content).file("old.csv", list)
}

fn imports(service: &Service) -> usize {
    service.log().matches(IMPORTED).count()
}

fn imported(setup: Setup) -> Service {
    let service = setup.start();
    known(&service);
    until_so(IMPORTED, || imports(&service) == 1);
    service
}

/// Does something that causes another import, and waits for this.
fn again(service: &Service, change: impl FnOnce()) {
    let before = imports(service);
    change();
    until_so(IMPORTED, || imports(service) > before);
}

/// How many rows were left out for a reason, as the log says it.
fn left_out(service: &Service, reason: &str) -> String {
    let log = service.log();
    let start = format!("redirects are not imported site=\"main\" reason=\"{reason}\" rows=");
    let line = log.lines().filter_map(|line| line.split_once(&start)).next_back();
    line.map(|(_, rows)| rows.to_owned()).unwrap_or_default()
}

#[test]
fn imported_path_leads_to_the_document_of_its_target() {
    let list = "\u{feff}Status;To;From\r\n\
        301;/en/x;/old\r\n\
        301;https://www.example.com/base/en/x?utm=1#top;http://www.example.com/base/old2/\r\n\
        302;\"/en/a b\";\"/sp ace\"\r\n\
        301;/de/y/;node/5\r\n";
    let content = pages(&[("a", "en", "x"), ("b", "de", "y"), ("c", "en", "a b")]);
    let service = imported(setup(list, &content));
    let expected = [
        ("/old", "redirect /en/x"),
        ("/old2", "redirect /en/x"),
        ("/sp%20ace", "redirect /en/a%20b"),
        ("/node/5", "redirect /de/y"),
        ("/en/x", "document a"),
    ];
    assert_leads(&service, &expected);
    // It is path -> document from now on.
    again(&service, || {
        edit(&service, &pages(&[("a", "en", "x2"), ("b", "de", "y"), ("c", "en", "a b")]));
    });
    assert_leads(&service, &[("/old", "redirect /en/x2"), ("/en/x", "redirect /en/x2")]);
    assert_eq!(left_out(&service, "target_not_found"), "", "/en/x was the document's path");
    again(&service, || apply(&service, &settings("/{locale}/p/{slug}")));
    assert_leads(&service, &[("/old", "redirect /en/p/x2"), ("/node/5", "redirect /de/p/y")]);
    let list = http::get(service.addr(), "/api/redirects?site=main").json();
    let former = list["data"]["redirects"].as_array().expect("a list");
    let old = former.iter().filter(|row| row["from"] == "/old").count();
    assert_eq!(old, 1);
}

#[test]
fn rows_that_lead_nowhere_are_left_out_with_the_reason() {
    let list = "from,to\n\
        /a,/b\n/b,/c\n/c,/en/x\n\
        /l1,/l2\n/l2,/l3\n/l3,/l1\n/self,/self\n/self2,/self2/\n\
        /gone,/nowhere\n/to-loop,/l1\n\
        /en/y,/en/x\n\
        /a,/en/y\n\
        https://other.example/o,/en/x\n/o,https://other.example/\n/p,https://www.example.com/en/x\n\
        ,/en/x\n/e,\n/q?id=5,/en/x\n/w/*,/en/x\nmailto://x,/en/x\n//evil,/en/x\n\
        /search,/en/x\n/to-page,/search\n\
        /draft,/en/d\n";
    let content = r#"{"api::page.page": [
        {"documentId": "a", "locale": "en", "slug": "x"},
        {"documentId": "b", "locale": "en", "slug": "y"},
        {"documentId": "d", "locale": "en", "slug": "d", "status": "draft"}
    ]}"#;
    let page = "[[site.page]]\nname = \"search\"\npath = \"/search\"\n";
    let with_page = settings(TEMPLATE).more(page).files(content);
    let service = imported(with_page.file("old.csv", list));
    assert_leads(
        &service,
        &[
            ("/a", "redirect /en/x"),
            ("/b", "redirect /en/x"),
            ("/c", "redirect /en/x"),
            ("/en/y", "document b"),
            ("/l1", "404"),
            ("/gone", "404"),
            ("/draft", "404"),
            ("/search", "page"),
        ],
    );
    for (reason, rows) in [
        ("loop", "6"),
        ("target_not_found", "3"),
        ("live", "2"),
        ("duplicate", "1"),
        ("other_host", "3"),
        ("malformed", "6"),
    ] {
        assert_eq!(left_out(&service, reason), rows, "{reason}: {}", service.log());
    }
    assert!(service.logs("file=") && service.logs("line=5"));
    // All of them, without the service.
    let setup = with_page.file("old.csv", list);
    let ended = setup.run(&["redirects", "--site", "main", "--left-out"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let lines: Vec<&str> = ended.stdout.split_terminator("\r\n").collect();
    assert_eq!((lines[0], lines.len()), ("file,line,from,to,reason", 22));
    assert!(lines[1].ends_with("old.csv,5,/l1,/l2,loop"), "{}", lines[1]);
    assert!(lines.iter().any(|line| line.ends_with(",/to-page,/search,target_not_found")));
}

#[test]
fn path_that_the_service_has_seen_itself_wins() {
    let list = "from,to\n/en/x,/en/y\n/old,/en/x\n";
    let service = imported(setup(list, &pages(&[("a", "en", "x"), ("b", "en", "y")])));
    again(&service, || edit(&service, &pages(&[("a", "en", "x2"), ("b", "en", "y")])));
    assert_leads(&service, &[("/en/x", "redirect /en/x2"), ("/old", "redirect /en/x2")]);
    // A list that is corrected replaces what was imported, and nothing else.
    again(&service, || {
        service.rewrite("old.csv", "from,to\n/en/x,/en/y\n/old,/en/y\n");
        reload(&service);
    });
    assert_leads(&service, &[("/en/x", "redirect /en/x2"), ("/old", "redirect /en/y")]);
}

#[test]
fn imported_rows_survive_a_restart_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = folder.path().join("store.redb");
    let with_store = |list: &str, content: &str| {
        setup(list, content).env("FRONTEND_MAP__STORE__PATH", store.to_str().expect("text"))
    };
    let list = "from,to\n/old,/en/x\n/older,/old\n";
    let rows = |service: &Service| {
        let data = http::get(service.addr(), "/api/redirects?site=main").json()["data"].clone();
        let rows = data["redirects"].as_array().expect("a list").clone();
        let mut froms: Vec<_> = rows.iter().map(|row| row["from"].to_string()).collect();
        froms.sort();
        froms
    };
    let mut first = imported(with_store(list, &pages(&[("a", "en", "x")])));
    assert_eq!(rows(&first), ["\"/old\"", "\"/older\""]);
    first.signal("TERM");
    // With the same list, and a document that has moved meanwhile.
    let mut second = imported(with_store(list, &pages(&[("a", "en", "z")])));
    until_so("the path is compared", || rows(&second).len() == 3);
    assert_eq!(rows(&second), ["\"/en/x\"", "\"/old\"", "\"/older\""]);
    assert_leads(&second, &[("/old", "redirect /en/z"), ("/en/x", "redirect /en/z")]);
    second.signal("TERM");
    // Without the list they stay.
    let third = with_store(list, &pages(&[("a", "en", "z")]))
        .file("settings.toml", &super::settings(TEMPLATE).toml());
    let third = third.start();
    known(&third);
    assert_eq!(rows(&third), ["\"/en/x\"", "\"/old\"", "\"/older\""]);
}

#[test]
fn list_that_cannot_be_read_is_a_problem() {
    for (list, message) in [
        (None, "No such file"),
        (Some("/a,/b\n"), "the first line has to name the columns"),
        (Some("from\n/a\n"), "it has no `to`"),
    ] {
        let setup = settings(TEMPLATE).files(&pages(&[])).setup();
        let setup = match list {
            Some(list) => setup.file("old.csv", list),
            None => setup,
        };
        let ended = setup.run(&["serve"]);
        assert_eq!(ended.status, Some(78), "{}", ended.stderr);
        assert!(ended.stderr.contains("moved.import"), "{}", ended.stderr);
        assert!(ended.stderr.contains(message), "{}", ended.stderr);
    }
    let service = imported(setup("from,to\n/old,/en/x\n", &pages(&[("a", "en", "x")])));
    service.rewrite("old.csv", "no list\n");
    service.send_signal("HUP");
    assert!(service.logs("the reload is refused"));
    assert_leads(&service, &[("/old", "redirect /en/x")]);
}

#[test]
fn rows_of_each_site_are_those_of_its_hosts() {
    let settings = super::settings(TEMPLATE)
        .site("other")
        .front_end_url("https://other.example")
        .resolve("documents")
        .rule("api::story.story", "/s/{slug}")
        .more("[moved]\nimport = [\"old.csv\", \"more.csv\"]");
    let content = format!(
        r#"{{"api::page.page": {}, "api::story.story": {}}}"#,
        documents(&[("p", "en", "x")]),
        documents(&[("s", "en", "y")])
    );
    let list = "from,to\nhttps://www.example.com/base/a,/en/x\nhttps://other.example/a,/s/y\n";
    let setup =
        settings.files(&content).file("old.csv", list).file("more.csv", "to,from\n/en/x,/b\n");
    let service = start_with(setup);
    assert_leads(&service, &[("/a", "redirect /en/x"), ("/b", "redirect /en/x")]);
    let target = "/api/resolve?site=other&pathname=/a";
    let found = http::get(service.addr(), target).json()["data"].clone();
    assert_eq!(found["redirect"]["to"], "https://other.example/s/y");
    let missing = http::get(service.addr(), "/api/resolve?site=other&pathname=/b");
    assert_eq!(missing.status, 404, "{}", missing.text());
}

fn start_with(setup: Setup) -> Service {
    let service = setup.start();
    known(&service);
    until_so(IMPORTED, || imports(&service) == 2);
    service
}

#[test]
fn service_without_lists_imports_nothing() {
    let service = start(&super::settings(TEMPLATE), &pages(&[("a", "en", "x")]));
    edit(&service, &pages(&[("a", "en", "y")]));
    assert_eq!(imports(&service), 0);
}

#[test]
fn target_in_another_locale_leads_to_a_document_that_is_not_localized() {
    let list = "from,to\n/old,/de/x\n/own,/de/y\n/chain,/old\n";
    let service = imported(setup(list, &pages(&[("n", "", "x"), ("a", "en", "y")])));
    assert_leads(&service, &[("/de/x", "document n"), ("/de/y", "none")]);
    let expected = [("/old", "redirect /en/x"), ("/chain", "redirect /en/x"), ("/own", "404")];
    assert_leads(&service, &expected);
}

#[test]
fn row_is_read_as_a_browser_reads_its_target() {
    let list = "from,to\n\
        /a,HTTPS://www.example.com/base/en/x\n\
        HTTP://WWW.example.com/base/b,/en/x\n\
        /c,/en/x?next=https://other.example/\n\
        /d,/en/x#https://other.example/\n\
        /e,https://www.example.com:443/base/en/x\n\
        /f,/en//x/\n\
        /g,/en/%78\n\
        /h%2fi,/en/x\n\
        /%zz,/en/x\n\
        /\u{fc}\u{2028},/en/x\n\
        /j,#top\n\
        /k,?page=2\n\
        /l,./en/x\n";
    let service = imported(setup(list, &pages(&[("a", "en", "x"), ("r", "en", "")])));
    let moved = "redirect /en/x";
    assert_leads(
        &service,
        &[
            ("/a", moved),
            ("/b", moved),
            ("/c", moved),
            ("/d", moved),
            ("/e", moved),
            ("/f", moved),
            ("/g", moved),
            ("/h%252fi", moved),
            ("/%25zz", moved),
            ("/%C3%BC", moved),
            ("/j", "404"),
            ("/k", "404"),
        ],
    );
    assert_eq!(left_out(&service, "malformed"), "2");
}

#[test]
fn long_chain_is_followed_to_its_end_in_one_pass() {
    const ROWS: usize = 20_000;
    let chain = |name: char, last: &str| {
        let to = |at| if at == ROWS { last.to_owned() } else { format!("/{name}{at}") };
        let row = |at| format!("/{name}{},{}", at - 1, to(at));
        (1..=ROWS).map(row).collect::<Vec<String>>().join("\n")
    };
    let list =
        format!("from,to\n{}\n{}\n{}\n", chain('a', "/en/x"), chain('b', "/b7"), chain('c', "/no"));
    let service = imported(setup(&list, &pages(&[("a", "en", "x")])));
    let moved = "redirect /en/x";
    let expected = [("/a0", moved), ("/a19999", moved), ("/b0", "404"), ("/c0", "404")];
    assert_leads(&service, &expected);
    let rows = ROWS.to_string();
    assert_eq!(left_out(&service, "loop"), rows);
    assert_eq!(left_out(&service, "target_not_found"), rows);
}

use std::time::{Duration, Instant};

use super::*;

fn links(json: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    find_links(&json.to_string(), &mut found).unwrap();
    found.into_iter().map(|link| (link.address, link.text)).collect()
}

#[track_caller]
fn check(text: &str, expected: &[(&str, &str)]) {
    let expected: Vec<(String, String)> =
        expected.iter().map(|(a, t)| ((*a).to_owned(), (*t).to_owned())).collect();
    assert_eq!(links(&Value::from(text)), expected, "{text}");
}

#[test]
fn links_in_html_are_anchors_and_areas_as_browsers_read_them() {
    check(
        "<p>See <a class=x HREF='/en/a?x=1&amp;y=2'>the <b>first</b>\n  page </a>.</p>",
        &[("/en/a?x=1&y=2", "the first page")],
    );
    check(
        "<p><a href=/en/b>one<a href=\"/en/c\">two</a></p>",
        &[("/en/b", "one"), ("/en/c", "two")],
    );
    check("<p><a name=x>no</a><a href>empty</a></p>", &[("", "empty")]);
    check("<map><p><area href='/en/d' alt='D'></p></map>", &[("/en/d", "D")]);
    check("<p><a href='/e'><img src=/no alt='An image'></a></p>", &[("/e", "An image")]);
    check("<p><!-- <a href=/no>x</a> --><a href='/f' href='/no'>f</p>", &[("/f", "f")]);
    check("<p><script>'<a href=/no>'</script><textarea><a href=/no></textarea></p>", &[]);
    check("<div>\n\n    <a href=/indented>x</a>\n\n</div>", &[("/indented", "x")]);
    check("<p><a href='/unclosed", &[]);
}

#[test]
fn links_in_markdown_are_inline_by_reference_and_automatic_ones_and_html() {
    check(
        "# A\n\nSee [the *first*\npage](/en/a \"title\") and ![no](/image.png).",
        &[("/en/a", "the first page")],
    );
    check(
        "[one][1], [two][], [three]\n\n[1]: /en/1\n[two]: </en/2>\n[three]: /en/3",
        &[("/en/1", "one"), ("/en/2", "two"), ("/en/3", "three")],
    );
    check(
        "Go to <https://www.example.com/en/a> now",
        &[("https://www.example.com/en/a", "https://www.example.com/en/a")],
    );
    check("Text with <a href=\"/en/a\">inline</a> HTML", &[("/en/a", "inline")]);
    check("<b>bold</b> [x](/en/x)", &[("/en/x", "x")]);
    check("`[code](/no)` and\n\n    [code](/no)\n\n\\[no](/no)", &[]);
    check("| a | b |\n|---|---|\n| [x](/en/x) | y |", &[("/en/x", "x")]);
    check("[![image](/i.png)](/en/a)", &[("/en/a", "image")]);
    check("[a](/en/with%2Fslash#part)", &[("/en/with%2Fslash#part", "a")]);
    check("[a](<javascript:alert(1)>)", &[("javascript:alert(1)", "a")]);
}

#[test]
fn text_that_is_one_url_is_one_link() {
    for text in
        ["/en/a", " https://www.example.com/en/a ", "../b", "//host/x", "HTTPS://a/b", "/a_b_c"]
    {
        check(text, &[(text.trim(), "")]);
    }
    for text in ["about", "A sentence", "mailto:a@b", "/a b", "", "#part", "1/2 of it"] {
        check(text, &[]);
    }
}

#[test]
fn links_in_blocks_are_found_in_nodes_of_any_type() {
    let link = |url: &str, text: &str| serde_json::json!({"type": "link", "url": url, "children": [{"type": "text", "text": text, "bold": true}]});
    let blocks = serde_json::json!([
        {"type": "paragraph", "children": [{"type": "text", "text": "See "}, link("/en/a", "the first")]},
        {"type": "list", "children": [{"type": "list-item", "children": [link("/en/b", "b")]}]},
        {"type": "made-up", "children": [{"type": "other", "children": [link("/en/c", "c")]}], "url": "/no"},
        {"type": "link", "children": []},
        {"type": "image", "image": {"url": "/no"}, "children": [{"type": "text", "text": ""}]},
        {"type": "link", "url": 5, "children": "no"},
        "text", 5, null, [link("/en/d", "d\n d")],
    ]);
    let expected = [("/en/a", "the first"), ("/en/b", "b"), ("/en/c", "c"), ("/en/d", "d d")];
    assert_eq!(links(&blocks), expected.map(|(a, t)| (a.to_owned(), t.to_owned())));
    for other in [
        serde_json::json!({}),
        serde_json::json!(null),
        serde_json::json!(5),
        serde_json::json!([[[]]]),
    ] {
        assert_eq!(links(&other), []);
    }
}

#[test]
fn text_of_a_link_is_bounded() {
    let long = "ä".repeat(1_000);
    let found = links(&Value::from(format!("<p><a href=/a>{long}</a></p>")));
    assert_eq!(found[0].1, "ä".repeat(MAX_TEXT / 2));
}

#[test]
fn value_that_cannot_be_read_is_an_error() {
    let deep = "[".repeat(1_000) + &"]".repeat(1_000);
    for json in [r#""\ud800""#, "[1", &deep] {
        assert_eq!(find_links(json, &mut Vec::new()), Err(UnreadableValue), "{json:.20}");
    }
}

/// Hostile content takes time in proportion to its length.
#[test]
fn hostile_texts_take_linear_time() {
    let size = 1 << 17;
    for part in [
        "<a href='/x",
        "<a href=/x>",
        "</a",
        "<p><a ",
        "<!--",
        "[",
        "![",
        "](",
        "[a](",
        "[a](<",
        "<",
        "`",
        "*a_ ",
        "[a]: /x\n",
        "[x][x]",
        "> ",
        "- ",
        "&",
        "<![CDATA[",
        "\\",
        "|",
        "<?",
        "[a](b \"",
    ] {
        let quarter = part.repeat(size / 4 / part.len());
        let whole = part.repeat(size / part.len());
        for start in ["", "<p>"] {
            let (quarter, whole) = (format!("{start}{quarter}"), format!("{start}{whole}"));
            let time = |text: &str| {
                let begun = Instant::now();
                find_in_text(text, &mut Vec::new());
                begun.elapsed()
            };
            let (one, four) = (time(&quarter), time(&whole));
            assert!(four < one * 12 + Duration::from_secs(2), "{start}{part}: {one:?}, {four:?}");
        }
    }
}

#[test]
fn ten_thousand_links_are_found_in_each_format() {
    let number = 10_000;
    let each = |part: &dyn Fn(usize) -> String| (0..number).map(part).collect::<Vec<_>>().concat();
    let markdown = each(&|n| format!("[l{n}](/en/{n}) "));
    let references = each(&|n| format!("[l{n}][{n}] "));
    let definitions = each(&|n| format!("\n[{n}]: /en/{n}"));
    let html = each(&|n| format!("<p><a href=/en/{n}>l{n}</a></p>"));
    for text in [markdown, references + "\n" + &definitions, html] {
        let found = links(&Value::from(text));
        assert_eq!(found.len(), number);
        assert_eq!(found[number - 1], (format!("/en/{}", number - 1), format!("l{}", number - 1)));
    }
}

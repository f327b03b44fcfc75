//! `[changes]` and `[[notify]]`: which settings are refused, and that nothing secret is shown.

use super::settings;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn check(text: &str) -> (Option<i32>, String) {
    let ended = settings()
        .strapi_at("http://127.0.0.1:9")
        .more(text)
        .file("secret", &format!("{SECRET}\n"))
        .file("weak", "whsec_c2hvcnQ=")
        .run(&["check", "--offline"]);
    (ended.status, ended.stdout + &ended.stderr)
}

#[test]
fn targets_are_accepted_or_refused_with_the_reason() {
    let target = |url: &str, rest: &str| {
        format!("[[notify]]\nurl = \"{url}\"\nsecret_file = \"secret\"\n{rest}")
    };
    for text in [
        target("https://example.com/hooks/canary-path?key=canary-key", ""),
        target("http://127.0.0.1:9/", "sites = [\"main\"]\nevents = [\"gone\"]\nunlisted = true\n"),
        target("http://[::1]/a", "") + &target("http://[::1]/b", ""),
        "[[notify]]\nkind = \"indexnow\"\nkey = \"a1b2c3d4\"\nevents = [\"gone\"]\n".to_owned(),
        "[changes]\nkeep = 1\n".to_owned(),
        "[changes]\nkeep = 1000000\n".to_owned(),
    ] {
        let (status, output) = check(&text);
        assert_eq!(status, Some(0), "{text}: {output}");
        assert!(!output.contains("canary"), "{output}");
    }
    let url = "https://example.com/";
    for (text, reason) in [
        (target("example.com/canary", ""), "notify 1, url: is not a URL"),
        (
            target("ftp://example.com/canary", ""),
            "notify 1, url: must begin with http:// or https://",
        ),
        (
            target("https://user:canary@example.com/", ""),
            "notify 1, url: must have no user name or password: requests are signed",
        ),
        (target("https://example.com/#canary", ""), "notify 1, url: must have no fragment (#)"),
        (target(url, "sites = [\"mian\"]\n"), "notify 1, sites: no site has the key \"mian\""),
        (
            target(url, "events = [\"removed\"]\n"),
            "notify 1, events: must be added, moved, gone, updated or redirect, not \"removed\"",
        ),
        (target(url, "event = [\"gone\"]\n"), "`event` is not a setting; did you mean `events`?"),
        (target(url, "") + &target(url, ""), "notify 2: `url` is that of another [[notify]]"),
        (
            target(url, "").replace("\"secret\"", "\"weak\""),
            "notify 1, secret_file: must be whsec_ and 24 to 64 random bytes in base64",
        ),
        (target(url, "").replace("\"secret\"", "\"none\""), "notify 1, secret_file: "),
        (target(url, "").replace("[[notify]]", "[notify]"), "[notify] needs double brackets"),
        ("[[notify]]\nurl = \"https://example.com/\"\n".to_owned(), "secret_file"),
        (
            target(url, "kind = \"index-now\"\n"),
            "notify 1, kind: must be \"changes\" or \"indexnow\", not \"index-now\"; did you mean `indexnow`?",
        ),
        ("[[notify]]\nkind = \"indexnow\"\n".to_owned(), "notify 1: `key` is required"),
        (
            "[[notify]]\nkind = \"indexnow\"\nkey = \"short\"\n".to_owned(),
            "notify 1, key: must be 8 to 128 letters (a to z, A to Z), digits and dashes, such as the output of: openssl rand -hex 16",
        ),
        (
            target(url, "kind = \"indexnow\"\nkey = \"a1b2c3d4\"\n"),
            "notify 1, secret_file: is not for kind = \"indexnow\": requests are not signed",
        ),
        ("[changes]\nkeep = 0\n".to_owned(), "changes.keep: must be between 1 and 1000000"),
        ("[changes]\nkeep = 1000001\n".to_owned(), "changes.keep: must be between 1 and 1000000"),
    ] {
        let (status, output) = check(&text);
        assert_eq!(status, Some(78), "{text}: {output}");
        assert!(output.contains(reason), "{text}: {output}");
        assert!(!output.contains("canary"), "{output}");
        assert!(!output.contains("c2hvcnQ"), "{output}");
    }
}

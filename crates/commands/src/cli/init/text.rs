//! The text of the settings file.

use std::fmt::Write;

use super::locales::{FoundIn, SiteLocales};
use super::redirects::RedirectGuess;
use super::rules::RuleGuess;
use super::survey::Survey;
use super::types::Sketch;
use crate::cli::output::words::wrapped;
use frontend_map_catalog::site::Site;
use frontend_map_cms::EndpointKind;
use frontend_map_rules::{ContentTypeUid, Locale};

/// The key of the site.
const SITE: &str = "main";

/// The widest line of a comment, in columns.
const WIDTH: usize = 100;

/// Lines of TOML.
#[derive(Default)]
struct Lines(String);

/// The settings for the CMS at this address.
pub(super) fn settings(cms: &str, survey: &Survey) -> String {
    let mut out = Lines::default();
    out.comment(&format!("Written by `frontend-map init` for the CMS at {cms}."));
    out.comment(
        "The lines below a \"Guess\" are guessed: compare them with your frontend. All settings are \
         described in docs/configuration.md.",
    );
    out.header("[cms]");
    out.pair("url", &quoted(cms));
    out.comment(
        "The API token is never in this file. Set FRONTEND_MAP__CMS__TOKEN, or name a file that has \
         the token alone; a read-only token is enough.",
    );
    out.line("# token_file = \"strapi.token\"");
    site(&mut out, survey);
    out.line("");
    out.comment(
        "Guess: a collection is at its plural name, followed by the field that looks like its slug. If \
         two documents have one slug, only one of them gets the URL: `frontend-map problems` lists \
         them.",
    );
    for rule in &survey.rules {
        self::rule(&mut out, rule);
    }
    for redirects in &survey.redirects {
        self::redirects(&mut out, redirects);
    }
    for rule in &survey.rules {
        endpoint(&mut out, &rule.uid, rule.endpoint.as_ref());
    }
    for redirects in &survey.redirects {
        endpoint(&mut out, &redirects.uid, redirects.endpoint.as_ref());
    }
    left_out(&mut out, survey);
    out.0
}

fn site(out: &mut Lines, survey: &Survey) {
    out.header("[[site]]");
    out.pair("key", &quoted(SITE));
    let variable = Site::base_url_variable(SITE);
    out.comment(&format!(
        "The URL of your frontend. Until it is set, here or as {variable}, documents have paths and no \
         URLs."
    ));
    out.line("# front_end_url = \"https://www.example.com\"");
    locales(out, &survey.locales);
    if let Some(rule) = survey.rules.iter().find(|rule| rule.is_localized) {
        locale_prefix(out, &survey.locales.codes, rule);
    }
    out.comment(
        "Guess: URLs end without a slash. If those of your frontend end with one, remove the # of the \
         next line.",
    );
    out.line("# trailing_slash = \"always\"");
    if !survey.redirects.is_empty() {
        out.comment("Redirects in the CMS require this setting.");
        out.pair("resolve", &quoted("documents"));
    }
}

fn locales(out: &mut Lines, SiteLocales { codes, found_in, left_out }: &SiteLocales) {
    out.comment(match found_in {
        FoundIn::Arguments => "The locales of --locales. The first is the default.",
        FoundIn::Cms => "The locales of the CMS. The first is the default.",
        FoundIn::Documents => {
            "Guess: the locales of the first documents, because the CMS did not return its list of \
             locales. Add those that are missing. The first is the default."
        }
        FoundIn::Nothing => {
            "Guess: no document has a locale, and a site needs one. Write the language of your pages."
        }
    });
    let codes: Vec<String> = codes.iter().map(|locale| quoted(locale.as_str())).collect();
    out.pair("locales", &format!("[{}]", codes.join(", ")));
    for code in left_out {
        let code = code.escape_debug();
        out.comment(&format!("`{code}` is left out: a site cannot have it beside the others."));
    }
}

/// Whether paths in the default locale begin with it.
fn locale_prefix(out: &mut Lines, codes: &[Locale], rule: &RuleGuess) {
    let path = |locale: Option<&Locale>| {
        let locale = locale.map_or_else(String::new, |locale| format!("/{locale}"));
        let path = rule.template.replacen("/{locale}", &locale, 1);
        if path.is_empty() { "/".to_owned() } else { path }
    };
    let setting = "locale_prefix = \"except-default\"";
    match codes {
        [only] => {
            out.comment(&format!(
                "Guess: with one locale, no path begins with it, and {} in a template stands for \
                 nothing: {}. If your paths are like {}, remove this line.",
                "{locale}",
                path(None),
                path(Some(only))
            ));
            out.line(setting);
        }
        [default, other, ..] => {
            out.comment(&format!(
                "Guess: each path begins with its locale: {}, {}. If paths in the default locale do \
                 not ({}, {}), remove the # of the next line.",
                path(Some(default)),
                path(Some(other)),
                path(None),
                path(Some(other))
            ));
            out.line(&format!("# {setting}"));
        }
        [] => {}
    }
}

fn rule(out: &mut Lines, rule: &RuleGuess) {
    out.header("[[site.rule]]");
    out.pair("content_type", &quoted(rule.uid.as_str()));
    for note in &rule.notes {
        out.comment(note);
    }
    out.pair("template", &quoted(&rule.template));
    if let Some((reason, lines)) = &rule.alternative {
        out.comment(reason);
        for line in lines {
            out.line(&format!("# {line}"));
        }
    }
}

/// The content type of redirects, with the fields that were found.
fn redirects(out: &mut Lines, RedirectGuess { uid, fields, .. }: &RedirectGuess) {
    out.header("[[site.redirects]]");
    out.comment(
        "Guess: the names of the content type and of its fields say that its documents are redirects. \
         docs/redirects.md describes each key.",
    );
    out.pair("content_type", &quoted(uid.as_str()));
    for (key, field) in fields {
        out.pair(key, &quoted(field));
    }
}

/// An endpoint that the service would not find by the name of its type.
fn endpoint(out: &mut Lines, uid: &ContentTypeUid, endpoint: Option<&(String, EndpointKind)>) {
    let Some((path, kind)) = endpoint else { return };
    out.header("[[content_type]]");
    out.pair("uid", &quoted(uid.as_str()));
    out.comment("Its path below /api, which does not follow from its name.");
    out.pair("endpoint", &quoted(path));
    if *kind == EndpointKind::Single {
        out.pair("kind", &quoted("single"));
    }
}

/// A rule in comments.
fn sketch(out: &mut Lines, uid: &ContentTypeUid, Sketch { template, endpoint }: &Sketch) {
    out.line("# [[site.rule]]");
    out.pair("# content_type", &quoted(uid.as_str()));
    out.pair("# template", &quoted(template));
    if let Some((path, kind)) = endpoint {
        out.line("# [[content_type]]");
        out.pair("# uid", &quoted(uid.as_str()));
        out.pair("# endpoint", &quoted(path));
        if *kind == EndpointKind::Single {
            out.pair("# kind", &quoted("single"));
        }
    }
}

fn left_out(out: &mut Lines, survey: &Survey) {
    if survey.left_out.is_empty() {
        return;
    }
    out.line("");
    out.comment(
        "Content types without a rule. If one has pages, remove the # of its rule, and write the field \
         that is unique for each page in place of `slug`; if it has none, create one in Strapi.",
    );
    for left_out in &survey.left_out {
        out.comment(&format!("{}:", left_out.uid));
        out.line(&wrapped(&left_out.reason, WIDTH, "#   "));
        if let Some(sketch) = &left_out.sketch {
            self::sketch(out, &left_out.uid, sketch);
        }
    }
}

impl Lines {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// A header, apart from what is above it.
    fn header(&mut self, header: &str) {
        self.line("");
        self.line(header);
    }

    fn pair(&mut self, key: &str, value: &str) {
        self.line(&format!("{key} = {value}"));
    }

    /// A comment of one line or more, none of which is empty. White space, which a name could have,
    /// becomes spaces.
    fn comment(&mut self, text: &str) {
        self.line(&wrapped(text, WIDTH, "# "));
    }
}

/// A basic string (TOML 1.0, section "String").
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_read_back_unchanged() {
        for text in ["", "/{locale}/a", "a\"b\\c", "é\n\t\u{7f}\u{0}'''", "x = \"\"\"y"] {
            let toml: toml::Table = format!("key = {}", quoted(text)).parse().unwrap();
            assert_eq!(toml["key"].as_str(), Some(text));
        }
    }

    #[test]
    fn comment_has_no_line_without_a_number_sign() {
        let mut out = Lines::default();
        out.comment(&format!("{}\nkey = 1\r\u{85}key = 2\u{2028}x", "word ".repeat(40)));
        assert!(out.0.lines().all(|line| line.starts_with("# ")), "{}", out.0);
    }
}

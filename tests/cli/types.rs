//! `frontend-map types`: the sites of the settings as TypeScript.

use std::path::PathBuf;

use crate::support::service::{Ended, Setup};
use crate::support::settings::{Settings, site};

const HEAD: &str = r#"// Written by `frontend-map types`. Do not edit it: run the command again when the settings change.
import "frontend-map-client";

declare module "frontend-map-client" {
  interface Sites {
"#;

fn types(setup: &Setup, args: &[&str]) -> Ended {
    setup.run(&[&["types"], args].concat())
}

/// The file for a site, or several.
fn written(sites: &str) -> String {
    format!("{HEAD}{sites}  }}\n}}\n")
}

/// Settings for a CMS that does not exist.
fn setup(sites: &str) -> Setup {
    Settings::new().strapi_at("http://127.0.0.1:1").more(sites).setup()
}

fn printed(setup: &Setup, args: &[&str]) -> String {
    let ended = types(setup, args);
    assert_eq!((ended.status, &*ended.stderr), (Some(0), ""), "{args:?}");
    ended.stdout
}

/// Everything that names can have: the characters of keys, UIDs, locales and placeholders.
const HOSTILE: &str = r#"
[[site]]
key = "z.9_-"
locales = ["zh-Hant", "en", { code = "pt_BR", segment = "x", hreflang = "pt-BR" }]
resolve = "documents"
[[site.rule]]
content_type = "plugin::a-b_9.C-d_8"
template = "/{locale}/p/{slug}"
[[site.rule]]
content_type = "api::x.x"
template = "/{locale}/{section?}/{part?}/b-{slug}.html"
[[site.rule]]
content_type = "api::x.x"
template = "/{locale}/x/{slug}"
where = { kind = "x" }
[[site.rule]]
content_type = "api::by-locale.by-locale"
template = { en = "/by/{slug}/{year-1}", "zh-Hant" = "/{locale}/by/{slug}" }
[[site.rule]]
content_type = "api::own.own"
template = "/{locale}/own/{slug}"
path_field = "path"
[[site.rule]]
content_type = "api::tree.tree"
template = "/{locale}/tree/{*path}"
[[site.rule]]
content_type = "api::date.date"
template = "/{publishedAt:year}/{category.slug}/{_1}/{documentId}"
[[site.rule]]
content_type = "api::home.home"
template = "/"
[[site.page]]
name = "search"
path = "/search"
[[site.page]]
name = "a-page"
path = { en = "/a", "zh-Hant" = "/z" }

[[site]]
key = "1"
locales = ["en"]
rule = [{ content_type = "api::x.x", template = "/{slug}" }]
"#;

const SITE_1: &str = r#"    "1": {
      locales: "en";
      pages: never;
      contentTypes: {
        "api::x.x": {
          "/{slug}": { locale: Sites["1"]["locales"]; slug: string };
        };
      };
    };
"#;

const SITE_Z: &str = r#"    "z.9_-": {
      locales: "en" | "pt_BR" | "zh-Hant";
      pages: "a-page" | "search";
      contentTypes: {
        "api::by-locale.by-locale": {
          "/by/{slug}/{year-1}": { locale: Sites["z.9_-"]["locales"]; slug: string; "year-1": string };
          "/{locale}/by/{slug}": { locale: Sites["z.9_-"]["locales"]; slug: string };
        };
        "api::date.date": {
          "/{publishedAt:year}/{category.slug}/{_1}/{documentId}": { locale: Sites["z.9_-"]["locales"]; _1: string; "category.slug": string; documentId: string; "publishedAt:year": string };
        };
        "api::home.home": {
          "/": { locale: Sites["z.9_-"]["locales"] };
        };
        "api::own.own": {
          "/{locale}/own/{slug}": { locale: Sites["z.9_-"]["locales"]; slug?: string };
        };
        "api::tree.tree": {
          "/{locale}/tree/{*path}": { locale: Sites["z.9_-"]["locales"]; path: string };
        };
        "api::x.x": {
          "/{locale}/x/{slug}": { locale: Sites["z.9_-"]["locales"]; slug: string };
          "/{locale}/{section?}/{part?}/b-{slug}.html": { locale: Sites["z.9_-"]["locales"]; part?: string; section?: string; slug: string };
        };
        "plugin::a-b_9.C-d_8": {
          "/{locale}/p/{slug}": { locale: Sites["z.9_-"]["locales"]; slug: string };
        };
      };
    };
"#;

#[test]
fn types_are_those_of_all_sites_in_the_order_of_their_names() {
    let setup = setup(HOSTILE);
    assert_eq!(printed(&setup, &[]), written(&[SITE_1, SITE_Z].concat()));
    assert_eq!(printed(&setup, &["--site", "z.9_-"]), written(SITE_Z));
    let both = ["--site", "z.9_-", "--site", "1", "--site", "1", "--output", "-"];
    assert_eq!(printed(&setup, &both), written(&[SITE_1, SITE_Z].concat()));
}

#[test]
fn order_of_the_settings_does_not_change_the_types() {
    let with = |site: Settings, name| {
        site.rule(&format!("api::{name}.{name}"), &format!("/{name}/{{slug}}"))
    };
    let (a, b) = (["x", "y"], ["y", "x"]);
    let one = a.iter().fold(site("main").locales(&["en", "de"]), with);
    let one = a.iter().fold(one.site("other"), with);
    let other = b.iter().fold(site("other"), with);
    let other = b.iter().fold(other.site("main").locales(&["de", "en"]), with);
    assert_eq!(printed(&one.setup(), &[]), printed(&other.setup(), &[]));
}

#[test]
fn check_fails_until_the_file_is_that_of_the_settings() {
    let setup = setup(HOSTILE);
    let path = setup.path().join("frontend-map.d.ts");
    let file = path.to_str().expect("text").to_owned();
    let check = |args: &[&str]| types(&setup, &[&["--check", "--output", &*file], args].concat());
    let failed = |problem: &str, command: &str| {
        let run = format!("run `frontend-map types{command} --output {file}`");
        (Some(1), format!("frontend-map: {file} {problem}: {run}\n"))
    };
    let result = |ended: Ended| {
        assert_eq!(ended.stdout, "");
        (ended.status, ended.stderr)
    };
    let same = || (Some(0), String::new());
    assert_eq!(result(check(&[])), failed("does not exist", ""));
    assert!(!path.exists());
    assert_eq!(printed(&setup, &["--output", &file]), "");
    let text = std::fs::read_to_string(&path).expect("a file");
    assert_eq!(text, written(&[SITE_1, SITE_Z].concat()));
    assert_eq!(result(check(&[])), same());
    let command = " --site 1";
    assert_eq!(result(check(&["--site", "1"])), failed("differs from the settings", command));
    for (text, expected) in [
        (text.replace('\n', "\r\n").into_bytes(), same()),
        (b"\xff".to_vec(), failed("differs from the settings", "")),
        (text.replace("slug?:", "slug:").into_bytes(), failed("differs from the settings", "")),
    ] {
        std::fs::write(&path, &text).expect("written");
        assert_eq!(result(check(&[])), expected);
        assert_eq!(std::fs::read(&path).expect("a file"), text);
    }
    // `--out` as in other commands.
    assert_eq!(printed(&setup, &["--out", &file]), "");
    assert_eq!(result(check(&[])), same());
}

#[test]
fn failures_say_what_to_do() {
    let setup = setup(HOSTILE);
    let folder: PathBuf = setup.path().to_owned();
    let folder = folder.to_str().expect("text");
    for (args, status, expected) in [
        (&["--site", "main"][..], 2, "frontend-map: unknown site `main`; there are: z.9_-, 1\n"),
        (&["--check"], 2, "--output <FILE>"),
        (&["--check", "--output", "-"], 2, "--check compares a file: name it with --output"),
        (&["--check", "--output", folder], 2, "Is a directory"),
        (&["--output", folder], 2, "is a directory"),
    ] {
        let ended = types(&setup, args);
        assert_eq!((ended.status, &*ended.stdout), (Some(status), ""), "{args:?}");
        assert!(ended.stderr.contains(expected), "{args:?}: {}", ended.stderr);
    }
    let invalid = Setup::new("[[site]]\nkey = \"\"\n");
    assert_eq!(types(&invalid, &[]).status, Some(78));
}

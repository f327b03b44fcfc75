//! `frontend-map init` in front of scripted CMSs.

mod errors;
mod reading;
mod schema;

use crate::support::cms::Cms;
use crate::support::front_of_cms::{TOKEN, list, refusal};
use crate::support::script::Script;
use crate::support::service::{Ended, Setup};

const SCHEMAS: &str = "/api/content-type-builder/content-types";
const LOCALES: &str = "/api/i18n/locales";

/// The locales as Strapi lists them.
fn locales(codes: &[&str], default: &str) -> Script {
    let row = |code: &&str| {
        let is_default = *code == default;
        format!(
            r#"{{"id":1,"documentId":"l","code":"{code}","name":"x","isDefault":{is_default}}}"#
        )
    };
    let rows: Vec<String> = codes.iter().map(row).collect();
    Script::json(200, &format!("[{}]", rows.join(",")))
}

/// A content type as Strapi lists it: the UID, `collectionType` or `singleType`, the names, whether
/// it is localized, and its attributes.
type Schema = (&'static str, &'static str, [&'static str; 2], bool, &'static str);

fn schemas(types: &[Schema]) -> Script {
    let entry = |(uid, kind, [singular, plural], localized, attributes): &Schema| {
        format!(
            r#"{{"uid":"{uid}","apiID":"x","schema":{{"draftAndPublish":true,"displayName":"X","singularName":"{singular}","pluralName":"{plural}","description":"","kind":"{kind}","visible":true,"pluginOptions":{{"i18n":{{"localized":{localized}}}}},"attributes":{attributes}}}}}"#
        )
    };
    let entries: Vec<String> = types.iter().map(entry).collect();
    Script::json(200, &format!(r#"{{"data":[{}]}}"#, entries.join(",")))
}

fn denied() -> Script {
    refusal(403, "ForbiddenError", "{}")
}

fn not_found() -> Script {
    refusal(404, "NotFoundError", "{}")
}

/// Documents with these values of a field.
fn documents(field: &str, values: &[&str]) -> Script {
    let rows: Vec<(&str, String)> =
        values.iter().map(|value| ("d", format!(r#","{field}":"{value}""#))).collect();
    let rows: Vec<(&str, &str)> = rows.iter().map(|(id, more)| (*id, more.as_str())).collect();
    list(&rows, 100, rows.len())
}

fn setup() -> Setup {
    Setup::without_settings().unconfigured().env("FRONTEND_MAP__CMS__TOKEN", TOKEN)
}

/// The command in front of this CMS.
fn init(setup: &Setup, cms: &Cms, more: &[&str]) -> Ended {
    let url = format!("http://{}", cms.addr());
    let ended = setup.run(&[&["init", "--cms", &url], more].concat());
    assert!(!ended.stdout.contains(TOKEN) && !ended.stderr.contains(TOKEN), "the token is printed");
    ended
}

/// The settings that the command prints, without the address of the CMS, and what it says.
fn printed(cms: &Cms, more: &[&str]) -> (String, String) {
    let ended = init(&setup(), cms, &[&["--out", "-"], more].concat());
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    (ended.stdout.replace(&cms.addr().to_string(), "CMS"), ended.stderr)
}

/// The lines of settings alone.
fn without_comments(settings: &str) -> Vec<&str> {
    settings.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

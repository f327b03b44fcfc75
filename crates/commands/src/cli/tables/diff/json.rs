//! The changes as one JSON document.

use std::io::{self, Write};

use serde::Serialize;

use super::site_diff::{Counts, SiteDiff};

/// The members of a content type.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Type<'d> {
    content_type: &'d str,
    #[serde(flatten)]
    counts: Counts,
}

/// Writes the document; the changes are written one by one, because there may be millions.
pub(super) fn write(diffs: &[SiteDiff], out: &mut dyn Write) -> io::Result<()> {
    let affected: u64 = diffs.iter().map(SiteDiff::affected).sum();
    write!(out, "{{\"affected\":{affected},\"sites\":[")?;
    for (position, diff) in diffs.iter().enumerate() {
        out.write_all(if position == 0 { b"" } else { b"," })?;
        write_site(diff, out)?;
    }
    out.write_all(b"]}\n")
}

fn write_site(diff: &SiteDiff, out: &mut dyn Write) -> io::Result<()> {
    let types = diff.types.iter().map(|own| Type { content_type: &own.uid, counts: own.counts });
    let types: Vec<Type<'_>> = types.collect();
    write!(out, "{{\"site\":{}", text(&diff.key)?)?;
    if let Some(urls) = &diff.base_urls {
        write!(out, ",\"baseUrls\":{}", text(urls)?)?;
    }
    write!(out, ",\"totals\":{},\"contentTypes\":{}", text(&diff.totals())?, text(&types)?)?;
    out.write_all(b",\"changes\":[")?;
    let rows = diff.types.iter().flat_map(|own| diff.rows(own));
    for (position, row) in rows.enumerate() {
        out.write_all(if position == 0 { b"" } else { b"," })?;
        out.write_all(text(&row)?.as_bytes())?;
    }
    write!(out, "],\"collisions\":{}", text(&diff.collisions)?)?;
    if let Some(redirects) = &diff.redirects {
        write!(out, ",\"redirects\":{}", text(redirects)?)?;
    }
    write!(out, ",\"moreCollisions\":{}}}", diff.more_collisions)
}

fn text(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(value)?)
}

//! The changes as text, for people.

use std::io::{self, Write};

use super::collisions::{Collision, Version};
use super::redirects::{RedirectChange, RedirectDiff, RedirectKind, RedirectTarget};
use super::site_diff::{Counts, Kind, Row, SiteDiff, TypeDiff};
use crate::cli::output::terminal::{Colours, Style};
use crate::cli::output::words::{count, digits};
use frontend_map_outbound::checks::report::Visible;

/// How many changes of one kind and content type are listed.
const MAX_LISTED: usize = 5;

/// The columns of the table.
const COLUMNS: [&str; 6] = ["paths", "move", "vanish", "appear", "collide", "after"];

const KINDS: [(Kind, &str); 3] =
    [(Kind::Moved, "move"), (Kind::Vanished, "vanish"), (Kind::Appeared, "appear")];

const REDIRECT_KINDS: [(RedirectKind, Style, &str, &str); 3] = [
    (RedirectKind::Changed, Style::Warning, "changes", "change"),
    (RedirectKind::Ended, Style::Bad, "ends", "end"),
    (RedirectKind::Began, Style::Good, "begins", "begin"),
];

/// How the changes are listed.
#[derive(Clone, Copy)]
struct Listing {
    all: bool,
    colours: Colours,
}

impl Listing {
    /// How many changes of one kind are listed.
    fn most(self) -> usize {
        if self.all { usize::MAX } else { MAX_LISTED }
    }
}

/// Writes a table for each site, and its first changes or all of them.
pub(super) fn write(
    diffs: &[SiteDiff],
    all: bool,
    colours: Colours,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (position, diff) in diffs.iter().enumerate() {
        out.write_all(if position == 0 { b"" } else { b"\n" })?;
        write_site(diff, Listing { all, colours }, out)?;
    }
    Ok(())
}

fn write_site(diff: &SiteDiff, list: Listing, out: &mut dyn Write) -> io::Result<()> {
    let totals = diff.totals();
    writeln!(out, "site {}: {}", diff.key, verdict(diff, list.colours))?;
    if let Some([before, after]) = &diff.base_urls {
        let note = list.colours.apply(Style::Warning, "the base URL changes");
        writeln!(out, "  {note}: {before} → {after}, and with it each URL")?;
    }
    if !totals.is_unchanged() {
        write_table(diff, list.colours, out)?;
        for own in &diff.types {
            for (kind, word) in KINDS {
                write_kind(diff, own, kind, word, list, out)?;
            }
        }
        write_collisions(diff, list, out)?;
    }
    diff.redirects.as_ref().map_or(Ok(()), |redirects| write_redirects(redirects, list, out))
}

/// The sums in words.
fn verdict(diff: &SiteDiff, colours: Colours) -> String {
    let totals = diff.totals();
    let things = |thing: &str, number: u64, one: &str, many: &str| {
        format!("{} {}", count(number, thing), if number == 1 { one } else { many })
    };
    let paths = |number, one: &str, many: &str| things("path", number, one, many);
    let parts = [
        (totals.moved, Style::Warning, paths(totals.moved, "moves", "move")),
        (totals.vanished, Style::Bad, paths(totals.vanished, "vanishes", "vanish")),
        (totals.appeared, Style::Good, paths(totals.appeared, "appears", "appear")),
        (totals.collisions, Style::Bad, paths(totals.collisions, "collides", "collide")),
    ];
    let of_redirects = REDIRECT_KINDS.map(|(kind, style, one, many)| {
        let number = diff.redirects.as_ref().map_or(0, |redirects| redirects.of(kind));
        (number, style, things("redirect", number, one, many))
    });
    let parts = parts.into_iter().chain(of_redirects).filter(|(number, ..)| *number > 0);
    let parts: Vec<_> = parts.map(|(_, style, text)| colours.apply(style, text)).collect();
    if parts.is_empty() {
        let text = match diff.redirects {
            Some(_) => "no path and no redirect changes",
            None => "no path changes",
        };
        return colours.apply(Style::Good, text);
    }
    parts.join(", ")
}

fn write_table(diff: &SiteDiff, colours: Colours, out: &mut dyn Write) -> io::Result<()> {
    let width = diff.types.iter().map(|own| own.uid.len()).max().unwrap_or_default().max(12);
    let heading = COLUMNS.map(|name| format!("{name:>11}")).concat();
    let heading = format!("{:width$}{heading}", "content type");
    writeln!(out, "\n  {}", colours.apply(Style::Heading, heading))?;
    for own in &diff.types {
        let Counts { before, after, moved, vanished, appeared, collisions } = own.counts;
        let numbers = [before, moved, vanished, appeared, collisions, after];
        let numbers = numbers.map(|one| format!("{:>11}", digits(one))).concat();
        writeln!(out, "  {:width$}{numbers}", own.uid)?;
    }
    Ok(())
}

/// The changes of one kind; nothing if there are none.
fn write_kind(
    diff: &SiteDiff,
    own: &TypeDiff,
    kind: Kind,
    word: &str,
    list: Listing,
    out: &mut dyn Write,
) -> io::Result<()> {
    let number = own.counts.of(kind);
    if number == 0 {
        return Ok(());
    }
    let heading = list.colours.apply(Style::Heading, format!("{word}: {}", own.uid));
    writeln!(out, "\n  {heading}")?;
    let rows = diff.rows(own).filter(|row| row.kind == kind);
    for row in rows.take(list.most()) {
        writeln!(out, "    {}", line(&row))?;
    }
    write_rest(number.saturating_sub(list.most() as u64), out)
}

fn write_collisions(diff: &SiteDiff, list: Listing, out: &mut dyn Write) -> io::Result<()> {
    if diff.collisions.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n  {}", list.colours.apply(Style::Heading, "collide"))?;
    let most = list.most();
    for Collision { path, versions } in diff.collisions.iter().take(most) {
        let versions: Vec<String> = versions.iter().map(version).collect();
        writeln!(out, "    {}  {}", Visible(path), versions.join(", "))?;
    }
    write_rest(diff.collisions.len().saturating_sub(most) as u64, out)?;
    if diff.more_collisions {
        writeln!(out, "    There are more: at most 10,000 are compared for a content type.")?;
    }
    Ok(())
}

/// The redirects that change, end or begin.
fn write_redirects(redirects: &RedirectDiff, list: Listing, out: &mut dyn Write) -> io::Result<()> {
    for (kind, _, _, word) in REDIRECT_KINDS {
        let number = redirects.of(kind);
        if number == 0 {
            continue;
        }
        writeln!(
            out,
            "\n  {}",
            list.colours.apply(Style::Heading, format!("redirects that {word}"))
        )?;
        let changes = redirects.changes.iter().filter(|change| change.kind == kind);
        for RedirectChange { document_id, locale, path, host, from, to, .. } in
            changes.take(list.most())
        {
            let targets = [from, to].into_iter().flatten().map(redirect_target);
            let targets: Vec<String> = targets.collect();
            let (place, targets) = (place(host.as_deref(), Some(path)), targets.join(" → "));
            writeln!(out, "    {place}  {targets}  {} {locale}", Visible(document_id))?;
        }
        write_rest(number.saturating_sub(list.most() as u64), out)?;
    }
    Ok(())
}

/// The status and the target, such as `308 /en/a, before a live page`.
fn redirect_target(RedirectTarget { target, status, force }: &RedirectTarget) -> String {
    let target = target.as_ref().map(|target| format!(" {}", Visible(target))).unwrap_or_default();
    let force = if *force { ", before a live page" } else { "" };
    format!("{status}{target}{force}")
}

fn write_rest(more: u64, out: &mut dyn Write) -> io::Result<()> {
    match more {
        0 => Ok(()),
        more => writeln!(out, "    and {} more: --all", digits(more)),
    }
}

fn version(version: &Version) -> String {
    let Version { content_type, document_id, locale } = version;
    format!("{content_type} {} {locale}", Visible(document_id))
}

/// Paths are printable: everything else in them is percent-encoded.
fn line(row: &Row<'_>) -> String {
    let from = place(row.from_host, row.from);
    let to = place(row.to_host, row.to);
    let arrow = if row.kind == Kind::Moved { " → " } else { "" };
    format!("{from}{arrow}{to}  {} {}", Visible(row.document_id), row.locale)
}

fn place(host: Option<&str>, path: Option<&str>) -> String {
    path.map(|path| format!("{}{path}", host.unwrap_or_default())).unwrap_or_default()
}

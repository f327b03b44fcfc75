//! Redirects as the file `_redirects` (<https://docs.netlify.com/routing/redirects/>).

use std::io::{self, Write};

use super::row::{Place, Row};

/// Writes a rule on each line: from, to, status.
pub(super) fn write(rows: &[Row], place: &Place<'_>, out: &mut dyn Write) -> io::Result<()> {
    for row in rows {
        // Netlify takes the scheme of the request.
        let host = place.host(row).map(|host| format!("https://{host}")).unwrap_or_default();
        let from = literal(&format!("{}{}", place.prefix(row), row.from));
        let (to, status) = (target(place.target(row)), status(row.status));
        writeln!(out, "{host}{from} {to} {status}")?;
    }
    Ok(())
}

/// The statuses of redirects that Netlify knows are 301 and 302.
fn status(status: u16) -> u16 {
    match status {
        308 => 301,
        307 => 302,
        other => other,
    }
}

/// A URL keeps its scheme and its port.
fn target(target: &str) -> String {
    let authority = target.find("://").map_or(0, |at| at + "://".len());
    let path = target[authority..].find('/').map_or(target.len(), |at| authority + at);
    format!("{}{}", &target[..path], literal(&target[path..]))
}

/// A path without the signs of placeholders and comments, and without spaces.
fn literal(path: &str) -> String {
    let encode = |character: char| match character {
        ':' | '*' | '#' | ' ' => format!("%{:02X}", u32::from(character)),
        other => other.to_string(),
    };
    path.chars().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_has_no_sign_of_a_placeholder() {
        assert_eq!(literal("/a:b/*/c d#e%20f"), "/a%3Ab/%2A/c%20d%23e%20f");
        assert_eq!(target("https://a.example:8443/x:y*"), "https://a.example:8443/x%3Ay%2A");
        assert_eq!(target("/x"), "/x");
        assert_eq!([308, 307, 301, 302].map(status), [301, 302, 301, 302]);
    }
}

//! The rules and the pathnames of the look-ups.

/// The number of pathnames, which are looked up in turn.
const PATHS: usize = 4096;

/// A kind of rule set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    /// No path matches two rules.
    Apart,
    /// Most paths match several.
    Overlapping,
    /// `/a/…` and `/{p}/…` in all combinations, and at the end a rule that no path matches.
    Ladder,
}

impl Set {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Apart => "No overlaps",
            Self::Overlapping => "Overlapping: static, mixed, plain and catch-all side by side",
            Self::Ladder => "Ladder: every combination of `a` and a placeholder, for `/a/a/a/…`",
        }
    }

    /// A look-up in a longer ladder takes `wayfind` milliseconds.
    pub(crate) fn most_rules(self) -> usize {
        if self == Self::Ladder { 10_000 } else { 100_000 }
    }

    /// `size` templates, each once.
    pub(crate) fn templates(self, size: usize) -> Vec<String> {
        (0..size).map(|at| self.template(at, size)).collect()
    }

    fn template(self, at: usize, size: usize) -> String {
        match (self, at % 4) {
            (Self::Apart, 0) => format!("/en/topic-{at}/{{slug}}"),
            (Self::Apart, 1) => format!("/en/topic-{at}/{{year}}/{{slug}}"),
            (Self::Apart, 2) => format!("/area-{at}/about"),
            (Self::Apart, _) => format!("/docs-{at}/{{*path}}"),
            (Self::Overlapping, _) if at == 3 => "/{*path}".to_owned(),
            (Self::Overlapping, 0) => format!("/en/topic-{at}/{{slug}}"),
            (Self::Overlapping, 1) => format!("/{{locale}}/topic-{}/{{slug}}", at - 1),
            (Self::Overlapping, 2) => format!("/en/{{category}}/item-{at}"),
            (Self::Overlapping, _) => format!("/{{locale}}/{{category}}/{{slug}}.type-{at}"),
            (Self::Ladder, _) => {
                let steps = (size - 1).max(1).ilog2() + 1;
                let step = |step: u32| match at >> step & 1 {
                    0 => "/a".to_owned(),
                    _ => format!("/{{p{step}}}"),
                };
                (0..steps).map(step).collect::<String>() + "/z"
            }
        }
    }
}

/// Positions from the whole set, in random order.
fn positions(size: usize) -> impl Iterator<Item = usize> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    (0..PATHS).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % size as u64).unwrap_or_default()
    })
}

/// Pathnames that match.
pub(crate) fn hits(set: Set, size: usize) -> Vec<String> {
    let hit = |at: usize| {
        let words = [
            ("{slug}", "hello-world"),
            ("{year}", "2024"),
            ("{*path}", "guide/install"),
            ("{locale}", "de"),
            ("{category}", "news"),
        ];
        let text = set.template(at, size);
        let text = words.iter().fold(text, |text, (name, word)| text.replace(name, word));
        text.split('/')
            .map(|part| if part.starts_with("{p") { "b" } else { part })
            .collect::<Vec<_>>()
            .join("/")
    };
    positions(size).map(hit).collect()
}

/// Pathnames that match nothing, found as late as possible.
pub(crate) fn misses(set: Set, size: usize) -> Vec<String> {
    let miss = |at: usize| match set {
        Set::Apart => match at % 3 {
            0 => format!("/en/topic-{at}/2024/hello-world/comments/7"),
            1 => format!("/en/topic-{at}x/hello-world"),
            _ => format!("/area-{at}/contact"),
        },
        // The catch-all matches everything but segments that never match.
        Set::Overlapping => format!("/en/topic-{at}/hello-world/%2e%2e"),
        Set::Ladder => {
            let hit = set.template(0, size);
            hit.replace("/z", if at.is_multiple_of(2) { "/y" } else { "/a" })
        }
    };
    positions(size).map(miss).collect()
}

/// Pathnames of 2,048 bytes, as vulnerability scanners send.
pub(crate) fn long_paths(set: Set) -> Vec<String> {
    let first = if set == Set::Apart { "/en/topic-0" } else { "" };
    ["/a", "/aaaaaaaaaaaaaaa", "/en", "/%61"]
        .map(|part| {
            let mut path = first.to_owned();
            while path.len() + part.len() <= 2048 {
                path += part;
            }
            path
        })
        .into()
}

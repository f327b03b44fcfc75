//! Generates scripts from a seed.

/// `SplitMix64`: any seed gives a good stream, the same one everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % end as u64).expect("less than `end`")
    }

    /// In so many of a hundred cases.
    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// A fault of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// RST instead of an answer.
    Reset,
    /// The connection ends within the body.
    CutOff,
    /// 500.
    Status500,
    /// 429, which is not retried at once.
    Status429,
    /// A total that is too small, too large or nothing.
    WrongTotal,
    /// The previous page instead of the next one. Not instead of a first page or a total: rows and
    /// totals that are false in the same way, or on both sides of the truth, are accepted by D23.
    /// Nor instead of documents by their ids: one that is missing twice counts as unpublished.
    Repeated,
    /// `$gt` is ignored.
    FromTheStart,
    /// No paging in the answer.
    NoEcho,
    /// The rows in another order.
    Shuffled,
    /// A smaller page than asked for, which says so.
    Clamped,
    /// One more row than a page has.
    OverFull,
    /// HTML with 200.
    Html,
    /// A row is missing from a page, though the total counts it.
    LostRow,
    /// A row that the service has listed before is missing, neither counted nor noticeable by the
    /// length of the page: the next one takes its place.
    Skipped,
}

const KINDS: [Fault; 14] = [
    Fault::Reset,
    Fault::CutOff,
    Fault::Status500,
    Fault::Status429,
    Fault::WrongTotal,
    Fault::Repeated,
    Fault::FromTheStart,
    Fault::NoEcho,
    Fault::Shuffled,
    Fault::Clamped,
    Fault::OverFull,
    Fault::Html,
    Fault::LostRow,
    Fault::Skipped,
];
/// Rows are lost, and little else goes wrong.
const LOSSY: [Fault; 5] =
    [Fault::LostRow, Fault::Skipped, Fault::Reset, Fault::Clamped, Fault::Status500];

/// How much happens in a script.
pub(super) struct Plan {
    /// Documents at the beginning.
    pub(super) documents: usize,
    /// What the CMS clamps page sizes to.
    pub(super) page_size: usize,
    /// Chance of a change before a request, in percent, and of yet another one.
    pub(super) changes: usize,
    /// Chance that an answer is faulty, in percent.
    pub(super) faults: usize,
    pub(super) kinds: &'static [Fault],
}

impl Plan {
    pub(super) fn generate(random: &mut Random) -> Self {
        let lossy = random.percent(20);
        Self {
            documents: random.one_of(&[0, 1, 3, 8, 15, 30]),
            page_size: 1 + random.below(7),
            changes: random.one_of(&[0, 10, 30, 60]),
            faults: random.one_of(&[0, 2, 5, 15, 40]),
            kinds: if lossy { &LOSSY } else { &KINDS },
        }
    }
}

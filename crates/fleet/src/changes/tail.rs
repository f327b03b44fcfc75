//! The last part of a log that was read. A Redis that was restored to an earlier state may have
//! other changes with the same sequence numbers.

/// How many bytes of the seal of a part distinguish it from others.
const LENGTH: usize = 16;

/// A part of a log, by its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// The identity of the log.
    pub(super) log: u64,
    /// The sequence number of its last change.
    pub(super) last: u64,
    /// The last bytes of its seal.
    pub(super) seal: Vec<u8>,
}

impl Tail {
    /// The part with this last change, and its sealed bytes.
    pub(super) fn of(log: u64, last: u64, sealed: &[u8]) -> Self {
        Self { log, last, seal: sealed[sealed.len().saturating_sub(LENGTH)..].to_vec() }
    }

    /// The later part of this one and `next`, which was read after it.
    pub(super) fn or_later(self, next: Self) -> Self {
        if self.log == next.log && self.last > next.last { self } else { next }
    }

    /// Whether the other part has the same log and last change, and differs.
    pub(super) fn contradicts(&self, other: &Self) -> bool {
        (self.log, self.last) == (other.log, other.last) && self.seal != other.seal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_part_in_the_same_place_is_noticed() {
        let sealed = |byte: u8| [vec![1; 30], vec![byte; 16]].concat();
        let tail = Tail::of(1, 7, &sealed(2));
        assert_eq!(tail.seal, [2; 16]);
        assert!(tail.contradicts(&Tail::of(1, 7, &sealed(3))));
        assert!(!tail.contradicts(&Tail::of(1, 7, &sealed(2))));
        assert!(!tail.contradicts(&Tail::of(1, 8, &sealed(3))));
        assert!(!tail.contradicts(&Tail::of(2, 7, &sealed(3))));
        assert_eq!(Tail::of(1, 1, b"short").seal, b"short");
    }

    #[test]
    fn tail_is_the_last_part_of_the_newest_log() {
        let [old, one, two] = [(1, 9), (2, 1), (2, 2)].map(|(log, last)| Tail::of(log, last, b"x"));
        assert_eq!(old.or_later(one.clone()), one);
        assert_eq!(one.clone().or_later(two.clone()), two);
        assert_eq!(two.clone().or_later(one), two);
    }
}

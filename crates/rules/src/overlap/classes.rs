//! Classes of bytes that an automaton does not distinguish.

use smallvec::SmallVec;

/// A partition of the bytes.
pub(super) struct Classes {
    /// The class of each byte.
    pub(super) of: Box<[u8; 256]>,
    pub(super) count: usize,
}

impl Default for Classes {
    fn default() -> Self {
        Self { of: Box::new([0; 256]), count: 1 }
    }
}

impl Classes {
    /// Divides each class by the value that a function gives for its bytes.
    pub(super) fn split(&mut self, of: impl Fn(u8) -> u8) {
        let mut known: SmallVec<[[u8; 2]; 32]> = SmallVec::new();
        for byte in 0..=u8::MAX {
            let class = &mut self.of[usize::from(byte)];
            let pair = [*class, of(byte)];
            let at = known.iter().position(|known| *known == pair).unwrap_or_else(|| {
                known.push(pair);
                known.len() - 1
            });
            *class = u8::try_from(at).expect("there are 256 bytes");
        }
        self.count = known.len();
    }

    /// Gives each of these bytes its own class.
    pub(super) fn split_off(&mut self, bytes: impl Iterator<Item = u8>) {
        let mut own = [0; 256];
        let mut any = false;
        for byte in bytes {
            own[usize::from(byte)] = byte;
            any = true;
        }
        if any {
            self.split(|byte| own[usize::from(byte)]);
        }
    }

    /// The first byte of each class in the list.
    pub(super) fn representatives(&self, bytes: impl Iterator<Item = u8>) -> SmallVec<[u8; 32]> {
        let mut seen = [false; 256];
        let new = |byte: &u8| {
            let class = usize::from(self.of[usize::from(*byte)]);
            !std::mem::replace(&mut seen[class], true)
        };
        bytes.filter(new).collect()
    }
}

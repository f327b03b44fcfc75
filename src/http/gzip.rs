//! A text compressed piece by piece (RFC 1952), each by itself: between two pieces a reader costs no
//! window and no tables, which are a third of a megabyte, and readers may be many and slow.

use std::cell::RefCell;

use flate2::{Compress, Compression, Crc, FlushCompress};

/// Fast: a list of URLs shrinks to a tenth at any level.
const LEVEL: Compression = Compression::new(1);

/// No name, no time, the fastest level, an unknown system.
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];
/// An empty last block.
const LAST: [u8; 2] = [3, 0];

thread_local! {
    /// The window and the tables of all who are served by this thread.
    static DEFLATE: RefCell<Compress> = RefCell::new(Compress::new(LEVEL, false));
}

/// What has to be known of the pieces so far.
pub(super) struct Gzip(Crc);

impl Gzip {
    /// Begins a text.
    pub(super) fn begin(out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(&HEAD);
        Self(Crc::new())
    }

    /// Adds a piece of it.
    pub(super) fn add(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        self.0.update(piece);
        DEFLATE.with_borrow_mut(|deflate| compress(deflate, piece, out));
    }

    /// Ends it.
    pub(super) fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&LAST);
        out.extend_from_slice(&self.0.sum().to_le_bytes());
        out.extend_from_slice(&self.0.amount().to_le_bytes());
    }
}

/// Whole blocks that refer to nothing before them, up to the end of a byte.
fn compress(deflate: &mut Compress, piece: &[u8], out: &mut Vec<u8>) {
    deflate.reset();
    let mut left = piece;
    loop {
        out.reserve(piece.len() / 4 + 64);
        let before = deflate.total_in();
        // It fails only where a stream is used on after its end, and this one has none.
        let _ = deflate.compress_vec(left, out, FlushCompress::Sync);
        let taken = usize::try_from(deflate.total_in() - before).unwrap_or(usize::MAX);
        left = left.get(taken..).unwrap_or_default();
        // Room that is left says that nothing waits for more.
        if left.is_empty() && out.len() < out.capacity() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    fn round_trip(pieces: &[Vec<u8>]) {
        let mut out = Vec::new();
        let mut gzip = Gzip::begin(&mut out);
        for piece in pieces {
            gzip.add(piece, &mut out);
        }
        gzip.end(&mut out);
        let mut decoder = GzDecoder::new(&*out);
        let mut back = Vec::new();
        decoder.read_to_end(&mut back).expect("gzip");
        assert_eq!(back, pieces.concat());
        assert!(decoder.into_inner().is_empty(), "one member and nothing behind it");
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let repeated = b"https://www.example.com/en/articles/a".repeat(2000);
        let mut number = 1_u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (number >> 24) as u8
        })
        .take(100_000)
        .collect();
        round_trip(&[]);
        round_trip(&[Vec::new(), b"a".to_vec(), Vec::new()]);
        round_trip(&[repeated.clone(), noise.clone(), repeated.clone(), repeated, noise]);
        // Every length of output meets every length of what is reserved.
        for length in 0..600 {
            round_trip(&[vec![b'x'; length], number.to_le_bytes().repeat(length / 3)]);
        }
    }
}

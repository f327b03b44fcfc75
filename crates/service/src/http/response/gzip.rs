//! Compresses a text in independent chunks (RFC 1952): between two chunks a body stores no window and
//! no tables, which take a third of a megabyte, and there may be many slow clients.

use std::cell::RefCell;

use flate2::{Compress, Compression, Crc, FlushCompress};

/// The fastest: a list of URLs shrinks to a tenth at any level.
const LEVEL: Compression = Compression::new(1);

/// No name, no time, the fastest level, an unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];
/// An empty last block.
const LAST_BLOCK: [u8; 2] = [3, 0];

thread_local! {
    /// The window and the tables, shared by all bodies that this thread makes.
    static DEFLATE: RefCell<Compress> = RefCell::new(Compress::new(LEVEL, false));
}

/// The checksum and the length of the chunks so far.
pub(super) struct Gzip(Crc);

impl Gzip {
    /// Writes the header.
    pub(super) fn begin(out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(&HEADER);
        Self(Crc::new())
    }

    /// Compresses a chunk.
    pub(super) fn add(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.0.update(chunk);
        DEFLATE.with_borrow_mut(|deflate| compress(deflate, chunk, out));
    }

    /// Writes the last block and the trailer.
    pub(super) fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&LAST_BLOCK);
        out.extend_from_slice(&self.0.sum().to_le_bytes());
        out.extend_from_slice(&self.0.amount().to_le_bytes());
    }
}

/// Writes whole blocks that refer to nothing before them and end at a byte boundary.
fn compress(deflate: &mut Compress, chunk: &[u8], out: &mut Vec<u8>) {
    deflate.reset();
    let mut rest = chunk;
    loop {
        out.reserve(chunk.len() / 4 + 64);
        let before = deflate.total_in();
        deflate.compress_vec(rest, out, FlushCompress::Sync).expect(
            "compression fails only after the end of a stream, and this one is never ended",
        );
        let read = usize::try_from(deflate.total_in() - before);
        rest = &rest[read.expect("no more than a slice is read")..];
        // Remaining capacity means that no output is pending.
        if rest.is_empty() && out.len() < out.capacity() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    fn round_trip(chunks: &[Vec<u8>]) {
        let mut out = Vec::new();
        let mut gzip = Gzip::begin(&mut out);
        for chunk in chunks {
            gzip.add(chunk, &mut out);
        }
        gzip.end(&mut out);
        let mut reader = GzDecoder::new(&*out);
        let mut decoded = Vec::new();
        reader.read_to_end(&mut decoded).expect("gzip");
        assert_eq!(decoded, chunks.concat());
        assert!(reader.into_inner().is_empty(), "one member and nothing after it");
    }

    #[test]
    fn gzip_round_trip_returns_the_chunks() {
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
        // Combines each length of the output with each reserved capacity.
        for length in 0..600 {
            round_trip(&[vec![b'x'; length], number.to_le_bytes().repeat(length / 3)]);
        }
    }
}

//! A gzip bomb, made by hand: no compressor is needed elsewhere.

/// `{"data":"aaa…` of at least `length` bytes, compressed about 158 times: one block of DEFLATE with
/// fixed codes (RFC 1951, 3.2.6), in which a match of 258 bytes at distance 1 takes 13 bits.
pub(crate) fn gzip_bomb(length: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(0b011, 3);
    for literal in *b"{\"data\":\"a" {
        bits.push_code(0x30 + u32::from(literal), 8);
    }
    for _ in 0..length.div_ceil(258) {
        bits.push_code(0b1100_0101, 8);
        bits.push_code(0, 5);
    }
    bits.push_code(0, 7);
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    // The check sum is wrong, and never reached.
    [&header[..], &bits.bytes, &[0; 9]].concat()
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    /// Plain numbers go in from their lowest bit.
    fn push(&mut self, value: u32, count: u32) {
        for bit in 0..count {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let byte = self.bytes.last_mut().expect("just pushed");
            *byte |= u8::from(value >> bit & 1 == 1) << (self.used % 8);
            self.used += 1;
        }
    }

    /// Huffman codes go in from their highest bit.
    fn push_code(&mut self, code: u32, count: u32) {
        self.push(code.reverse_bits() >> (32 - count), count);
    }
}

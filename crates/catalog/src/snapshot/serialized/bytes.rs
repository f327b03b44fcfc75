//! Numbers and texts as bytes.

use super::Unreadable;

/// The bits of a number in each of its bytes; the highest bit says whether more bytes follow.
const BITS: u32 = 7;
const MORE: u8 = 1 << BITS;

const TRUNCATED: Unreadable = Unreadable::Malformed("it ends too early");
const NUMBER: Unreadable = Unreadable::Malformed("a number is too large");

/// Appends a number: small ones take one byte (LEB128).
pub(crate) fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= u64::from(MORE) {
        bytes.push(low_bits(number) | MORE);
        number >>= BITS;
    }
    bytes.push(low_bits(number));
}

fn low_bits(number: u64) -> u8 {
    u8::try_from(number & u64::from(MORE - 1)).expect("seven bits")
}

/// Appends a number that may be negative: those close to 0 take one byte.
pub(crate) fn write_signed(bytes: &mut Vec<u8>, number: i64) {
    // The sign is the lowest bit.
    write_number(bytes, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

/// Appends a text with its length.
pub(crate) fn write_text(bytes: &mut Vec<u8>, text: &str) {
    write_number(bytes, text.len() as u64);
    bytes.extend(text.as_bytes());
}

/// Reads what these functions have written.
pub(crate) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Unreadable> {
        let (first, rest) = self.0.split_first().ok_or(TRUNCATED)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(crate) fn number(&mut self) -> Result<u64, Unreadable> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(BITS as usize) {
            let byte = self.byte()?;
            let bits = u64::from(byte & (MORE - 1));
            if (bits << shift) >> shift != bits {
                return Err(NUMBER);
            }
            number |= bits << shift;
            if byte & MORE == 0 {
                return Ok(number);
            }
        }
        Err(NUMBER)
    }

    pub(crate) fn signed(&mut self) -> Result<i64, Unreadable> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// A number of a narrower type.
    pub(crate) fn narrow<T: TryFrom<u64>>(&mut self) -> Result<T, Unreadable> {
        T::try_from(self.number()?).map_err(|_| NUMBER)
    }

    /// How many bytes, or things of at least one byte each, follow: no more than there are.
    pub(crate) fn count(&mut self) -> Result<usize, Unreadable> {
        let count = self.narrow()?;
        if count <= self.0.len() { Ok(count) } else { Err(TRUNCATED) }
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'b [u8], Unreadable> {
        let (own, rest) = self.0.split_at_checked(length).ok_or(TRUNCATED)?;
        self.0 = rest;
        Ok(own)
    }

    pub(crate) fn text(&mut self, length: usize) -> Result<&'b str, Unreadable> {
        let text = std::str::from_utf8(self.bytes(length)?);
        text.map_err(|_| Unreadable::Malformed("a text is not UTF-8"))
    }

    /// A text with its length.
    pub(crate) fn sized_text(&mut self) -> Result<&'b str, Unreadable> {
        let length = self.count()?;
        self.text(length)
    }

    /// Eight bytes, the lowest first.
    pub(crate) fn word(&mut self) -> Result<u64, Unreadable> {
        let bytes = self.bytes(size_of::<u64>())?;
        Ok(u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }

    pub(crate) fn rest(self) -> &'b [u8] {
        self.0
    }

    /// Nothing must be left.
    pub(crate) fn end(self) -> Result<(), Unreadable> {
        if self.0.is_empty() { Ok(()) } else { Err(Unreadable::Malformed("bytes are left over")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_written() {
        let around = |n: u64| [n.wrapping_sub(1), n, n.wrapping_add(1)];
        let numbers: Vec<u64> = (0..64).flat_map(|bit| around(1 << bit)).collect();
        let mut bytes = Vec::new();
        for number in &numbers {
            write_number(&mut bytes, *number);
            write_signed(&mut bytes, number.cast_signed());
        }
        write_text(&mut bytes, "é");
        let mut reader = Reader::new(&bytes);
        for number in numbers {
            assert_eq!(reader.number(), Ok(number));
            assert_eq!(reader.signed(), Ok(number.cast_signed()));
        }
        assert_eq!(reader.sized_text(), Ok("é"));
        assert_eq!(reader.end(), Ok(()));
    }

    #[test]
    fn impossible_numbers_are_refused() {
        assert_eq!(Reader::new(&[0xff; 9]).number(), Err(TRUNCATED));
        assert_eq!(Reader::new(&[0xff; 10]).number(), Err(NUMBER));
        let largest = [[0xff; 9].as_slice(), &[1]].concat();
        assert_eq!(Reader::new(&largest).number(), Ok(u64::MAX));
        let larger = [[0xff; 9].as_slice(), &[2]].concat();
        assert_eq!(Reader::new(&larger).number(), Err(NUMBER));
        assert_eq!(Reader::new(&[0x80, 2]).narrow::<u8>(), Err(NUMBER));
        assert_eq!(Reader::new(&[3, 0, 0]).count(), Err(TRUNCATED));
    }
}

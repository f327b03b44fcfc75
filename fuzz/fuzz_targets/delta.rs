//! Bytes of another instance are no delta, or one that leads from no snapshot but its own.
#![no_main]

use frontend_map_catalog::snapshot::{Builder, Delta, Snapshot};
use libfuzzer_sys::fuzz_target;

const MAX_BYTES: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Ok(delta) = Delta::read(bytes, MAX_BYTES) else { return };
    let written = delta.serialize();
    let again = Delta::read(&written, MAX_BYTES).expect("a delta is read as written");
    assert_eq!(again.serialize(), written);
    // It has the content hash of no snapshot, unless the fuzzer breaks the hash.
    assert!(Snapshot::default().with_delta(&delta, Builder { path_table: true }).is_err());
});

//! Black-box tests of the real binary and the public core.

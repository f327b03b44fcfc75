//! The environment variables, which win over the settings file.

use std::collections::HashMap;
use std::ffi::OsString;

/// The environment variables by name.
pub type Environment = HashMap<String, String>;

/// The environment variables of this process. Bytes that are not UTF-8 become replacement characters,
/// which no setting accepts.
pub(crate) fn of_process() -> Environment {
    let text = |text: OsString| text.to_string_lossy().into_owned();
    std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect()
}

//! The state of the store's file, as `/readyz` and the metrics show it.

/// Whether the file of the store can be used.
#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum StoreState {
    /// It is in use.
    Open {
        /// The size of the file, in bytes.
        bytes: u64,
    },
    /// Another process has it open; it is tried again several times a second.
    InUse,
    /// It cannot be opened or written, for this reason; it is tried again every few seconds.
    Failing(String),
    /// It has been released, because the service stops.
    Closed,
}

impl StoreState {
    /// A word for it.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

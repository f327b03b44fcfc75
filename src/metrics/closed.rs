//! Closed sets of label values.

/// A closed set of label values.
pub trait Closed: Copy + 'static {
    /// All of them.
    const ALL: &'static [Self];

    /// The value of the label.
    fn name(self) -> &'static str;

    /// The place in [`Self::ALL`].
    fn place(self) -> usize;
}

/// An enum whose variants are all values of a label, each with its text.
macro_rules! closed {
    ($(#[$doc:meta])* pub enum $set:ident {
        $($(#[$own:meta])* $variant:ident => $name:literal,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $set {
            $($(#[$own])* $variant,)+
        }

        impl $crate::metrics::Closed for $set {
            const ALL: &'static [Self] = &[$(Self::$variant,)+];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            fn place(self) -> usize {
                self as usize
            }
        }
    };
}

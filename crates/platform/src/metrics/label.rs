//! Labels with a closed set of values.

use std::hash::Hash;

/// A label whose values are the variants of an enum; made by `label!`.
pub trait Label: Copy + Eq + Hash + 'static {
    /// The name of the label.
    const NAME: &'static str;

    /// All values.
    const ALL: &'static [Self];

    /// The value as it is written.
    fn as_str(self) -> &'static str;

    /// The index in [`Self::ALL`].
    fn index(self) -> usize;
}

/// An enum as a label: its name, and the text of each value.
macro_rules! label {
    ($(#[$doc:meta])* pub enum $label:ident as $name:literal {
        $($(#[$own:meta])* $variant:ident => $text:literal,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $label {
            $($(#[$own])* $variant,)+
        }

        impl $crate::metrics::Label for $label {
            const NAME: &'static str = $name;

            const ALL: &'static [Self] = &[$(Self::$variant,)+];

            fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

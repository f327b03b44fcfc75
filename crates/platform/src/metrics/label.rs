//! Labels with a closed set of values.

use std::hash::Hash;

use prometheus_client::encoding::EncodeLabelSet;

/// A label whose values are the variants of an enum; made by `label!`.
pub trait Label: EncodeLabelSet + Copy + Eq + Hash + 'static {
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

        impl prometheus_client::encoding::EncodeLabelSet for $label {
            fn encode(
                &self,
                encoder: &mut prometheus_client::encoding::LabelSetEncoder<'_>,
            ) -> std::fmt::Result {
                let pair = ($name, $crate::metrics::Label::as_str(*self));
                prometheus_client::encoding::EncodeLabelSet::encode(&[pair], encoder)
            }
        }
    };
}

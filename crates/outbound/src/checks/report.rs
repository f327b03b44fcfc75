//! Counters and results in the shape of docs/http-api.md, and the report formats. No network, no
//! clock.

use std::collections::BTreeMap;

use serde::Serialize;

use super::CheckResult;

pub use super::finding::UrlCheck;

mod compare;
pub mod csv;
pub mod html;
pub mod json;
pub mod junit;
mod site;
mod visible;

pub use compare::{Change, InvalidReport, PreviousReport, RemovedUrl};
pub use site::{BrokenLinkFigures, BrokenLinks, FoundInPages, ProblemList, SiteReport, TypeReport};
pub use visible::Visible;

/// The counters of a run, in flight or ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// Checked URLs.
    pub count: u64,
    /// URLs by class; the sum of the five is `count`.
    pub by_class: Classes,
    /// URLs by HTTP status, in ascending order, without the URLs that have no response.
    pub by_status: BTreeMap<u16, u64>,
}

impl Tally {
    /// Counts a result.
    pub fn add(&mut self, checked: &CheckResult) {
        self.count += 1;
        *self.by_class.count_mut(checked.class()) += 1;
        if let CheckResult::Response { status, .. } = checked {
            *self.by_status.entry(*status).or_default() += 1;
        }
    }

    /// Adds the counters of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        for class in Class::ALL {
            *self.by_class.count_mut(class) += other.by_class.get(class);
        }
        for (status, count) in &other.by_status {
            *self.by_status.entry(*status).or_default() += count;
        }
    }
}

/// URLs by class. All five keys are always serialized, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Classes {
    /// Status 200 to 299.
    #[serde(rename = "2xx")]
    pub success: u64,
    /// Status 300 to 399.
    #[serde(rename = "3xx")]
    pub redirect: u64,
    /// Status 400 to 499.
    #[serde(rename = "4xx")]
    pub client_error: u64,
    /// Status 500 to 599.
    #[serde(rename = "5xx")]
    pub server_error: u64,
    /// No response, or a status outside 200 to 599.
    pub error: u64,
}

impl Classes {
    /// From the numbers in the order of the fields.
    pub fn of([success, redirect, client_error, server_error, error]: [u64; 5]) -> Self {
        Self { success, redirect, client_error, server_error, error }
    }

    /// The numbers in the order of the fields.
    pub fn to_array(self) -> [u64; 5] {
        [self.success, self.redirect, self.client_error, self.server_error, self.error]
    }

    /// The number of URLs of a class.
    pub fn get(mut self, class: Class) -> u64 {
        *self.count_mut(class)
    }

    /// The number of dead URLs: all but successes and redirects.
    pub fn dead(self) -> u64 {
        self.client_error + self.server_error + self.error
    }

    fn count_mut(&mut self, class: Class) -> &mut u64 {
        match class {
            Class::Success => &mut self.success,
            Class::Redirect => &mut self.redirect,
            Class::ClientError => &mut self.client_error,
            Class::ServerError => &mut self.server_error,
            Class::Error => &mut self.error,
        }
    }
}

#[cfg(test)]
mod hostile;

/// The class of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Status 400 to 499.
    ClientError,
    /// Status 500 to 599.
    ServerError,
    /// No response, or a status outside 200 to 599.
    Error,
    /// Status 300 to 399.
    Redirect,
    /// Status 200 to 299.
    Success,
}

impl Class {
    /// All classes in the order of reports, which is that of `Ord`: the dead ones first, and of these
    /// first the one that a change of a document can repair.
    pub const ALL: [Self; 5] =
        [Self::ClientError, Self::ServerError, Self::Error, Self::Redirect, Self::Success];

    /// The class of a status; `None` means no response.
    pub fn of(status: Option<u16>) -> Self {
        match status {
            Some(200..=299) => Self::Success,
            Some(300..=399) => Self::Redirect,
            Some(400..=499) => Self::ClientError,
            Some(500..=599) => Self::ServerError,
            _ => Self::Error,
        }
    }

    /// Its key in `byClass`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "2xx",
            Self::Redirect => "3xx",
            Self::ClientError => "4xx",
            Self::ServerError => "5xx",
            Self::Error => "error",
        }
    }

    /// Its meaning in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Success => "fine",
            Self::Redirect => "leads elsewhere",
            Self::ClientError => "not found or refused",
            Self::ServerError => "the server failed",
            Self::Error => "no response",
        }
    }

    /// Whether a visitor gets no page. A redirect may still lead to one.
    pub fn is_dead(self) -> bool {
        self <= Self::Error
    }
}

impl CheckResult {
    /// The class of the result.
    pub fn class(&self) -> Class {
        match self {
            Self::Response { status, .. } => Class::of(Some(*status)),
            Self::Failed(_) => Class::Error,
        }
    }
}

#[cfg(test)]
mod tests;

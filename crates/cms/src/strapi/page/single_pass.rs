//! Reads a page in one pass where every row of it is readable.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Page, echo};
use crate::Projection;
use crate::projection::Rows;

/// Memory for so many rows is reserved: the default size of a page.
const ROWS: usize = 100;

impl<'a> Page<'a> {
    /// Reads the rows without finding them first. `None` for any fault, even in a single row: which
    /// row is unreadable is not known here.
    pub(in crate::strapi) fn single_pass(
        json: &'a str,
        projection: &'a Projection,
    ) -> Option<Self> {
        let mut reader = serde_json::Deserializer::from_str(json);
        let page = PageSeed(projection).deserialize(&mut reader).ok()?;
        reader.end().ok()?;
        Some(page)
    }
}

/// Reads the whole response.
struct PageSeed<'a>(&'a Projection);

impl<'a> DeserializeSeed<'a> for PageSeed<'a> {
    type Value = Page<'a>;

    fn deserialize<D: Deserializer<'a>>(self, reader: D) -> Result<Page<'a>, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for PageSeed<'a> {
    type Value = Page<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut members: A) -> Result<Page<'a>, A::Error> {
        let (mut rows, mut meta) = (None, None);
        while let Some(key) = members.next_key::<String>()? {
            match key.as_str() {
                "data" if rows.is_none() => rows = Some(members.next_value_seed(RowsSeed(self.0))?),
                "meta" if meta.is_none() => meta = Some(members.next_value::<&RawValue>()?),
                "data" | "meta" => return Err(A::Error::custom("a repeated member")),
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        let rows = rows.ok_or_else(|| A::Error::missing_field("data"))?;
        Ok(Page { rows, echo: meta.and_then(|meta| echo(meta.get())) })
    }
}

/// Reads the list in the response.
struct RowsSeed<'a>(&'a Projection);

impl<'a> DeserializeSeed<'a> for RowsSeed<'a> {
    type Value = Rows<'a>;

    fn deserialize<D: Deserializer<'a>>(self, reader: D) -> Result<Rows<'a>, D::Error> {
        reader.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for RowsSeed<'a> {
    type Value = Rows<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut items: A) -> Result<Rows<'a>, A::Error> {
        let mut rows = Rows::with_capacity(self.0, ROWS);
        while items.next_element_seed(rows.reader())?.is_some() {}
        Ok(rows)
    }
}

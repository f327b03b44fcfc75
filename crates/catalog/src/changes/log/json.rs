//! A change as JSON, in responses and in webhooks.

use super::entry::{Change, Kind};
use crate::json::Json;
use crate::moved::entries::as_written;
use crate::snapshot::timestamp_text;

impl Change<'_> {
    /// Appends the change as an object.
    pub fn write_json(&self, out: &mut Json) {
        out.raw(r#"{"type":"#).word(self.kind.name());
        out.raw(r#","contentType":"#).word(self.uid);
        out.raw(r#","documentId":"#).text(self.document_id);
        out.raw(r#","locale":"#).word(self.locale);
        let written = |path: &str| match self.kind {
            Kind::Redirect => as_written(path),
            _ => path.to_owned(),
        };
        out.raw(r#","path":"#).text(&written(self.path));
        if let Some(from) = self.from {
            out.raw(r#","from":"#).text(&written(from));
        }
        // Only times beyond the year 9999 have no text.
        let at = timestamp_text(self.at).unwrap_or_default();
        out.raw(r#","at":"#).word(&at).raw("}");
    }
}

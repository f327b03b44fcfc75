//! A change as JSON, in responses and in webhooks.

use super::entry::Change;
use crate::json::Json;
use crate::snapshot::timestamp_text;

impl Change<'_> {
    /// Appends the change as an object.
    pub fn write_json(&self, out: &mut Json) {
        out.raw(r#"{"type":"#).word(self.kind.name());
        out.raw(r#","contentType":"#).word(self.uid);
        out.raw(r#","documentId":"#).text(self.document_id);
        out.raw(r#","locale":"#).word(self.locale);
        out.raw(r#","path":"#).text(self.path);
        if let Some(from) = self.from {
            out.raw(r#","from":"#).text(from);
        }
        // Only times beyond the year 9999 have no text.
        let at = timestamp_text(self.at).unwrap_or_default();
        out.raw(r#","at":"#).word(&at).raw("}");
    }
}

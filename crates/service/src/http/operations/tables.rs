//! The operations that respond with a table of a site, as one JSON document or as lines.

pub(in crate::http) mod links;
pub(in crate::http) mod misses;
pub(in crate::http) mod pages;
pub(in crate::http) mod problems;
pub(in crate::http) mod redirects;
pub(in crate::http) mod validations;

use std::sync::Arc;

use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;

use crate::http::request::accept::{ResultFormat, preferred};
use crate::http::request::encoding::accepts_gzip;
use crate::http::response::cache_status::insert_oldest_status;
use crate::http::response::insert_no_store;
use crate::http::response::stream_body::{stream_gzip, stream_of_unknown_length};
use frontend_map_cache::Served;
use frontend_map_catalog::snapshot::Snapshot;
use frontend_map_catalog::tables::{Chunks, Form, Rows};
use frontend_map_rules::ContentTypeUid;

/// The fewest rows that are worth compressing: they are a kilobyte.
const MIN_GZIP_ROWS: u64 = 4;

/// The snapshots of several content types of a site.
type ServedSnapshots<'s> = Vec<(&'s ContentTypeUid, Served)>;

/// How a table is sent.
#[derive(Clone, Copy, Debug)]
struct Format {
    form: Form,
    gzip: bool,
}

impl Format {
    /// The format for a table of so many rows that the request prefers.
    fn preferred(request_headers: &HeaderMap, rows: u64) -> Self {
        let forms = [Form::Json, Form::Lines];
        let form = forms[preferred(request_headers, forms.map(media_type))];
        Self { form, gzip: rows >= MIN_GZIP_ROWS && accepts_gzip(request_headers) }
    }

    /// A letter for each property, for entity tags.
    fn tag(self) -> &'static str {
        match (self.form, self.gzip) {
            (Form::Json, false) => "j",
            (Form::Json, true) => "jz",
            (Form::Lines, false) => "l",
            (Form::Lines, true) => "lz",
        }
    }

    /// 200 with the table.
    fn respond<R: Rows + Send + Unpin + 'static>(self, chunks: Chunks<R>) -> Response {
        let body = if self.gzip { stream_gzip(chunks) } else { stream_of_unknown_length(chunks) };
        let mut response = Response::new(body);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type(self.form)));
        if self.gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }

    /// 200 with a table that no cache keeps: what is wrong with the content, what visitors requested and
    /// what documents were called before is for those alone who have the token.
    fn respond_privately<R: Rows + Send + Unpin + 'static>(
        self,
        chunks: Chunks<R>,
        cached_snapshots: &[(&ContentTypeUid, Served)],
    ) -> Response {
        let mut response = self.respond(chunks);
        insert_headers(response.headers_mut(), cached_snapshots);
        insert_no_store(response.headers_mut());
        response
    }
}

fn media_type(form: Form) -> &'static str {
    match form {
        Form::Json => ResultFormat::Json.media_type(),
        Form::Lines => ResultFormat::Lines.media_type(),
    }
}

/// The snapshots, without what the cache knows of them.
fn snapshots(cached_snapshots: &ServedSnapshots<'_>) -> Vec<Arc<Snapshot>> {
    cached_snapshots.iter().map(|(_, served)| Arc::clone(&served.cached.snapshot)).collect()
}

/// The snapshots by content type.
fn by_type<'s>(served: &ServedSnapshots<'s>) -> Vec<(&'s ContentTypeUid, Arc<Snapshot>)> {
    served.iter().map(|(uid, served)| (*uid, Arc::clone(&served.cached.snapshot))).collect()
}

/// Adds the headers that any response with a table has. Its age is that of the oldest snapshot.
fn insert_headers(headers: &mut HeaderMap, cached_snapshots: &[(&ContentTypeUid, Served)]) {
    headers.insert(VARY, HeaderValue::from_static("accept, accept-encoding"));
    insert_oldest_status(headers, cached_snapshots);
}

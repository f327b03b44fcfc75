//! A list of URLs as a sitemap file (sitemaps.org, protocol 0.9).

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

/// The namespace of the protocol.
const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// The whole document, one `url` with one `loc` each, whole however long it is.
///
/// The URLs are percent-encoded ASCII, so nothing else can get into the XML.
///
/// # Errors
/// Never in practice: it writes to memory.
pub fn xml(urls: &[String]) -> io::Result<Vec<u8>> {
    let mut out = Writer::new(Vec::with_capacity(128 + urls.len() * 96));
    out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let mut root = BytesStart::new("urlset");
    root.push_attribute(("xmlns", NAMESPACE));
    out.write_event(Event::Start(root))?;
    for url in urls {
        out.write_event(Event::Start(BytesStart::new("url")))?;
        out.write_event(Event::Start(BytesStart::new("loc")))?;
        out.write_event(Event::Text(BytesText::new(url)))?;
        out.write_event(Event::End(BytesEnd::new("loc")))?;
        out.write_event(Event::End(BytesEnd::new("url")))?;
    }
    out.write_event(Event::End(BytesEnd::new("urlset")))?;
    Ok(out.into_inner())
}

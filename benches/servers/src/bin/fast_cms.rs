//! A CMS that costs next to nothing, for `scripts/bench_sitemap.py` and `scripts/bench_memory.py`:
//! answers keyset pages of one content type, and documents by their ids, as fast as they can be
//! written, after a fixed delay. `/edit/N` gives the document with this number another slug.
//!
//! `fast_cms serve DOCUMENTS DELAY_MS`: the bound address is the first line on stdout.
//! `fast_cms read ADDRESS DOCUMENTS`: sends the requests of a walk one after the other over one
//! connection, throws the bodies away, and prints the seconds that took.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

const PER_PAGE: usize = 100;

/// How often each document was edited.
type Edits = Arc<Mutex<HashMap<usize, u32>>>;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["serve", documents, delay] => serve(documents.parse()?, delay.parse()?).await,
        ["read", address, documents] => {
            let begun = Instant::now();
            read(address, documents.parse()?).await?;
            println!("{:.3}", begun.elapsed().as_secs_f64());
            Ok(())
        }
        _ => Err("fast_cms serve DOCUMENTS DELAY_MS | read ADDRESS DOCUMENTS".into()),
    }
}

async fn serve(documents: usize, delay: u64) -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let edits = Edits::default();
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let edits = Arc::clone(&edits);
        tokio::spawn(async move {
            // A client may leave at any time.
            let _ = converse(stream, documents, Duration::from_millis(delay), &edits).await;
        });
    }
}

async fn converse(
    stream: TcpStream,
    documents: usize,
    delay: Duration,
    edits: &Edits,
) -> Result<(), Failure> {
    let mut stream = BufStream::new(stream);
    let mut head = Vec::new();
    loop {
        if !read_head(&mut stream, &mut head).await? {
            return Ok(());
        }
        if !delay.is_zero() {
            sleep(delay).await;
        }
        let target = std::str::from_utf8(&head)?.split(' ').nth(1).ok_or("no target")?;
        let body = answer(target, documents, edits)?;
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await?;
        stream.flush().await?;
    }
}

/// Reads up to the blank line; false when the other side is done.
async fn read_head(stream: &mut BufStream<TcpStream>, head: &mut Vec<u8>) -> Result<bool, Failure> {
    head.clear();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) if head.is_empty() => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

fn answer(target: &str, documents: usize, edits: &Edits) -> Result<String, Failure> {
    let mut edits = edits.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(number) = target.strip_prefix("/edit/") {
        *edits.entry(number.parse()?).or_default() += 1;
        return Ok("{}".to_owned());
    }
    let ids = |operator: &str| {
        let ids = target.split('&').filter(|one| one.contains(operator));
        let ids = ids.filter_map(|one| one.split("=d").nth(1)?.parse::<usize>().ok());
        ids.filter(|n| *n < documents).collect::<Vec<_>>()
    };
    let mut named = ids("[documentId][$eq]");
    named.extend(ids("[documentId][$in]"));
    let size = if target.contains("pageSize]=1&") { 1 } else { PER_PAGE };
    let (rows, total) = if named.is_empty() {
        let first = ids("[documentId][$gt]").first().map_or(0, |n| n + 1);
        ((first..documents.min(first + size)).collect(), documents - first)
    } else {
        let total = named.len();
        (named, total)
    };
    let mut body = String::with_capacity(200 * rows.len());
    body.push_str(r#"{"data":["#);
    for (at, n) in rows.into_iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let slug = match edits.get(&n) {
            None => format!("a-slug-of-usual-length-{n}"),
            Some(edit) => format!("a-slug-of-usual-length-{n}-{edit}"),
        };
        write!(
            body,
            r#"{comma}{{"id":{n},"documentId":"d{n:023}","publishedAt":"2024-03-06T22:19:54.649Z","locale":"en","slug":"{slug}","updatedAt":"2024-03-06T22:19:54.649Z"}}"#
        )?;
    }
    write!(
        body,
        r#"],"meta":{{"pagination":{{"page":1,"pageSize":{size},"pageCount":1,"total":{total}}}}}}}"#
    )?;
    Ok(body)
}

async fn read(address: &str, documents: usize) -> Result<(), Failure> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut stream = BufStream::with_capacity(256 * 1024, 4096, stream);
    let paging = "status=published&sort=documentId:asc&pagination[page]=1&pagination[pageSize]=";
    let mut targets = vec![format!("/api/cms/articles?{paging}100&locale=en")];
    for last in (PER_PAGE - 1..documents).step_by(PER_PAGE) {
        targets.push(format!(
            "/api/cms/articles?{paging}100&filters[documentId][$gt]=d{last:023}&locale=en"
        ));
    }
    targets.push(format!("/api/cms/articles?{paging}1&locale=en"));
    let (mut head, mut body) = (Vec::new(), Vec::new());
    for target in targets {
        stream.write_all(format!("GET {target} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await?;
        stream.flush().await?;
        read_head(&mut stream, &mut head).await?;
        let head = std::str::from_utf8(&head)?;
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        body.resize(length.ok_or("no length")?.parse()?, 0);
        stream.read_exact(&mut body).await?;
    }
    Ok(())
}

//! A frontend that costs next to nothing, for `scripts/bench_validate.py`: answers every path after a
//! fixed delay, and counts what it sees.
//!
//! `slow_site serve DELAY_MS BYTES healthy|mixed|html`: the bound address is the first line on stdout.
//! Pages have so many bytes; in a mixed site the last digits of a path decide the response, and an HTML
//! site has pages with text and a canonical link, and a 404 for paths without a number. After
//! each line on stdin it prints `ACCEPTS REQUESTS MOST_IN_FLIGHT` since the line before.
//! `slow_site ask ADDRESS REQUESTS PREFIX`: sends so many requests over ten connections, one after
//! the other on each, reads the answers to their end, and prints the seconds that took.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep_until;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["serve", delay, bytes, kind] => {
            let delay = Duration::from_millis(delay.parse()?);
            serve(Site::new(delay, bytes.parse()?, kind)).await
        }
        ["ask", address, requests, prefix] => {
            let begun = Instant::now();
            ask(address, requests.parse()?, prefix).await?;
            println!("{:.3}", begun.elapsed().as_secs_f64());
            Ok(())
        }
        _ => Err("slow_site serve DELAY_MS BYTES healthy|mixed|html | ask ADDRESS REQUESTS PREFIX"
            .into()),
    }
}

struct Site {
    delay: Duration,
    mixed: bool,
    html: bool,
    page: Vec<u8>,
    accepts: AtomicUsize,
    requests: AtomicUsize,
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
}

impl Site {
    fn new(delay: Duration, bytes: usize, kind: &str) -> Self {
        let (mixed, html) = (kind == "mixed", kind == "html");
        let page = if html {
            let text = "<p class=\"text\">Some words, <a href=\"/x\">a link</a> &amp; more.</p>\n";
            text.bytes().cycle().take(bytes).collect()
        } else {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n");
            [head.into_bytes(), vec![b'x'; bytes]].concat()
        };
        let zero = AtomicUsize::default;
        let [accepts, requests, in_flight, most_in_flight] = [zero(), zero(), zero(), zero()];
        Self { delay, mixed, html, page, accepts, requests, in_flight, most_in_flight }
    }

    /// The answer, and whether the connection is kept.
    fn answer(&self, number: usize) -> (&[u8], bool) {
        if !self.mixed {
            return (&self.page, true);
        }
        match number % 100 {
            0..=2 => (b"HTTP/1.1 301 Moved\r\nlocation: /new\r\ncontent-length: 0\r\n\r\n", true),
            3..=6 => (b"HTTP/1.1 404 Gone\r\ncontent-length: 5\r\n\r\nGone.", true),
            7 => (b"HTTP/1.1 500 Broken\r\ncontent-length: 7\r\n\r\nBroken.", true),
            8 => (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok", false),
            9 => (b"", false),
            _ => (&self.page, true),
        }
    }

    /// A page with its canonical link.
    fn html(&self, head: &str, path: &str, number: Option<usize>) -> Vec<u8> {
        let Some(number) = number else {
            return b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec();
        };
        let host = head.split("host: ").nth(1).and_then(|rest| rest.split('\r').next());
        let host = host.unwrap_or_default();
        let begin = format!(
            "<!doctype html><html lang=\"en\"><head><title>Page {number}</title>\
             <link rel=\"canonical\" href=\"http://{host}{path}\"></head><body>"
        );
        let text = &self.page[..self.page.len().saturating_sub(begin.len())];
        let length = begin.len() + text.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {length}\r\n\r\n"
        );
        [head.as_bytes(), begin.as_bytes(), text].concat()
    }

    fn take_counts(&self) -> String {
        let numbers = [&self.accepts, &self.requests, &self.most_in_flight];
        numbers.map(|number| number.swap(0, Relaxed).to_string()).join(" ")
    }
}

async fn serve(site: Site) -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let site = Arc::new(site);
    let counted = Arc::clone(&site);
    std::thread::spawn(move || {
        for _ in std::io::stdin().lines() {
            println!("{}", counted.take_counts());
        }
    });
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        site.accepts.fetch_add(1, Relaxed);
        let site = Arc::clone(&site);
        tokio::spawn(async move {
            // A client may leave at any time.
            let _ = converse(stream, &site).await;
        });
    }
}

async fn converse(mut stream: TcpStream, site: &Site) -> Result<(), Failure> {
    let mut head = Vec::new();
    while read_head(&mut stream, &mut head).await? {
        let begun = tokio::time::Instant::now();
        site.requests.fetch_add(1, Relaxed);
        let now = site.in_flight.fetch_add(1, Relaxed) + 1;
        site.most_in_flight.fetch_max(now, Relaxed);
        if !site.delay.is_zero() {
            // The timer has whole milliseconds, and rounds up.
            sleep_until(begun + site.delay - Duration::from_micros(500)).await;
        }
        let text = std::str::from_utf8(&head)?;
        let path = text.split(' ').nth(1).ok_or("no target")?;
        let number = path.rsplit('-').next().and_then(|n| n.parse().ok());
        let page;
        let (answer, keep) = if site.html {
            page = site.html(text, path, number);
            (&*page, true)
        } else {
            site.answer(number.unwrap_or(0))
        };
        // Before the last byte is sent: the client may ask again as soon as it has it.
        site.in_flight.fetch_sub(1, Relaxed);
        stream.write_all(answer).await?;
        if !keep {
            return Ok(stream.shutdown().await?);
        }
    }
    Ok(())
}

/// Reads one head; false when the other side is done. No client sends two at once.
async fn read_head(stream: &mut TcpStream, head: &mut Vec<u8>) -> Result<bool, Failure> {
    head.clear();
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_buf(head).await? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Only for a healthy site.
async fn ask(address: &str, requests: usize, prefix: &str) -> Result<(), Failure> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..10 {
        let (next, prefix) = (Arc::clone(&next), prefix.to_owned());
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        workers.spawn(async move {
            let mut stream = BufStream::with_capacity(256 * 1024, 4096, stream);
            let mut body = Vec::new();
            loop {
                let number = next.fetch_add(1, Relaxed);
                if number >= requests {
                    return Ok::<_, Failure>(());
                }
                let request = format!("GET {prefix}{number} HTTP/1.1\r\nhost: x\r\n\r\n");
                stream.write_all(request.as_bytes()).await?;
                stream.flush().await?;
                let mut line = String::new();
                let mut length = 0;
                while stream.read_line(&mut line).await? > 2 {
                    length = line
                        .strip_prefix("content-length: ")
                        .map_or(length, |text| text.trim().parse().unwrap_or(0));
                    line.clear();
                }
                body.resize(length, 0);
                stream.read_exact(&mut body).await?;
            }
        });
    }
    while let Some(worker) = workers.join_next().await {
        worker??;
    }
    Ok(())
}

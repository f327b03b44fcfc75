//! `frontend-map demo`: the service on built-in content and a small frontend, and a `curl` line with
//! its response for each route.

pub mod frontend;

use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::config::{self, Config, Environment};
use crate::http::Service;
use crate::shared::SharedState;
use crate::{boot, outgoing, server};

/// The settings of the demo; its content is the built-in content of the source `files`.
const SETTINGS: &str = include_str!("../config/demo/settings.toml");
/// The address of the frontend, unless it is in use.
const FRONTEND: &str = "127.0.0.1:8081";

/// The most connections: enough for one user.
const MAX_CONNECTIONS: usize = 64;

/// The requests that the demo shows, each with a caption.
const REQUESTS: [(&str, &str); 6] = [
    (
        "Which content type is behind a pathname?",
        "/api/get-content-type?site=main&pathname=/en/articles/welcome",
    ),
    (
        "The same, with the content type alone:",
        "/api/get-content-type?site=main&pathname=/en/articles/welcome&compact=true",
    ),
    (
        "Which URL does a document have?",
        "/api/frontend-url?uid=plugin::cms.article&documentId=a1welcome&locale=de",
    ),
    (
        "What are all public URLs of a type?",
        "/api/build-sitemap?site=main&contentType=plugin::cms.page",
    ),
    (
        "The same for crawlers:",
        "/api/build-sitemap?site=main&contentType=plugin::cms.page&xml=true",
    ),
    (
        "Is each of them alive? (One page never answers, so this takes 10 seconds.)",
        "/api/build-sitemap?site=main&contentType=plugin::cms.article&validate=true",
    ),
];

/// The settings of the demo with its frontend at this address.
///
/// # Errors
/// Never, unless the embedded settings are broken.
pub fn settings(frontend: SocketAddr) -> Result<Config, config::Problems> {
    let base = ("FRONT_END_URL_MAIN".to_owned(), format!("http://{frontend}"));
    config::parse(
        Some(SETTINGS),
        Path::new("config/demo/settings.toml"),
        &Environment::from([base]),
    )
}

/// Runs the service and shows a request to each route; unless `once`, it serves until `closing` is
/// ready.
///
/// # Errors
/// When no port can be bound, or the service does not respond.
pub async fn run(
    once: bool,
    start_log: impl FnOnce(&config::Log),
    shared: Arc<SharedState>,
    closing: impl Future<Output = Instant> + Send + 'static,
) -> Result<(), Box<dyn Error>> {
    let frontend = bind(FRONTEND.parse()?).await?;
    let config = settings(frontend.local_addr()?)?;
    start_log(&config.log);
    let timeouts = config.limits.timeouts;
    let listener = bind(config.server.listen).await?;
    let address = listener.local_addr()?;
    print_line(&format!(
        "frontend-map at http://{address}, its frontend at http://{}",
        frontend.local_addr()?
    ))?;
    tokio::spawn(frontend::serve(frontend));
    let connections = server::ConnectionSettings {
        timeouts,
        max_connections: MAX_CONNECTIONS,
        metrics: Arc::clone(&shared.metrics.connections),
    };
    let app = Arc::new(boot::build(config, Arc::clone(&shared), None)?);
    let (sender, shown) = tokio::sync::oneshot::channel::<()>();
    let ended = async move {
        let enough = async {
            match shown.await {
                Ok(()) if once => Instant::now() + server::GRACE_PERIOD,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            end = closing => end,
            end = enough => end,
        }
    };
    let service = tokio::spawn(server::serve(listener, Service::new(app), connections, ended));
    let all = show(address).await;
    if shared.is_draining() {
        // A signal ended it while requests were shown: their errors do not matter.
        return Ok(service.await?);
    }
    all?;
    if !once {
        print_line("\nServing until Ctrl-C.")?;
    }
    let _ = sender.send(());
    Ok(service.await?)
}

/// Listens on the address, or on any free port of its host if the address is in use.
async fn bind(wanted: SocketAddr) -> std::io::Result<TcpListener> {
    match TcpListener::bind(wanted).await {
        Ok(listener) => Ok(listener),
        Err(_) => TcpListener::bind((wanted.ip(), 0)).await,
    }
}

async fn show(service: SocketAddr) -> Result<(), Box<dyn Error>> {
    let client = outgoing::client_builder()?.build()?;
    for (caption, target) in REQUESTS {
        let url = format!("http://{service}{target}");
        print_line(&format!("\n# {caption}\n$ curl '{url}'"))?;
        print_line(&client.get(url).send().await?.text().await?)?;
    }
    Ok(())
}

/// Prints a line to stdout; a closed stdout is an error, not a panic.
fn print_line(line: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{line}")
}

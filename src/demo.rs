//! What `frontend-map demo` runs: the service on embedded content, with a small front end beside
//! it, and one `curl` line with its real answer for each operation.

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

/// The settings of the demo; the content is what the file source has built in.
const SETTINGS: &str = include_str!("../config/demo/settings.toml");
/// Where the front end is to be found if nobody else is there.
const FRONT_END: &str = "127.0.0.1:8081";

/// As many as one person may want.
const CONNECTIONS: usize = 64;

/// One request for each thing that the service does.
const REQUESTS: [(&str, &str); 6] = [
    (
        "Which content type is behind a pathname?",
        "/api/get-content-type?site=main&pathname=/en/articles/welcome",
    ),
    (
        "And the type alone?",
        "/api/get-content-type?site=main&pathname=/en/articles/welcome&compact=true",
    ),
    (
        "Where does a document live?",
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
        "Is each of them alive? (One page never answers: this takes 10 seconds.)",
        "/api/build-sitemap?site=main&contentType=plugin::cms.article&validate=true",
    ),
];

/// The settings of the demo with its front end at this address.
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

/// Shows each operation on a running service; serves on until `closing` is ready unless `once`.
///
/// # Errors
/// When no port can be bound, or the service does not answer.
pub async fn run(
    once: bool,
    start_log: impl FnOnce(&config::Log),
    shared: Arc<SharedState>,
    closing: impl Future<Output = Instant> + Send + 'static,
) -> Result<(), Box<dyn Error>> {
    let frontend = bind(FRONT_END.parse()?).await?;
    let config = settings(frontend.local_addr()?)?;
    start_log(&config.log);
    let timeouts = config.limits.timeouts;
    let listener = bind(config.server.listen).await?;
    let address = listener.local_addr()?;
    say(&format!(
        "frontend-map at http://{address}, its front end at http://{}",
        frontend.local_addr()?
    ))?;
    tokio::spawn(frontend::serve(frontend));
    let counted = server::ConnectionSettings {
        timeouts,
        max_connections: CONNECTIONS,
        metrics: Arc::clone(&shared.metrics.connections),
    };
    let app = Arc::new(boot::build(config, Arc::clone(&shared), None)?);
    let (shown, all_shown) = tokio::sync::oneshot::channel::<()>();
    let ended = async move {
        let enough = async {
            match all_shown.await {
                Ok(()) if once => Instant::now() + server::GRACE_PERIOD,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            end = closing => end,
            end = enough => end,
        }
    };
    let service = tokio::spawn(server::serve(listener, Service::new(app), counted, ended));
    let all = show(address).await;
    if shared.is_draining() {
        // Somebody has seen enough.
        return Ok(service.await?);
    }
    all?;
    if !once {
        say("\nServing until Ctrl-C.")?;
    }
    let _ = shown.send(());
    Ok(service.await?)
}

/// The wanted address, or any port of its host if somebody is there already.
async fn bind(wanted: SocketAddr) -> std::io::Result<TcpListener> {
    match TcpListener::bind(wanted).await {
        Ok(listener) => Ok(listener),
        Err(_) => TcpListener::bind((wanted.ip(), 0)).await,
    }
}

async fn show(service: SocketAddr) -> Result<(), Box<dyn Error>> {
    let client = outgoing::client_builder()?.build()?;
    for (question, target) in REQUESTS {
        let url = format!("http://{service}{target}");
        say(&format!("\n# {question}\n$ curl '{url}'"))?;
        say(&client.get(url).send().await?.text().await?)?;
    }
    Ok(())
}

/// A line on stdout; a reader that has gone is an error, not a panic.
fn say(line: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{line}")
}

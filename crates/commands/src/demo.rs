//! The service of `frontend-map demo`: on built-in content, with a small frontend and a front page.

mod front_page;
pub mod frontend;

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::boot;
use crate::config::{self, Config, Environment};
use front_page::WithFrontPage;
use frontend_map_service::run::{Handle, Listeners, run_with_handler};

/// The settings of the demo; its content is the built-in content of the source `files`.
const SETTINGS: &str = include_str!("../../../config/demo/settings.toml");
/// The address of the frontend, unless it is in use.
const FRONTEND: &str = "127.0.0.1:8081";

/// The most connections: enough for one user.
const MAX_CONNECTIONS: usize = 64;

/// One request that the demo shows.
pub struct Operation {
    /// What it is for, as a question.
    pub question: &'static str,
    /// Its users, or what the response shows.
    pub about: &'static str,
    /// Path and query.
    pub target: &'static str,
}

/// The requests that the demo shows.
pub const OPERATIONS: [Operation; 7] = [
    Operation {
        question: "Which content type is behind a path?",
        about: "For frontends: the rule that matches the path of a page, and the values in it. \
            The CMS is not needed for it.",
        target: "/api/get-content-type?site=main&pathname=/en/articles/welcome",
    },
    Operation {
        question: "The same in short",
        about: "The content type alone.",
        target: "/api/get-content-type?site=main&pathname=/en/articles/welcome&compact=true",
    },
    Operation {
        question: "Which URL does a document have?",
        about: "For editors: the public URL of a document, here in German.",
        target: "/api/frontend-url?uid=plugin::cms.article&documentId=a1welcome&locale=de",
    },
    Operation {
        question: "And a document without a slug?",
        about: "It gets no broken URL, but the reason why it has none.",
        target: "/api/frontend-url?uid=plugin::cms.page&documentId=p3noslug",
    },
    Operation {
        question: "What are all public URLs of a content type?",
        about: "Complete, or an error; never a part. Drafts are not listed.",
        target: "/api/build-sitemap?site=main&contentType=plugin::cms.page",
    },
    Operation {
        question: "The same for crawlers",
        about: "As a sitemap.",
        target: "/api/build-sitemap?site=main&contentType=plugin::cms.page&xml=true",
    },
    Operation {
        question: "Which pages are dead?",
        about: "Each URL is requested once from the frontend; in `byClass`, those under `4xx`, `5xx` \
            and `error` are dead. One of its pages never responds, so this takes 10 seconds.",
        target: "/api/build-sitemap?site=main&contentType=plugin::cms.article&validate=true",
    },
];

/// Where the demo listens.
pub struct Addresses {
    /// The service.
    pub service: SocketAddr,
    /// The frontend.
    pub frontend: SocketAddr,
}

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

/// Starts the service and its frontend.
///
/// # Errors
/// When no port can be bound, or the app cannot be built.
pub async fn start(
    start_log: impl FnOnce(&config::Log),
) -> Result<(Handle, Addresses), Box<dyn Error>> {
    let frontend = bind(FRONTEND.parse()?).await?;
    let mut config = settings(frontend.local_addr()?)?;
    start_log(&config.log);
    config.server.connections = MAX_CONNECTIONS;
    // There is no load balancer before a demo.
    config.server.drain_delay = Duration::ZERO;
    let public = bind(config.server.listen).await?;
    let addresses = Addresses { service: public.local_addr()?, frontend: frontend.local_addr()? };
    tokio::spawn(frontend::serve(frontend));
    let listeners = Listeners { public, admin: None };
    let (app, connections) = boot::build_app(config, Arc::default())?;
    Ok((
        run_with_handler(app, listeners, connections, |service| {
            WithFrontPage::new(service, &addresses)
        }),
        addresses,
    ))
}

/// Listens on the address, or on any free port of its host if the address is in use.
async fn bind(wanted: SocketAddr) -> std::io::Result<TcpListener> {
    match TcpListener::bind(wanted).await {
        Ok(listener) => Ok(listener),
        Err(_) => TcpListener::bind((wanted.ip(), 0)).await,
    }
}

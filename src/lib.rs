//! Maps the documents of a headless CMS to public frontend URLs, in both directions.
//!
//! The map of the modules. A module uses modules on its own line and on the lines below.
//!
//! ```text
//! main  cli  demo              commands and their exit status
//! boot  config                 settings, checked as a whole, and the App made from them
//! server                       accept loop, connections, timeouts
//! http                         routes, requests, responses, operations
//! app  shared                  what handlers share; what survives a reload
//! notify                       webhooks that are sent
//! validator  snapshot_cache    runs of URL checks; cached URLs and their refresh
//! content  store  fleet        documents from Strapi or a file; what survives; what instances share
//! shared_engine                Redis or Valkey, which several instances share
//! traces  outgoing  metrics    spans; HTTP client; counters
//! path_import                  lists of redirects of other systems
//! redirects  explain           former path → present URL; why each rule matches or not
//! path_index  path_history     path → document now, and before
//! change_log  path_changes     changes of a site in order; what differs between two snapshots
//! site  sitemap  tables        sites; lists and files of URLs; pages and problems
//! snapshot                     all public URLs of a content type, compactly
//! frontend_url                 base URL + rule + document → URL
//! rules  suggestion  json      templates, paths, locales: pure; "did you mean"; JSON texts
//! clock                        the time of the system
//! ```
//!
//! `docs/architecture.md` has the steps of a pathname, a document, a URL check, a webhook and a
//! reload. Numbers such as D13 are headings of `docs/decisions.md`.

pub mod app;
pub mod boot;
pub mod change_log;
pub mod cli;
pub mod clock;
pub mod config;
pub mod content;
pub mod demo;
pub mod explain;
pub mod fleet;
pub mod frontend_url;
pub mod http;
pub mod json;
pub mod metrics;
pub mod notify;
pub mod outgoing;
pub mod path_changes;
pub mod path_history;
pub mod path_import;
pub mod path_index;
pub mod redirects;
pub mod rules;
pub mod server;
pub mod shared;
pub mod shared_engine;
pub mod site;
pub mod sitemap;
pub mod snapshot;
pub mod snapshot_cache;
pub mod store;
pub mod suggestion;
pub mod tables;
pub mod traces;
pub mod validator;

//! Settings as a test needs them: it says what it is about, and the rest is here.
//!
//! The methods have the names of the keys. Those of a site are about the last one, and replace what
//! it had before. A value that begins with `{`, `[` or `"` is TOML already.
//!
//! ```ignore
//! let settings = site("main")
//!     .locales(&["en", "de"])
//!     .rule("api::post.post", "/{locale}/posts/{slug}")
//!     .with("exclude_when = { noindex = true }");
//! let service = settings.files(r#"{"api::post.post": []}"#).start();
//! ```

use std::collections::BTreeSet;

use super::cms::Cms;
use super::service::{Ended, Service, Setup};

/// The base URL of a site that says no other one.
const BASE: &str = "https://www.example.com";

const REDIRECTS: &str = r#"
[[site.redirects]]
content_type = "api::redirect.redirect"
from = "from"
to = "to"
document = "target"
status = "code"
force = "force"
"#;

#[derive(Clone)]
pub(crate) struct Settings {
    /// More lines of `[server]`.
    server: String,
    source: String,
    /// More lines of `[cms]`.
    cms: String,
    content: Option<String>,
    /// The endpoint of a content type by its UID; `None`: the settings have none.
    endpoint: Option<fn(&str) -> String>,
    sites: Vec<Site>,
    more: String,
}

#[derive(Clone)]
struct Site {
    key: String,
    front_end_url: Option<String>,
    locales: String,
    resolve: Option<String>,
    lines: String,
    /// The content type of each rule, and its lines.
    rules: Vec<(String, String)>,
}

/// A site with the locale `en` and [`BASE`], and an empty content file.
pub(crate) fn site(key: &str) -> Settings {
    Settings::new().site(key)
}

fn add(text: &mut String, lines: &str) {
    text.push_str(lines);
    text.push('\n');
}

fn value(text: &str) -> String {
    if text.starts_with(['{', '[', '"']) { text.to_owned() } else { format!("\"{text}\"") }
}

impl Settings {
    /// Without a site.
    pub(crate) fn new() -> Self {
        let settings = Self {
            server: String::new(),
            source: String::new(),
            cms: String::new(),
            content: None,
            endpoint: Some(plural),
            sites: Vec::new(),
            more: String::new(),
        };
        settings.files("{}")
    }

    /// One more site; as the first one.
    pub(crate) fn site(mut self, key: &str) -> Self {
        let (front_end_url, locales) = (Some(value(BASE)), value("en"));
        let (key, resolve, lines, rules) = (key.to_owned(), None, String::new(), Vec::new());
        self.sites.push(Site { key, front_end_url, locales, resolve, lines, rules });
        self
    }

    pub(crate) fn front_end_url(mut self, url: &str) -> Self {
        self.last().front_end_url = Some(value(url));
        self
    }

    pub(crate) fn without_front_end_url(mut self) -> Self {
        self.last().front_end_url = None;
        self
    }

    pub(crate) fn locales(mut self, locales: &[&str]) -> Self {
        let locales: Vec<String> = locales.iter().map(|locale| value(locale)).collect();
        self.last().locales = locales.join(", ");
        self
    }

    pub(crate) fn resolve(mut self, by: &str) -> Self {
        self.last().resolve = Some(value(by));
        self
    }

    /// More lines of the site.
    pub(crate) fn set(mut self, lines: &str) -> Self {
        add(&mut self.last().lines, lines);
        self
    }

    /// Redirects of the CMS, with each field that they can have.
    pub(crate) fn redirects(self) -> Self {
        self.set(REDIRECTS)
    }

    pub(crate) fn rule(self, uid: &str, template: &str) -> Self {
        self.rule_of(uid, &format!("template = {}", value(template)))
    }

    /// A rule of these lines behind its content type.
    pub(crate) fn rule_of(mut self, uid: &str, lines: &str) -> Self {
        let lines = format!("[[site.rule]]\ncontent_type = \"{uid}\"\n{lines}\n");
        self.last().rules.push((uid.to_owned(), lines));
        self
    }

    /// More lines of the last rule.
    pub(crate) fn with(mut self, lines: &str) -> Self {
        let (_, rule) = self.last().rules.last_mut().expect("a rule");
        add(rule, lines);
        self
    }

    /// More tables at the end of the file.
    pub(crate) fn more(mut self, tables: &str) -> Self {
        add(&mut self.more, tables);
        self
    }

    /// More lines of `[server]`.
    pub(crate) fn server(mut self, lines: &str) -> Self {
        add(&mut self.server, lines);
        self
    }

    /// More lines of `[cms]`.
    pub(crate) fn cms(mut self, lines: &str) -> Self {
        add(&mut self.cms, lines);
        self
    }

    /// The content is that of a file, `content.json`.
    pub(crate) fn files(mut self, content: &str) -> Self {
        "source = \"files\"\npath = \"content.json\"\n".clone_into(&mut self.source);
        self.content = Some(content.to_owned());
        self
    }

    /// The content is that of this CMS, where each `api::x.post` is at `posts` and each
    /// `plugin::x.post` at `x/posts`.
    pub(crate) fn strapi(self, cms: &Cms) -> Self {
        self.strapi_at(&format!("http://{}", cms.addr()))
    }

    pub(crate) fn strapi_at(mut self, url: &str) -> Self {
        self.source = format!("source = \"strapi\"\nurl = \"{url}\"\n");
        self.content = None;
        self
    }

    /// Without `[[content_type]]`: the service derives the endpoints, or reads them from the CMS.
    pub(crate) fn without_endpoints(mut self) -> Self {
        self.endpoint = None;
        self
    }

    /// Each `api::x.post` is at `post`.
    pub(crate) fn singular_endpoints(mut self) -> Self {
        self.endpoint = Some(|uid| name(uid).to_owned());
        self
    }

    /// The text of the file.
    pub(crate) fn toml(&self) -> String {
        let sites: String = self.sites.iter().map(Site::toml).collect();
        let Self { server, source, cms, more, .. } = self;
        let types = self.content_types();
        format!(
            r#"
[server]
listen = "127.0.0.1:0"
{server}[cms]
{source}{cms}{sites}{more}{types}"#
        )
    }

    fn content_types(&self) -> String {
        let (Some(endpoint), None) = (self.endpoint, &self.content) else {
            return String::new();
        };
        let rules = self.sites.iter().flat_map(|site| &site.rules);
        let uids: BTreeSet<&String> = rules.map(|(uid, _)| uid).collect();
        let table = |uid: &String| {
            let endpoint = endpoint(uid);
            format!("[[content_type]]\nuid = \"{uid}\"\nendpoint = \"{endpoint}\"\n")
        };
        uids.into_iter().map(table).collect()
    }

    pub(crate) fn setup(&self) -> Setup {
        let setup = Setup::new(&self.toml());
        self.content.iter().fold(setup, |setup, content| setup.file("content.json", content))
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> Setup {
        self.setup().file(name, text)
    }

    pub(crate) fn env(&self, name: &str, value: &str) -> Setup {
        self.setup().env(name, value)
    }

    pub(crate) fn start(&self) -> Service {
        self.setup().start()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.setup().run(args)
    }

    fn last(&mut self) -> &mut Site {
        self.sites.last_mut().expect("`site` begins with one")
    }
}

impl Site {
    fn toml(&self) -> String {
        let Self { key, front_end_url, locales, resolve, lines, rules } = self;
        let url = front_end_url.iter().map(|url| format!("front_end_url = {url}\n"));
        let resolve = resolve.iter().map(|by| format!("resolve = {by}\n"));
        let more: String = url.chain(resolve).collect();
        let rules: String = rules.iter().map(|(_, lines)| lines.as_str()).collect();
        format!("[[site]]\nkey = \"{key}\"\n{more}locales = [{locales}]\n{lines}{rules}")
    }
}

fn name(uid: &str) -> &str {
    uid.rsplit('.').next().expect("one part at least")
}

fn plural(uid: &str) -> String {
    match uid.strip_prefix("plugin::").and_then(|uid| uid.split_once('.')) {
        Some((plugin, name)) => format!("{plugin}/{name}s"),
        None => format!("{}s", name(uid)),
    }
}

//! The arguments of `init`, checked.

use std::path::PathBuf;

use clap::Args;

use crate::config::{self, SettingsFile};
use frontend_map_cms::{Endpoint, EndpointKind};
use frontend_map_rules::{ContentTypeUid, Locale, Locales};

/// Which CMS to read, and where to write.
#[derive(Debug, Args)]
pub(in crate::cli) struct InitArgs {
    /// The address of Strapi, without /api and /admin; its token is in `FRONTEND_MAP__CMS__TOKEN`
    #[arg(long, value_name = "URL")]
    cms: String,
    /// The file to write, which must not exist; `-`: print the settings
    #[arg(long, value_name = "FILE", default_value = SettingsFile::DEFAULT)]
    pub(super) out: PathBuf,
    /// Only this content type, such as `api::article.article`; may be given more than once. Needed if
    /// the token may not read the schema. `UID=PATH` also names its path below /api, if that is not
    /// the regular plural of its name: `api::person.person=people`
    #[arg(long = "type", value_name = "UID[=PATH]")]
    types: Vec<String>,
    /// The locales of the site, the default first; by default those of the CMS
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    locales: Vec<String>,
}

/// What to read.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The address of the CMS.
    pub(super) cms: String,
    /// The content types; empty: all of them.
    pub(super) types: Vec<WantedType>,
    /// The locales of the site; `None`: those of the CMS.
    pub(super) locales: Option<Locales>,
}

/// A content type that the command line names.
#[derive(Debug)]
pub(super) struct WantedType {
    pub(super) uid: ContentTypeUid,
    /// The path below `/api`, of which the command line does not say the kind; empty: it is not
    /// named.
    pub(super) endpoints: Vec<Endpoint>,
}

impl InitArgs {
    /// # Errors
    /// The mistake in the arguments.
    pub(super) fn parse(&self) -> Result<Wanted, String> {
        let cms = config::cms_url(&self.cms).map_err(|problem| format!("--cms: {problem}"))?;
        if let Some(address) = cms.trim_end_matches('/').strip_suffix("/admin") {
            return Err(format!(
                "--cms: the address of Strapi is without /admin: write --cms {address}"
            ));
        }
        let types = self.types.iter().map(|text| wanted_type(text)).collect::<Result<_, _>>()?;
        Ok(Wanted { cms, types, locales: locales(&self.locales)? })
    }
}

fn wanted_type(text: &str) -> Result<WantedType, String> {
    let shown = text.escape_debug();
    let (uid, path) = text.split_once('=').map_or((text, None), |(uid, path)| (uid, Some(path)));
    let uid = ContentTypeUid::parse(uid).map_err(|error| format!("--type {shown}: {error}"))?;
    let endpoint = |kind| {
        path.map(|path| {
            Endpoint::new(path, kind).map_err(|error| format!("--type {shown}: {error}"))
        })
    };
    let endpoints =
        [EndpointKind::Collection, EndpointKind::Single].into_iter().filter_map(endpoint);
    Ok(WantedType { uid, endpoints: endpoints.collect::<Result<_, _>>()? })
}

fn locales(codes: &[String]) -> Result<Option<Locales>, String> {
    if codes.is_empty() {
        return Ok(None);
    }
    if let Some(at) = codes.iter().position(String::is_empty) {
        return Err(format!("--locales: entry {} is empty: remove a comma", at + 1));
    }
    let parse = |code: &String| {
        Locale::parse(code).map_err(|error| format!("--locales {}: {error}", code.escape_debug()))
    };
    let codes: Vec<Locale> = codes.iter().map(parse).collect::<Result<_, _>>()?;
    Locales::new(codes).map(Some).map_err(|error| format!("--locales: {error}"))
}

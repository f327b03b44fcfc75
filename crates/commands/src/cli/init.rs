//! `frontend-map init`: writes a settings file from what a CMS has.

mod arguments;
mod locales;
mod redirects;
mod rules;
mod slug;
mod survey;
mod text;
mod types;

pub(super) use arguments::InitArgs;

use std::error::Error;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use self::arguments::Wanted;
use self::survey::Survey;
use self::types::LeftOut;
use super::error::CommandError;
use super::output::logging;
use super::output::terminal::prose_width;
use super::output::words::{count, wrapped};
use crate::config::{self, Cms, Config, SettingsFile, environment};
use frontend_map_cms::{RequestLimiters, Strapi};
use frontend_map_rules::Locale;

/// The name that stands for stdout.
const STDOUT: &str = "-";

/// Asks the CMS and writes the file.
///
/// # Errors
/// When an argument is invalid, the CMS cannot be read, no content type can have a rule, or the file exists or cannot be
/// written.
pub(super) fn run(args: &InitArgs, verbose: bool) -> Result<(), CommandError> {
    let wanted = args.parse().map_err(CommandError::Arguments)?;
    let settings = config::without_file(&wanted.cms, &environment::of_process())?;
    logging::start_if(verbose, &settings.log);
    let to_stdout = args.out.as_os_str() == STDOUT;
    if !to_stdout && std::fs::symlink_metadata(&args.out).is_ok() {
        return Err(exists(&args.out).into());
    }
    let survey = survey(settings, &wanted)?;
    let text = text::settings(&wanted.cms, &survey);
    // Names of the CMS are in it.
    config::parse(Some(&text), Path::new(SettingsFile::DEFAULT), &[].into())?;
    if to_stdout {
        std::io::stdout().write_all(text.as_bytes()).map_err(Box::from)?;
        // stderr may be closed.
        let _ = write!(std::io::stderr(), "{}", summary(&survey));
    } else {
        write_new(&args.out, &text)?;
        let said = format!("{}\n{}", written(&args.out, &survey), next_steps(&args.out));
        std::io::stdout().write_all(said.as_bytes()).map_err(Box::from)?;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn survey(settings: Config, wanted: &Wanted) -> Result<Survey, Box<dyn Error>> {
    let limiters = RequestLimiters::new(settings.limits.cms_requests);
    let Cms::Strapi(cms) = settings.cms else { unreachable!("`without_file` sets the source") };
    let strapi = Strapi::new(cms, std::sync::Arc::default(), &limiters)?;
    Ok(survey::survey(&strapi, wanted).await?)
}

/// Writes a file that must not exist yet.
fn write_new(path: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::AlreadyExists => exists(path),
        _ => format!("{}: {error}", path.display()).into(),
    };
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(|error| {
        // The next try would find a part of a file, and not overwrite it.
        let _ = std::fs::remove_file(path);
        failed(error)
    })
}

fn exists(path: &Path) -> Box<dyn Error> {
    let shown = path.display();
    if path.is_dir() {
        let file = path.join(SettingsFile::DEFAULT);
        return format!("{shown} is a folder: name a file in it, such as --out {}", quoted(&file))
            .into();
    }
    format!(
        "{shown} exists and is not overwritten: write another file with --out FILE, print the \
         settings with --out -, or remove {shown}"
    )
    .into()
}

fn written(path: &Path, survey: &Survey) -> String {
    format!("wrote {}: {}", path.display(), summary(survey))
}

/// The numbers, and what has no rule.
fn summary(survey: &Survey) -> String {
    let locales: Vec<&str> = survey.locales.codes.iter().map(Locale::as_str).collect();
    let rules = count(survey.rules.len() as u64, "rule");
    let locales = format!("{} {}", plural(&locales, "locale"), locales.join(", "));
    let mut out = format!("{rules}, {locales}\n");
    out.extend(survey.redirects.iter().map(|redirects| format!("redirects: {}\n", redirects.uid)));
    if !survey.left_out.is_empty() {
        out += "\nwithout a rule:\n";
        let lines = |LeftOut { uid, reason, .. }: &LeftOut| {
            format!("  {uid}\n{}\n", wrapped(reason, prose_width(), "    "))
        };
        out.extend(survey.left_out.iter().map(lines));
    }
    out
}

fn plural(list: &[&str], thing: &str) -> String {
    if list.len() == 1 { thing.to_owned() } else { format!("{thing}s") }
}

/// The commands that come next. They find the file without `--config` if it has the default name and
/// no variable names another one.
fn next_steps(path: &Path) -> String {
    let file = SettingsFile::find(None, &environment::of_process());
    let is_found = file.is_ok_and(|file| file.path() == path);
    let command = if is_found {
        "frontend-map".to_owned()
    } else {
        format!("frontend-map --config {}", quoted(path))
    };
    format!(
        "next:\n  1. in the file, set front_end_url, without which there are no URLs, and correct the \
         guesses\n  2. {command} check\n  3. {command} serve\n"
    )
}

/// The path as a POSIX shell reads it, in single quotes where it needs them.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

//! The sitemap files of the sites: which there are, since when they are as they are, and their
//! texts, written when somebody asks for them.

use std::collections::HashMap;
use std::io::Write;
use std::num::NonZero;
use std::sync::Arc;
use std::time::SystemTime;

use axum::body::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::future::try_join_all;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use tokio::sync::{Semaphore, oneshot};

use super::snapshots::next_second;
use super::{App, Kept, Served};
use crate::content::ContentError;
use crate::rules::ContentTypeUid;
use crate::site::{Site, Sites};
use crate::sitemap::files::{File, Frame, Layout, write};
use crate::snapshot::Snapshot;

/// The memory for texts, in bytes: a file of 50,000 URLs is about 10 MB, compressed 1 MB; the
/// largest has 50 MiB.
const TEXT_BYTES: u64 = 128 << 20;
/// For the cache's own tables.
const USUAL_TEXTS: usize = 256;

/// The files of one content type.
#[derive(Debug)]
pub struct Files {
    /// Which documents stand in which.
    pub layout: Layout,
    /// When the set of files last became another, as far as this process knows; as [`Kept::changed`].
    pub changed: SystemTime,
    changes: HashMap<u64, SystemTime>,
}

impl Files {
    pub(super) fn new(layout: Layout, before: Option<&Self>) -> Self {
        let now = next_second();
        let since = |file: &File| {
            let before = before?;
            let same = before.layout.file(file.number)?.hash == file.hash;
            same.then(|| before.changes.get(&file.number).copied()).flatten()
        };
        let change = |file: &File| (file.number, since(file).unwrap_or(now));
        let changes = layout.files.iter().map(change).collect();
        let hashes = |layout: &Layout| -> Vec<(u64, u128)> {
            layout.files.iter().map(|file| (file.number, file.hash)).collect()
        };
        let same = before.filter(|before| hashes(&before.layout) == hashes(&layout));
        Self { changed: same.map_or(now, |before| before.changed), changes, layout }
    }

    /// When a file last became another, as far as this process knows.
    #[must_use]
    pub fn changed(&self, file: &File) -> SystemTime {
        self.changes.get(&file.number).copied().unwrap_or(self.changed)
    }
}

/// The texts that were asked for, by what stands in them: a refresh that changes nothing finds
/// them again.
pub(super) struct Texts {
    cache: Arc<Cache<Key, Bytes, Weight>>,
    /// For those who write one: half of the cores are left to who answers from memory.
    writers: Arc<Semaphore>,
}

/// What all files of a site have in common, by its key; of sites with a base URL.
pub(super) struct Frames(HashMap<String, Frame>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    /// [`App::mark`] of the site.
    site: u128,
    hash: u128,
    gzip: bool,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Bytes> for Weight {
    fn weight(&self, _: &Key, text: &Bytes) -> u64 {
        text.len() as u64
    }
}

/// In one part: of several, each would be too small for a large file.
fn cache() -> Cache<Key, Bytes, Weight> {
    let mut options = OptionsBuilder::new();
    options.shards(1).estimated_items_capacity(USUAL_TEXTS).weight_capacity(TEXT_BYTES);
    let options = options.build().expect("both capacities are set");
    Cache::with_options(options, Weight, DefaultHashBuilder::default(), DefaultLifecycle::default())
}

impl Texts {
    pub(super) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self::by((cores / 2).max(1))
    }

    fn by(writers: usize) -> Self {
        Self { cache: Arc::new(cache()), writers: Arc::new(Semaphore::new(writers)) }
    }

    /// The text of this key, made once, whoever of those who want it leaves.
    async fn text(
        &self,
        key: Key,
        make: impl FnOnce() -> Option<Bytes> + Send + 'static,
    ) -> Option<Bytes> {
        if let Some(text) = self.cache.get(&key) {
            return Some(text);
        }
        let (cache, writers) = (Arc::clone(&self.cache), Arc::clone(&self.writers));
        let (mut answer, answered) = oneshot::channel();
        // The work does not end with its caller, so neither may its permit, and nobody may do it anew.
        tokio::spawn(async move {
            let text = async {
                // Only the first of those who want a text takes a permit: a crowd for one keeps no
                // other from being written. Who has left before its turn leaves nothing behind.
                let _writer = tokio::select! {
                    biased;
                    () = answer.closed() => return Err(()),
                    writer = writers.acquire() => writer.map_err(drop)?,
                };
                tokio::task::spawn_blocking(make).await.ok().flatten().ok_or(())
            };
            let text = cache.get_or_insert_async(&key, text).await;
            let _ = answer.send(text.ok());
        });
        answered.await.ok().flatten()
    }
}

impl Frames {
    pub(super) fn new(sites: &Sites) -> Self {
        let frame = |site: &Site| {
            let base = site.base.as_ref()?;
            Some((site.key.clone(), Frame::new(base, site.rules.locales())))
        };
        Self(sites.iter().filter_map(frame).collect())
    }

    /// The files of a snapshot; `None` without a base URL.
    pub(super) fn files(
        &self,
        site: &str,
        snapshot: &Snapshot,
        before: Option<&Kept>,
    ) -> Option<Arc<Files>> {
        let frame = self.0.get(site)?;
        let before = before.and_then(|before| before.files.as_deref());
        Some(Arc::new(Files::new(Layout::new(snapshot, frame), before)))
    }
}

impl App {
    /// A copy for each content type of a site that sitemaps list, in the order of the settings.
    ///
    /// # Errors
    /// As [`App::snapshot`], if there is none for one of them.
    pub async fn snapshots<'s>(
        self: &Arc<Self>,
        site: &'s Site,
    ) -> Result<Vec<(&'s ContentTypeUid, Served)>, ContentError> {
        let mut types = site.rules.content_types();
        types.retain(|uid| site.rules.of_type(uid.as_str()).any(|rule| rule.sitemap.listed));
        let copies = types.iter().map(|uid| self.snapshot(site, uid.as_str()));
        Ok(types.iter().copied().zip(try_join_all(copies).await?).collect())
    }

    /// The text of a file, written once and compressed once; `None` without a base URL.
    pub async fn file_text(
        self: &Arc<Self>,
        site: &Site,
        kept: &Kept,
        file: &File,
        gzip: bool,
    ) -> Option<Bytes> {
        let (app, snapshot, range) =
            (Arc::clone(self), Arc::clone(&kept.snapshot), file.range.clone());
        let name = site.key.clone();
        // 50,000 URLs take milliseconds to write, and ten times as long to compress.
        let make = move || {
            let frame = app.frames.0.get(&name)?;
            let text = write(&snapshot, frame, range);
            if gzip { gzipped(text.as_bytes()) } else { Some(text.into()) }
        };
        let key = Key { site: self.mark(&site.key), hash: file.hash, gzip };
        self.lasting.texts.text(key, make).await
    }
}

/// Compressed once and sent often: worth the usual level.
fn gzipped(text: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures::FutureExt;

    use super::*;

    fn key(hash: u128) -> Key {
        Key { site: 0, hash, gzip: true }
    }

    #[tokio::test]
    async fn who_leaves_stops_no_text_and_makes_no_room_for_another_writer() {
        let texts = Texts::by(1);
        let (begun, begins) = tokio::sync::oneshot::channel();
        let (go_on, goes_on) = mpsc::channel();
        let mut first = Box::pin(texts.text(key(1), move || {
            let _ = begun.send(());
            goes_on.recv().ok()
        }));
        assert!(first.as_mut().now_or_never().is_none());
        begins.await.expect("it is being made");
        drop(first);
        assert_eq!(texts.writers.available_permits(), 0, "it is still being made");
        let mut others: Vec<_> = [1, 2]
            .map(|hash| Box::pin(texts.text(key(hash), || Some(Bytes::from("another one")))))
            .into();
        assert!(others.iter_mut().all(|other| other.as_mut().now_or_never().is_none()));
        go_on.send(Bytes::from("the text")).expect("somebody makes it");
        let made = futures::future::join_all(others).await;
        assert_eq!(made, [Some(Bytes::from("the text")), Some(Bytes::from("another one"))]);
        assert_eq!(texts.writers.available_permits(), 1);
    }

    #[tokio::test]
    async fn a_crowd_for_one_text_keeps_no_other_from_being_made() {
        let texts = Texts::by(2);
        let (go_on, goes_on) = mpsc::channel();
        let first = texts.text(key(1), move || goes_on.recv().ok());
        let herd = (0..3).map(|_| texts.text(key(1), || None).boxed());
        let mut crowd: Vec<_> = std::iter::once(first.boxed()).chain(herd).collect();
        assert!(crowd.iter_mut().all(|caller| caller.as_mut().now_or_never().is_none()));
        tokio::task::yield_now().await;
        assert_eq!(texts.writers.available_permits(), 1);
        let other = texts.text(key(2), || Some(Bytes::from("another one"))).await;
        assert_eq!(other, Some(Bytes::from("another one")));
        go_on.send(Bytes::from("the text")).expect("somebody makes it");
        let made = futures::future::join_all(crowd).await;
        assert_eq!(made, vec![Some(Bytes::from("the text")); 4]);
    }

    #[tokio::test]
    async fn who_leaves_before_its_turn_has_nothing_made() {
        let texts = Texts::by(1);
        let writer = texts.writers.acquire().await;
        let mut leaver = Box::pin(texts.text(key(1), || Some(Bytes::from("for nobody"))));
        assert!(leaver.as_mut().now_or_never().is_none());
        tokio::task::yield_now().await;
        drop(leaver);
        drop(writer);
        let text = Some(Bytes::from("for somebody"));
        assert_eq!(texts.text(key(1), || Some(Bytes::from("for somebody"))).await, text);
    }

    #[tokio::test]
    async fn a_text_that_cannot_be_made_is_tried_again() {
        let texts = Texts::by(1);
        assert_eq!(texts.text(key(1), || None).await, None);
        let text = Bytes::from("the text");
        let again = text.clone();
        assert_eq!(texts.text(key(1), move || Some(again)).await, Some(text));
    }
}

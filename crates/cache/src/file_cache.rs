//! The texts of sitemap files: written and compressed once, however many requests wait for one.

use std::io::Write;
use std::num::NonZero;
use std::sync::Arc;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use tokio::sync::{Semaphore, oneshot};

use crate::cached_snapshot::CachedSnapshot;
use frontend_map_catalog::site::Site;
use frontend_map_catalog::sitemap::files::{File, write};

/// The memory for texts, in bytes: a file of 50,000 URLs is about 10 MB, compressed 1 MB; the
/// largest has 50 MiB.
const MAX_BYTES: u64 = 128 << 20;
/// The expected number of texts, for the tables of the cache.
const ESTIMATED_TEXTS: usize = 256;

/// The texts of sitemap files, keyed by content: after a refresh that changes nothing they are still
/// cached. Cheap to clone.
#[derive(Clone)]
pub struct FileCache {
    cache: Arc<Cache<Key, Bytes, Weight>>,
    /// Permits to write a text: half of the cores stay free for other requests.
    writers: Arc<Semaphore>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    /// [`Site::fingerprint`].
    site: u128,
    /// [`File::hash`].
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

impl Default for FileCache {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self::with_writers((cores / 2).max(1))
    }
}

impl FileCache {
    fn with_writers(writers: usize) -> Self {
        let mut options = OptionsBuilder::new();
        // One shard: a part of several would be too small for a large file.
        options.shards(1).estimated_items_capacity(ESTIMATED_TEXTS).weight_capacity(MAX_BYTES);
        let options = options.build().expect("both capacities are set");
        let (hasher, lifecycle) = (DefaultHashBuilder::default(), DefaultLifecycle::default());
        let cache = Cache::with_options(options, Weight, hasher, lifecycle);
        Self { cache: Arc::new(cache), writers: Arc::new(Semaphore::new(writers)) }
    }

    /// The text of a file of a snapshot on the host at this position; `None` without a base URL.
    pub async fn text(
        &self,
        site: &Site,
        cached: &CachedSnapshot,
        host: usize,
        file: &File,
        gzip: bool,
    ) -> Option<Bytes> {
        let (snapshot, range) = (Arc::clone(&cached.snapshot), file.range.clone());
        let hidden = cached.hidden.clone();
        let frame = Arc::clone(&cached.files.get(host)?.frame);
        // 50,000 URLs take milliseconds to write, and ten times as long to compress.
        let make = move || {
            let text = write(&snapshot, hidden.as_deref(), &frame, range);
            if gzip { compress(text.as_bytes()) } else { text.into() }
        };
        self.get_or_make(Key { site: site.fingerprint, hash: file.hash, gzip }, make).await
    }

    /// The text of this key, written once, even if the first request that needs it is cancelled;
    /// `None` if writing it panics.
    async fn get_or_make(
        &self,
        key: Key,
        make: impl FnOnce() -> Bytes + Send + 'static,
    ) -> Option<Bytes> {
        if let Some(text) = self.cache.get(&key) {
            return Some(text);
        }
        let (cache, writers) = (Arc::clone(&self.cache), Arc::clone(&self.writers));
        let (mut answer, answered) = oneshot::channel();
        // The work outlives a cancelled request, so its permit must as well, and so must the cache's
        // record that the text is being written.
        tokio::spawn(async move {
            let text = async {
                // Only the first request for a text takes a permit, so that many requests for one
                // file do not delay other files. A request that is cancelled while it waits for the
                // permit leaves nothing behind.
                let _permit = tokio::select! {
                    biased;
                    () = answer.closed() => return Err(()),
                    permit = writers.acquire() => permit.expect("the semaphore is never closed"),
                };
                tokio::task::spawn_blocking(make).await.map_err(drop)
            };
            let text = cache.get_or_insert_async(&key, text).await;
            let _ = answer.send(text.ok());
        });
        answered.await.ok().flatten()
    }
}

/// Compresses at the default level: a text is compressed once and sent often.
fn compress(text: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let compressed = encoder.write_all(text).and_then(|()| encoder.finish());
    compressed.expect("writing to memory does not fail").into()
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
    async fn cancelled_request_neither_stops_its_text_nor_frees_its_permit() {
        let files = FileCache::with_writers(1);
        let (begun, begins) = tokio::sync::oneshot::channel();
        let (go_on, goes_on) = mpsc::channel();
        let mut first = Box::pin(files.get_or_make(key(1), move || {
            let _ = begun.send(());
            goes_on.recv().expect("the test sends a text")
        }));
        assert!(first.as_mut().now_or_never().is_none());
        begins.await.expect("it is being made");
        drop(first);
        assert_eq!(files.writers.available_permits(), 0, "it is still being made");
        let mut others: Vec<_> = [1, 2]
            .map(|hash| Box::pin(files.get_or_make(key(hash), || Bytes::from("another one"))))
            .into();
        assert!(others.iter_mut().all(|other| other.as_mut().now_or_never().is_none()));
        go_on.send(Bytes::from("the text")).expect("it is being made");
        let made = futures::future::join_all(others).await;
        assert_eq!(made, [Some(Bytes::from("the text")), Some(Bytes::from("another one"))]);
        assert_eq!(files.writers.available_permits(), 1);
    }

    #[tokio::test]
    async fn many_requests_for_one_text_take_one_permit() {
        let files = FileCache::with_writers(2);
        let (go_on, goes_on) = mpsc::channel();
        let first = files.get_or_make(key(1), move || goes_on.recv().expect("the test sends one"));
        let herd = (0..3).map(|_| files.get_or_make(key(1), || panic!("made twice")).boxed());
        let mut requests: Vec<_> = std::iter::once(first.boxed()).chain(herd).collect();
        assert!(requests.iter_mut().all(|request| request.as_mut().now_or_never().is_none()));
        tokio::task::yield_now().await;
        assert_eq!(files.writers.available_permits(), 1);
        let other = files.get_or_make(key(2), || Bytes::from("another one")).await;
        assert_eq!(other, Some(Bytes::from("another one")));
        go_on.send(Bytes::from("the text")).expect("it is being made");
        let made = futures::future::join_all(requests).await;
        assert_eq!(made, vec![Some(Bytes::from("the text")); 4]);
    }

    #[tokio::test]
    async fn request_that_is_cancelled_before_its_permit_writes_no_text() {
        let files = FileCache::with_writers(1);
        let permit = files.writers.acquire().await;
        let mut cancelled = Box::pin(files.get_or_make(key(1), || panic!("made in vain")));
        assert!(cancelled.as_mut().now_or_never().is_none());
        tokio::task::yield_now().await;
        drop(cancelled);
        drop(permit);
        let text = Bytes::from("the text");
        let again = text.clone();
        assert_eq!(files.get_or_make(key(1), move || again).await, Some(text));
    }

    #[tokio::test]
    async fn text_whose_writing_panicked_is_written_again() {
        let files = FileCache::with_writers(1);
        assert_eq!(files.get_or_make(key(1), || panic!("it fails once")).await, None);
        let text = Bytes::from("the text");
        let again = text.clone();
        assert_eq!(files.get_or_make(key(1), move || again).await, Some(text));
    }
}

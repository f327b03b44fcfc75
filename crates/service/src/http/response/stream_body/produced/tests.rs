use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use axum::body::Body;
use futures::FutureExt;
use futures::future::join_all;
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::super::producers;
use super::*;

const BODIES: usize = 64;
const CHUNKS: usize = 50;
const PRODUCERS: usize = 2;
const LONG: Duration = Duration::from_secs(30);

fn runtime(threads: usize) -> &'static Runtime {
    Box::leak(Box::new(producers::start(threads).unwrap()))
}

fn body(
    chunks: impl Iterator<Item = Bytes> + Send + Unpin + 'static,
    producers: &'static Runtime,
) -> Body {
    Body::new(ProducedBody::new(chunks, None, producers))
}

/// Chunks that count how many bodies produce one at the same time.
fn counted(now: &Arc<AtomicUsize>, most: &Arc<AtomicUsize>) -> impl Iterator<Item = Bytes> + use<> {
    let (now, most) = (Arc::clone(now), Arc::clone(most));
    (0..CHUNKS).map(move |_| {
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // Lets the other bodies in, if the producers do.
        std::thread::yield_now();
        now.fetch_sub(1, Ordering::SeqCst);
        Bytes::from_static(b"x")
    })
}

#[test]
fn producers_produce_at_most_one_chunk_each_at_a_time() {
    let (now, most) = (Arc::default(), Arc::default());
    let producers = runtime(PRODUCERS);
    let bodies: Vec<Body> = (0..BODIES).map(|_| body(counted(&now, &most), producers)).collect();
    let clients = tokio::runtime::Builder::new_multi_thread().worker_threads(8).build().unwrap();
    let lengths = clients.block_on(async {
        let read = |body: Body| async { body.collect().await.map(|read| read.to_bytes().len()) };
        join_all(bodies.into_iter().map(|body| tokio::spawn(read(body)))).await
    });
    for length in lengths {
        assert_eq!(length.expect("no panic").expect("no error"), CHUNKS);
    }
    assert!((1..=PRODUCERS).contains(&most.load(Ordering::SeqCst)), "{most:?}");
}

#[tokio::test]
async fn produced_bodies_whose_clients_stop_reading_do_not_delay_others() {
    let producers = runtime(1);
    let ones = || body((0..CHUNKS).map(|_| Bytes::from_static(b"x")), producers);
    let mut slow: Vec<Body> = (0..BODIES).map(|_| ones()).collect();
    for body in &mut slow {
        let frame = body.frame().await.expect("a chunk").expect("no error");
        assert_eq!(frame.into_data().expect("bytes"), "x");
    }
    assert_eq!(ones().collect().await.expect("no error").to_bytes().len(), CHUNKS);
}

#[tokio::test]
async fn produced_body_is_one_chunk_ahead_of_a_client_that_never_waits() {
    let made = Arc::new(AtomicUsize::new(0));
    let own = Arc::clone(&made);
    let chunks = (0..CHUNKS).map(move |_| {
        own.fetch_add(1, Ordering::SeqCst);
        Bytes::from_static(b"x")
    });
    let producers = runtime(1);
    let mut body = ProducedBody::new(chunks, None, producers);
    for taken in 0..CHUNKS - 1 {
        while !body.next.as_ref().is_some_and(JoinHandle::is_finished) {
            yield_now().await;
        }
        assert_eq!(made.load(Ordering::SeqCst), taken + 1);
        take_chunk(&mut body).await;
    }
}

#[tokio::test]
async fn batches_of_a_client_that_waits_grow() {
    let (permits, gate) = mpsc::channel();
    let chunks = iter::from_fn(move || gate.recv().ok().map(|()| Bytes::from_static(b"x")));
    let mut body = ProducedBody::new(chunks, None, runtime(1));
    for size in [1, 2, 3, 3] {
        // The first poll after a chunk yields, the second one finds that nothing is produced.
        for _ in 0..2 {
            assert!(take_chunk(&mut body).now_or_never().is_none());
        }
        for _ in 0..size {
            permits.send(()).expect("the producer waits for it");
        }
        let first = timeout(LONG, take_chunk(&mut body)).await;
        first.unwrap_or_else(|_| panic!("more than {size} chunks in a batch"));
        assert_eq!(body.ready.len(), size - 1);
        for _ in 1..size {
            take_chunk(&mut body).await;
        }
    }
    drop(permits);
    assert!(body.frame().await.is_none());
}

async fn take_chunk<I>(body: &mut ProducedBody<I>)
where
    I: Iterator<Item = Bytes> + Send + Unpin + 'static,
{
    body.frame().await.expect("a chunk").expect("no error");
}

#[tokio::test]
async fn produced_body_leaves_out_empty_chunks() {
    let chunks = ["", "a", "", "", "b", ""].map(|chunk| Bytes::from_static(chunk.as_bytes()));
    let mut body = ProducedBody::new(chunks.into_iter(), Some(2), runtime(1));
    let mut frames = Vec::new();
    while let Some(frame) = body.frame().await {
        frames.push(frame.unwrap().into_data().unwrap());
    }
    assert_eq!(frames, ["a", "b"]);
    assert!(body.is_end_stream());
}

#[tokio::test]
async fn produced_body_that_panics_ends_with_an_error() {
    let chunks = (0..2).map(|at| {
        assert_eq!(at, 0, "a fault of the iterator");
        Bytes::from_static(b"x")
    });
    let mut body = ProducedBody::new(chunks, None, runtime(1));
    assert!(body.frame().await.expect("a chunk").is_ok());
    assert!(body.frame().await.expect("an error").unwrap_err().is_panic());
    assert!(body.frame().await.is_none());
}

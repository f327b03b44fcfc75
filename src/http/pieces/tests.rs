use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use futures::future::join_all;

use super::*;

const BODIES: usize = 64;
const PIECES: usize = 50;
const TURNS: usize = 2;

fn body(
    pieces: impl Iterator<Item = Bytes> + Send + Unpin + 'static,
    turns: &Arc<Semaphore>,
) -> Body {
    let pieces = Pieces::by(pieces, None, Arc::clone(turns));
    Body::new(pieces.map_err(|never| match never {}))
}

/// Pieces that know how many of all bodies are in the making at a time.
fn watched(now: &Arc<AtomicUsize>, most: &Arc<AtomicUsize>) -> impl Iterator<Item = Bytes> + use<> {
    let (now, most) = (Arc::clone(now), Arc::clone(most));
    (0..PIECES).map(move |_| {
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // The others shall come if they may.
        std::thread::yield_now();
        now.fetch_sub(1, Ordering::SeqCst);
        Bytes::from_static(b"x")
    })
}

#[test]
fn few_of_many_bodies_are_at_work_at_a_time() {
    let (now, most, turns) = (Arc::default(), Arc::default(), Arc::new(Semaphore::new(TURNS)));
    let bodies: Vec<Body> = (0..BODIES).map(|_| body(watched(&now, &most), &turns)).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(8).build().unwrap();
    let lengths = runtime.block_on(async {
        let read = |body: Body| async { body.collect().await.map(|read| read.to_bytes().len()) };
        join_all(bodies.into_iter().map(|body| tokio::spawn(read(body)))).await
    });
    for length in lengths {
        assert_eq!(length.expect("no panic").expect("no error"), PIECES);
    }
    assert!((1..=TURNS).contains(&most.load(Ordering::SeqCst)), "{most:?}");
}

#[test]
fn who_does_not_read_on_keeps_no_turn() {
    let turns = Arc::new(Semaphore::new(1));
    let ones = || body((0..PIECES).map(|_| Bytes::from_static(b"x")), &turns);
    let mut slow: Vec<Body> = (0..BODIES).map(|_| ones()).collect();
    for body in &mut slow {
        let frame = body.frame().now_or_never().flatten().expect("a piece").expect("no error");
        assert_eq!(frame.into_data().expect("bytes"), "x");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let read = runtime.block_on(ones().collect()).expect("no error");
    assert_eq!(read.to_bytes().len(), PIECES);
}

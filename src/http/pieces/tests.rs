use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use futures::future::join_all;

use super::*;

const BODIES: usize = 64;
const PIECES: usize = 50;

/// Pieces that know how many of all bodies are in the making at a time.
fn watched(now: &Arc<AtomicUsize>, most: &Arc<AtomicUsize>) -> Body {
    let (now, most) = (Arc::clone(now), Arc::clone(most));
    let pieces = (0..PIECES).map(move |_| {
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // The others shall come if they may.
        std::thread::yield_now();
        now.fetch_sub(1, Ordering::SeqCst);
        "x".to_owned()
    });
    unmeasured(pieces)
}

#[test]
fn few_of_many_bodies_are_at_work_at_a_time() {
    let (now, most) = (Arc::default(), Arc::default());
    let bodies: Vec<Body> = (0..BODIES).map(|_| watched(&now, &most)).collect();
    // The first two pieces are made before there is an answer.
    most.store(0, Ordering::SeqCst);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(8).build().unwrap();
    let lengths = runtime.block_on(async {
        let read = |body: Body| async { body.collect().await.map(|read| read.to_bytes().len()) };
        join_all(bodies.into_iter().map(|body| tokio::spawn(read(body)))).await
    });
    for length in lengths {
        assert_eq!(length.expect("no panic").expect("no error"), PIECES);
    }
    let turns = (available_parallelism().map_or(1, NonZero::get) / 2).max(1);
    assert!((1..=turns).contains(&most.load(Ordering::SeqCst)), "{most:?} of {turns}");
}

#[test]
fn who_does_not_read_on_keeps_no_turn() {
    let ones = || unmeasured((0..PIECES).map(|_| "x".to_owned()));
    let mut slow: Vec<Body> = (0..BODIES).map(|_| ones()).collect();
    for body in &mut slow {
        let frame = body.frame().now_or_never().flatten().expect("a piece").expect("no error");
        assert_eq!(frame.into_data().expect("bytes"), "x");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let read = runtime.block_on(ones().collect()).expect("no error");
    assert_eq!(read.to_bytes().len(), PIECES);
}

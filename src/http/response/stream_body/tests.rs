use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use futures::future::join_all;

use super::*;

const BODIES: usize = 64;
const CHUNKS: usize = 50;
const PRODUCERS: usize = 2;

fn body(
    chunks: impl Iterator<Item = Bytes> + Send + Unpin + 'static,
    producers: &Arc<Semaphore>,
) -> Body {
    StreamBody::with_producers(chunks, None, Arc::clone(producers)).boxed()
}

/// Chunks that count how many bodies make one at a time.
fn counted(now: &Arc<AtomicUsize>, most: &Arc<AtomicUsize>) -> impl Iterator<Item = Bytes> + use<> {
    let (now, most) = (Arc::clone(now), Arc::clone(most));
    (0..CHUNKS).map(move |_| {
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // Lets the other bodies in, if the semaphore does.
        std::thread::yield_now();
        now.fetch_sub(1, Ordering::SeqCst);
        Bytes::from_static(b"x")
    })
}

#[test]
fn stream_body_of_many_bodies_only_a_few_make_a_chunk_at_a_time() {
    let (now, most) = (Arc::default(), Arc::default());
    let producers = Arc::new(Semaphore::new(PRODUCERS));
    let bodies: Vec<Body> = (0..BODIES).map(|_| body(counted(&now, &most), &producers)).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(8).build().unwrap();
    let lengths = runtime.block_on(async {
        let read = |body: Body| async { body.collect().await.map(|read| read.to_bytes().len()) };
        join_all(bodies.into_iter().map(|body| tokio::spawn(read(body)))).await
    });
    for length in lengths {
        assert_eq!(length.expect("no panic").expect("no error"), CHUNKS);
    }
    assert!((1..=PRODUCERS).contains(&most.load(Ordering::SeqCst)), "{most:?}");
}

#[test]
fn stream_body_whose_client_stops_reading_releases_its_permit() {
    let producers = Arc::new(Semaphore::new(1));
    let ones = || body((0..CHUNKS).map(|_| Bytes::from_static(b"x")), &producers);
    let mut slow: Vec<Body> = (0..BODIES).map(|_| ones()).collect();
    for body in &mut slow {
        let frame = body.frame().now_or_never().flatten().expect("a chunk").expect("no error");
        assert_eq!(frame.into_data().expect("bytes"), "x");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let read = runtime.block_on(ones().collect()).expect("no error");
    assert_eq!(read.to_bytes().len(), CHUNKS);
}

#[test]
fn stream_body_lets_events_of_sockets_in_after_each_chunk() {
    const SENT_AT: usize = 10;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    server.set_nonblocking(true).unwrap();
    let made = Arc::new(AtomicUsize::new(0));
    let own = Arc::clone(&made);
    let chunks = (0..CHUNKS).map(move |at| {
        if at == SENT_AT {
            client.write_all(b"x").unwrap();
        }
        own.fetch_add(1, Ordering::SeqCst);
        Bytes::from_static(b"x")
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let seen_at = runtime.block_on(async {
        let server = tokio::net::TcpStream::from_std(server).unwrap();
        let other = tokio::spawn(async move {
            server.readable().await.unwrap();
            made.load(Ordering::SeqCst)
        });
        let stream = body(chunks, &Arc::new(Semaphore::new(1)));
        tokio::spawn(stream.collect()).await.unwrap().unwrap();
        other.await.unwrap()
    });
    assert!((SENT_AT..SENT_AT + 3).contains(&seen_at), "seen after {seen_at} chunks");
}

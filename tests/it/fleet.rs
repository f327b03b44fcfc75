//! Several instances that act as one, on a real redis-server.

mod engine;

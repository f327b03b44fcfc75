//! A real redis-server on a free port, which a test may kill, pause, restart and flush.

use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::wait;

/// The longest time for one command of a test.
const PATIENCE: Duration = Duration::from_secs(30);

/// The running Redis; dropping it kills it. It stores nothing.
pub(crate) struct Redis {
    child: Option<Child>,
    port: u16,
    tls_port: Option<u16>,
    arguments: Vec<String>,
    /// Arguments by which a client reaches it, such as a password.
    user: Option<(String, String)>,
    dir: TempDir,
}

impl Redis {
    /// A Redis without further settings.
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// A Redis with these arguments, such as `["--maxmemory", "2mb"]`.
    pub(crate) fn with(arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut redis = Self { child: None, port: 0, tls_port: None, arguments, user: None, dir };
        // Another process may take the port before Redis does.
        wait::until_so("redis-server takes a free port", || {
            redis.port = free_port();
            redis.restart()
        });
        redis
    }

    /// A Redis that is not running yet, but has its port.
    pub(crate) fn absent() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        Self {
            child: None,
            port: free_port(),
            tls_port: None,
            arguments: Vec::new(),
            user: None,
            dir,
        }
    }

    /// A Redis that has a port for TLS as well, with the certificate and the key in these files.
    pub(crate) fn behind_tls(cert: &str, key: &str) -> Self {
        let port = free_port();
        let tls = port.to_string();
        let files = ["--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert];
        let port_and_clients = ["--tls-port", &tls, "--tls-auth-clients", "no"];
        let mut redis = Self::with(&[&port_and_clients[..], &files[..]].concat());
        redis.tls_port = Some(port);
        redis
    }

    /// Its port for TLS.
    pub(crate) fn tls_port(&self) -> Option<u16> {
        self.tls_port
    }

    /// Lets [`Redis::command`] use this user and password.
    pub(crate) fn of_user(mut self, user: &str, password: &str) -> Self {
        self.user = Some((user.to_owned(), password.to_owned()));
        self
    }

    /// Its port on 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Its address, without a password.
    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Starts it again on its port, after [`Redis::kill`]; `false`: it has ended at once. It is
    /// empty.
    pub(crate) fn restart(&mut self) -> bool {
        let port = self.port.to_string();
        let child = Command::new("redis-server")
            .args(["--port", &port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .args(&self.arguments)
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("redis-server runs: install the Debian package `redis-server`");
        self.child = Some(child);
        wait::until("redis-server listens or ends", || {
            let child = self.child.as_mut().expect("it was just started");
            if child.try_wait().expect("our own child").is_some() {
                self.child = None;
                return Some(false);
            }
            let address = SocketAddr::from(([127, 0, 0, 1], self.port));
            std::net::TcpStream::connect_timeout(&address, PATIENCE).is_ok().then_some(true)
        })
    }

    /// Restarts it with further arguments, which stay.
    pub(crate) fn restart_with(&mut self, arguments: &[&str]) -> bool {
        self.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
        self.restart()
    }

    /// Kills it.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Stops it from running: connections stay open, without answers.
    pub(crate) fn pause(&self) {
        self.signal("STOP");
    }

    /// Lets it run again.
    pub(crate) fn resume(&self) {
        self.signal("CONT");
    }

    fn signal(&self, name: &str) {
        let pid = self.child.as_ref().expect("it runs").id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status().expect("`kill` runs");
        assert!(sent.success(), "kill -s {name} failed");
    }

    /// Removes everything in it.
    pub(crate) fn flush(&self) {
        let _: String = self.command(&["FLUSHALL"]);
    }

    /// Sends a command over a connection of its own.
    pub(crate) fn command<T: redis::FromRedisValue>(&self, words: &[&str]) -> T {
        self.try_command(words).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// Sends a command that Redis may refuse.
    pub(crate) fn try_command<T: redis::FromRedisValue>(
        &self,
        words: &[&str],
    ) -> redis::RedisResult<T> {
        let client = redis::Client::open(self.url().as_str()).expect("an address");
        let mut connection = client.get_connection_with_timeout(PATIENCE)?;
        if let Some((user, password)) = &self.user {
            redis::cmd("AUTH").arg(user).arg(password).query::<String>(&mut connection)?;
        }
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        command.query(&mut connection)
    }

    /// Sets a field of a hash to these bytes.
    pub(crate) fn set_field(&self, key: &str, field: &str, value: &[u8]) {
        let client = redis::Client::open(self.url().as_str()).expect("an address");
        let mut connection = client.get_connection_with_timeout(PATIENCE).expect("it listens");
        let mut command = redis::cmd("HSET");
        command.arg(key).arg(field).arg(value);
        let _: i64 = command.query(&mut connection).expect("it is a hash");
    }

    /// The keys that match the pattern, in order.
    pub(crate) fn keys(&self, pattern: &str) -> Vec<String> {
        let mut keys: Vec<String> = self.command(&["KEYS", pattern]);
        keys.sort();
        keys
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A port that no other listener has now, below those that systems choose for port 0: such a port
/// could be given to a service of another test before Redis takes it.
fn free_port() -> u16 {
    wait::until("a free port below those of the system", || {
        let port = fastrand::u16(10_000..30_000);
        TcpListener::bind(("127.0.0.1", port)).is_ok().then_some(port)
    })
}

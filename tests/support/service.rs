//! Starts the real binary with given settings, files and environment, on a port of its own.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::canary::assert_silent;

/// How long a process may take for anything before the test gives up: generous, because the machine
/// that runs the tests may be busy. Nothing waits this long unless it has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// A folder with settings and content, and the environment to start the binary with.
pub(crate) struct Setup {
    dir: TempDir,
    config: bool,
    env: Vec<(String, String)>,
    wrapper: Vec<String>,
    unread: bool,
}

/// A process that has ended by itself, or was stopped because it would not.
pub(crate) struct Ended {
    /// `None`: it had to be killed, or a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A command that has not ended yet.
pub(crate) struct Running {
    child: Child,
    stdout: Arc<Mutex<String>>,
    stderr: Arc<Mutex<String>>,
}

/// The running service; dropping it kills it.
pub(crate) struct Service {
    child: Child,
    addr: SocketAddr,
    /// What comes on stdout behind the address.
    lines: Mutex<mpsc::Receiver<String>>,
    admin: OnceLock<SocketAddr>,
    stderr: Arc<Mutex<String>>,
    /// Kept open where the test does not read it.
    _unread: Option<ChildStderr>,
    dir: TempDir,
}

impl Setup {
    /// A folder in which `settings.toml` has this text.
    pub(crate) fn new(settings: &str) -> Self {
        let setup = Self::without_settings();
        setup.file("settings.toml", settings)
    }

    /// A folder without a settings file, though the command line names one.
    pub(crate) fn without_settings() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        Self { dir, config: true, env: Vec::new(), wrapper: Vec::new(), unread: false }
    }

    /// The fixture that `tests/corpora/bad-inputs.jsonl` is written for.
    pub(crate) fn fixture() -> Self {
        Self::new(include_str!("../fixtures/main/settings.toml"))
            .file("content.json", include_str!("../fixtures/main/content.json"))
            .env("FRONT_END_URL_MAIN", "https://www.example.com")
    }

    /// Leaves `--config` out of the command line.
    pub(crate) fn unconfigured(mut self) -> Self {
        self.config = false;
        self
    }

    /// Starts the binary by this command, which gets it and its arguments behind its own, and has
    /// to become it.
    pub(crate) fn behind(mut self, wrapper: &[&str]) -> Self {
        self.wrapper = wrapper.iter().map(|&word| word.to_owned()).collect();
        self
    }

    /// Leaves stderr unread: a pipe that fills up.
    pub(crate) fn unread(mut self) -> Self {
        self.unread = true;
        self
    }

    /// Adds a file beside the settings.
    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.dir.path().join(name), text).expect("a file in the temporary folder");
        self
    }

    /// Adds a variable to the otherwise empty environment.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// `frontend-map --config settings.toml serve`, until it has named its address.
    pub(crate) fn start(self) -> Service {
        let mut child = self.command(&["serve"]).spawn().expect("the binary starts");
        let pipe = child.stderr.take().expect("stderr is piped");
        let (stderr, unread) =
            if self.unread { (Arc::default(), Some(pipe)) } else { (collect(pipe), None) };
        let lines = first_lines(child.stdout.take().expect("stdout is piped"));
        let line = lines.recv_timeout(PATIENCE).unwrap_or_default();
        let addr = line.strip_suffix('\n').and_then(|text| text.parse().ok());
        let Some(addr) = addr else {
            let _ = child.kill();
            let status = child.wait();
            let log = stderr.lock().expect("the log").clone();
            panic!("the first line on stdout is no address: {line:?}, {status:?}\n{log}");
        };
        let (lines, admin) = (Mutex::new(lines), OnceLock::new());
        Service { child, addr, lines, admin, stderr, _unread: unread, dir: self.dir }
    }

    /// `frontend-map --config settings.toml <args>`, until it ends; a service that serves although
    /// it should not is stopped as soon as it prints.
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        let running = self.begin(args);
        let serves = args.contains(&"serve");
        running.wait_while(|stdout| !(serves && stdout.contains('\n')))
    }

    /// A command like that of `run`, while it runs.
    pub(crate) fn begin(&self, args: &[&str]) -> Running {
        let mut child = self.command(args).spawn().expect("the binary starts");
        let stderr = collect(child.stderr.take().expect("stderr is piped"));
        let stdout = collect(child.stdout.take().expect("stdout is piped"));
        Running { child, stdout, stderr }
    }

    fn command(&self, args: &[&str]) -> Command {
        let wrapper = self.wrapper.iter().map(String::as_str);
        let mut words = wrapper.chain([env!("CARGO_BIN_EXE_frontend-map")]);
        let mut command = Command::new(words.next().expect("at least the binary"));
        command.args(words);
        if self.config {
            command.arg("--config").arg(self.dir.path().join("settings.toml"));
        }
        command.args(args).current_dir(self.dir.path()).env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        // What a scripted CMS is asked should be what the test asks for.
        command.env("FRONTEND_MAP__SNAPSHOTS__AT_START", "false");
        // Many run at once.
        command.env("FRONTEND_MAP__SERVER__ADMIN_LISTEN", "127.0.0.1:0");
        // Shows what the services of all tests log: `TEST_LOG=trace cargo test`.
        command.envs(std::env::var_os("TEST_LOG").map(|level| ("RUST_LOG", level)));
        // No load balancer stands before the services of tests.
        command.env("FRONTEND_MAP__SERVER__DRAIN_DELAY_MS", "0");
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl Running {
    /// Sends the signal (`TERM`, `INT`).
    pub(crate) fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// What stands on stdout between these two texts, as soon as it is there.
    pub(crate) fn stdout_between(&self, before: &str, after: &str) -> String {
        let between = || {
            let stdout = self.stdout.lock().expect("stdout");
            let rest = stdout.split_once(before)?.1;
            Some(rest.split_once(after)?.0.to_owned())
        };
        let started = Instant::now();
        loop {
            if let Some(found) = between() {
                return found;
            }
            assert!(started.elapsed() < PATIENCE, "no {before:?} on stdout");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until it ends.
    pub(crate) fn wait(self) -> Ended {
        self.wait_while(|_| true)
    }

    /// Waits until it ends, or kills it where it shall not go on.
    fn wait_while(mut self, goes_on: impl Fn(&str) -> bool) -> Ended {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("our own child") {
                break status.code();
            }
            let goes_on = goes_on(&self.stdout.lock().expect("stdout"));
            if !goes_on || started.elapsed() > PATIENCE {
                let _ = self.child.kill();
                let _ = self.child.wait();
                break None;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        Ended { status, stdout: drained(&self.stdout), stderr: drained(&self.stderr) }
    }
}

impl Service {
    /// The address that the service printed.
    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The admin address, which is on the second line.
    pub(crate) fn admin(&self) -> SocketAddr {
        *self.admin.get_or_init(|| {
            let lines = self.lines.lock().expect("no reader panics");
            let line = lines.recv_timeout(PATIENCE).unwrap_or_default();
            let addr = line.strip_prefix("admin ").and_then(|text| text.trim_end().parse().ok());
            addr.unwrap_or_else(|| panic!("the second line on stdout is no address: {line:?}"))
        })
    }

    /// Changes a file beside the settings.
    pub(crate) fn rewrite(&self, name: &str, text: &str) {
        std::fs::write(self.dir.path().join(name), text).expect("a file in the temporary folder");
    }

    /// The folder of the settings.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Everything on stderr so far.
    pub(crate) fn log(&self) -> String {
        self.stderr.lock().expect("the log").clone()
    }

    /// Waits until the log contains `text`; the log is written by another process.
    pub(crate) fn logs(&self, text: &str) -> bool {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if self.log().contains(text) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    /// Sends the signal (`TERM`, `INT`) and waits for the exit status; `None`: it didn't end, or the
    /// signal itself ended it.
    pub(crate) fn signal(&mut self, name: &str) -> Option<i32> {
        self.send_signal(name);
        self.wait()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends the signal (`HUP`, `TERM`, `INT`).
    pub(crate) fn send_signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// Waits for the exit status; as [`Service::signal`].
    pub(crate) fn wait(&mut self) -> Option<i32> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().expect("our own child") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- log of the service\n{}", self.log());
        } else {
            assert_silent(self.log().as_bytes(), "the log");
        }
    }
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-s", name, &pid]).status().expect("`kill` runs");
    assert!(sent.success(), "kill -s {name} failed");
}

/// Reads a pipe to its end in the background, so that the process never blocks on it.
fn collect(mut pipe: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let text = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&text);
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = pipe.read(&mut buffer) {
            sink.lock()
                .expect("no reader panics")
                .push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    });
    text
}

/// The text of a pipe whose process has ended: the reader lets go of it when it has read everything.
fn drained(text: &Arc<Mutex<String>>) -> String {
    let started = Instant::now();
    while Arc::strong_count(text) > 1 && started.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
    }
    let text = text.lock().expect("no reader panics");
    text.clone()
}

/// The first two lines of a pipe, each as it comes; the rest is read and dropped.
fn first_lines(pipe: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        for _ in 0..2 {
            let mut line = String::new();
            let _ = reader.read_line(&mut line);
            let _ = sender.send(line);
        }
        let _ = std::io::copy(&mut reader, &mut std::io::sink());
    });
    receiver
}

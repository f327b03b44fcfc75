//! What the service says to the service manager that started it, as systemd with `Type=notify`.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use crate::support::service::Setup;

/// The socket of a service manager.
struct Manager(UnixDatagram);

impl Manager {
    fn of(setup: Setup) -> (Self, Setup) {
        let path = setup.path().join("notify.socket");
        let socket = UnixDatagram::bind(&path).expect("a socket in the temporary folder");
        socket.set_read_timeout(Some(Duration::from_mins(1))).expect("a time-out");
        let setup = setup.env("NOTIFY_SOCKET", path.to_str().expect("UTF-8"));
        (Self(socket), setup)
    }

    /// The lines of the next message.
    fn next(&self) -> Vec<String> {
        let mut buffer = [0; 4096];
        let length = self.0.recv(&mut buffer).expect("a message");
        let text = std::str::from_utf8(&buffer[..length]).expect("UTF-8");
        text.lines().map(str::to_owned).collect()
    }
}

#[test]
fn service_manager_hears_ready_reloading_and_stopping() {
    let (manager, setup) = Manager::of(Setup::fixture());
    let mut service = setup.start();
    let status = format!("STATUS=serving on {}; sites: 2", service.addr());
    assert_eq!(manager.next(), ["READY=1".to_owned(), status]);

    service.send_signal("HUP");
    let [reloading, clock, _] = &manager.next()[..] else { panic!("three lines") };
    assert_eq!(reloading, "RELOADING=1");
    let clock: u64 = clock.strip_prefix("MONOTONIC_USEC=").unwrap().parse().unwrap();
    assert!(clock > 0);
    assert_eq!(manager.next(), ["READY=1", "STATUS=serving; the settings are reloaded"]);

    service.rewrite("settings.toml", "unknown = 1");
    service.send_signal("HUP");
    assert_eq!(manager.next()[0], "RELOADING=1");
    let [ready, status] = &manager.next()[..] else { panic!("two lines") };
    assert_eq!(ready, "READY=1");
    assert!(status.contains("the settings in use stay") && status.contains("unknown"), "{status}");

    service.send_signal("TERM");
    assert_eq!(manager.next()[0], "STOPPING=1");
    assert_eq!(service.wait(), Some(0));
}

#[test]
fn socket_of_the_service_manager_that_is_gone_does_not_stop_the_service() {
    let setup = Setup::fixture().env("NOTIFY_SOCKET", "/nonexistent/notify.socket");
    let mut service = setup.start();
    assert!(service.logs("the service manager cannot be notified"), "{}", service.log());
    assert_eq!(service.signal("TERM"), Some(0));
}

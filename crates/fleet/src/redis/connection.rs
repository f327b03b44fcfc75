//! Connections to Redis: one for commands, which reconnects by itself, and one for each reader
//! that blocks.

use std::time::Duration;

use arc_swap::ArcSwap;
use redis::aio::{ConnectionManager, ConnectionManagerConfig, MultiplexedConnection};
use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo,
    ProtocolVersion, RedisConnectionInfo, TlsCertificates,
};
use secrecy::ExposeSecret;
use socket2::TcpKeepalive;

use super::{Error, Settings};

/// The longest time for TCP, TLS and `HELLO`.
const CONNECT: Duration = Duration::from_secs(2);

/// How often the manager tries again to connect by itself: heartbeats decide when.
const RETRIES: usize = 0;

/// The longest time that a command without a limit of its own waits. Callers have shorter ones.
const RESPONSE: Duration = Duration::from_secs(30);

/// Detects a peer that has disappeared without a reset: after 5 s, by three probes within 3 s.
/// Unanswered commands end a connection after the same time.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(5), Duration::from_secs(1), 3);
const USER_TIMEOUT: Duration = Duration::from_secs(8);

/// How many commands may wait to be written.
const WRITE_QUEUE: usize = 256;

/// The connection for commands, and what new connections need.
pub(super) struct Connection {
    client: Client,
    manager: ArcSwap<ConnectionManager>,
}

impl Connection {
    /// Connects at the first command.
    pub(super) fn new(settings: &Settings) -> Self {
        let info = info(settings);
        let client = match settings.ca.clone() {
            None => Client::open(info).expect("the address was parsed"),
            ca => Client::build_with_tls(info, TlsCertificates { client_tls: None, root_cert: ca })
                .expect("the certificates were parsed"),
        };
        let manager = ArcSwap::from_pointee(manager(&client));
        Self { client, manager }
    }

    pub(super) fn manager(&self) -> ConnectionManager {
        ConnectionManager::clone(&self.manager.load())
    }

    /// Abandons the connection: later commands open a new one, with a new look-up of the name. The
    /// crate's manager reconnects only after errors of the connection: not after a refused `HELLO`
    /// or a time-out, and not when the name resolves to another machine.
    pub(super) fn replace(&self) {
        self.manager.store(std::sync::Arc::new(manager(&self.client)));
    }

    /// A connection of its own, for reads that block: on a shared one they would block all commands
    /// behind them.
    pub(super) async fn open(&self, response: Duration) -> Result<MultiplexedConnection, Error> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT))
            .set_response_timeout(Some(response));
        Ok(self.client.get_multiplexed_async_connection_with_config(&config).await?)
    }
}

fn manager(client: &Client) -> ConnectionManager {
    let config = ConnectionManagerConfig::new()
        .set_connection_timeout(Some(CONNECT))
        .set_response_timeout(Some(RESPONSE))
        .set_number_of_retries(RETRIES)
        .set_pipeline_buffer_size(WRITE_QUEUE);
    ConnectionManager::new_lazy_with_config(client.clone(), config)
        .expect("it fails for subscriptions only")
}

fn info(settings: &Settings) -> ConnectionInfo {
    let url = &settings.url;
    let mut redis = RedisConnectionInfo::default()
        .set_protocol(ProtocolVersion::RESP3)
        .set_db(url.database)
        .set_skip_set_lib_name();
    if let Some(user) = &url.user {
        redis = redis.set_username(user);
    }
    if let Some(password) = &settings.password {
        redis = redis.set_password(password.expose_secret());
    }
    address(settings)
        .into_connection_info()
        .expect("an address is valid as it is")
        .set_redis_settings(redis)
        .set_tcp_settings(tcp())
}

fn address(settings: &Settings) -> ConnectionAddr {
    let (host, port) = (settings.url.host.clone(), settings.url.port);
    if settings.url.tls {
        return ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None };
    }
    ConnectionAddr::Tcp(host, port)
}

fn tcp() -> TcpSettings {
    let (idle, interval, probes) = KEEPALIVE;
    let keepalive =
        TcpKeepalive::new().with_time(idle).with_interval(interval).with_retries(probes);
    let settings = TcpSettings::default().set_nodelay(true).set_keepalive(keepalive);
    #[cfg(target_os = "linux")]
    let settings = settings.set_user_timeout(USER_TIMEOUT);
    settings
}

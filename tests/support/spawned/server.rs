//! The process of a server.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Longer than a server takes to start, unless it never does.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running `reviser serve` on ports of its own. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Spawned {
    process: Child,
    /// Where it serves HTTPS.
    pub(crate) secure: SocketAddr,
}

impl Spawned {
    /// Starts `reviser serve` with these arguments and free ports, and waits until it serves.
    pub(crate) fn start(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_reviser"))
            .args(["serve", "--bind-address", "127.0.0.1", "--secure-port", "0"])
            .args(["--admin-bind-address", "127.0.0.1:0", "--log-format", "json", "--drain-seconds", "0"])
            .args(arguments)
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let secure = address(process.stderr.take().unwrap());
        Self { process, secure }
    }

    /// Whether the process that was started is still there.
    pub(crate) fn runs(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        // Either fails only if the process is gone already.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The address of HTTPS, from the log. Goes on reading after that, so that the pipe never fills.
fn address(log: impl Read + Send + 'static) -> SocketAddr {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(log).lines().map_while(Result::ok) {
            // The receiver is gone once the addresses are known.
            drop(sender.send(line));
        }
    });
    let deadline = Instant::now() + PATIENCE;
    let mut said = Vec::new();
    loop {
        let Ok(line) = lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) else {
            panic!("the server did not say where it serves; it said:\n{}", said.join("\n"));
        };
        let field = line.split_once("\"secure_address\":\"").and_then(|(_, rest)| rest.split_once('"'));
        if let Some((address, _)) = field {
            return address.parse().unwrap();
        }
        said.push(line);
    }
}

//! A server in a process of its own: how it is started, and what the kernel says about it.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

/// How long a server may take to start before the run is given up.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    process: Process,
    /// Where it serves HTTPS.
    pub(crate) address: SocketAddr,
    /// From the start of the process until it was ready to serve.
    pub(crate) start: Duration,
}

/// What a process holds of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Resident now, in KiB.
    pub(crate) now: u64,
    /// The most that was ever resident, in KiB.
    pub(crate) peak: u64,
}

/// The CPU time of a process at one moment, by thread.
#[derive(Debug)]
pub(crate) struct CpuTime(BTreeMap<String, u64>);

impl CpuTime {
    /// What was used since `earlier`. What a thread used that has ended since is lost.
    pub(crate) fn since(&self, earlier: &Self) -> Duration {
        let used =
            self.0.iter().map(|(thread, now)| now - earlier.0.get(thread).copied().unwrap_or(0).min(*now));
        Duration::from_nanos(used.sum())
    }
}

impl Server {
    /// Starts a floor: this program again, in its other role. See [`crate::floor::run`] for `work`.
    pub(crate) fn floor(work: u32) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("failed to find this program")?;
        let begin = Instant::now();
        let mut command = Command::new(&program);
        command.args(["--floor", &work.to_string()]).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut process = Process::spawn(&mut command)?;
        let mut line = String::new();
        let stdout = process.0.stdout.take().context("the floor has no stdout")?;
        BufReader::new(stdout).read_line(&mut line).context("failed to read the address of the floor")?;
        let address =
            line.trim().parse().with_context(|| format!("the floor printed {line:?}, no address"))?;
        Ok(Self { process, address, start: begin.elapsed() })
    }

    /// Starts `reviser serve`, standalone, on free ports, and waits until it says that it is ready.
    ///
    /// It must log the two addresses as JSON fields, `secure_address` and `admin_address`, in one line or in
    /// two. Its stderr is a pipe that is read, as in a container: what a log line costs is part of the cost.
    pub(crate) fn reviser(program: &Path, policy: &Path, state: &Path) -> anyhow::Result<Self> {
        let begin = Instant::now();
        let mut command = Command::new(program);
        command
            .args(["serve", "--bind-address", "127.0.0.1", "--secure-port", "0"])
            .args(["--admin-bind-address", "127.0.0.1:0", "--log-format", "json", "--policy"])
            .arg(policy)
            .arg("--state")
            .arg(state)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut process = Process::spawn(&mut command)?;
        let stderr = process.0.stderr.take().context("reviser has no stderr")?;
        let (address, admin) = addresses(stderr)?;
        while !is_ready(admin) {
            ensure!(begin.elapsed() < PATIENCE, "reviser did not become ready within {PATIENCE:?}");
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(Self { process, address, start: begin.elapsed() })
    }

    /// The CPU time that each thread of the process has used so far.
    ///
    /// From `schedstat`, in which the scheduler counts nanoseconds; `stat` has the same in ticks of 10 ms, as
    /// long as a whole round. The time of a thread that runs at this moment is not up to date, so the threads
    /// are given the time to come to rest first.
    pub(crate) fn cpu_time(&self) -> anyhow::Result<CpuTime> {
        let mut last = self.threads_cpu()?;
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(1));
            let now = self.threads_cpu()?;
            if now == last {
                break;
            }
            last = now;
        }
        Ok(CpuTime(last))
    }

    fn threads_cpu(&self) -> anyhow::Result<BTreeMap<String, u64>> {
        let tasks = self.process.file("task");
        let mut threads = BTreeMap::new();
        for task in
            std::fs::read_dir(&tasks).with_context(|| format!("failed to list {}", tasks.display()))?
        {
            let task = task.with_context(|| format!("failed to list {}", tasks.display()))?;
            let file = task.path().join("schedstat");
            // A thread may end between the listing and this.
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            let nanoseconds = text.split(' ').next().and_then(|field| field.parse().ok());
            let nanoseconds =
                nanoseconds.with_context(|| format!("failed to read a number in {}", file.display()))?;
            threads.insert(task.file_name().to_string_lossy().into_owned(), nanoseconds);
        }
        ensure!(
            !threads.is_empty(),
            "failed to read the CPU time of process {}: no schedstat",
            self.process.0.id()
        );
        Ok(threads)
    }

    /// Its resident memory.
    pub(crate) fn memory(&self) -> anyhow::Result<Memory> {
        Ok(Memory { now: self.status("VmRSS:")?, peak: self.status("VmHWM:")? })
    }

    /// How many threads it has.
    pub(crate) fn threads(&self) -> anyhow::Result<u64> {
        self.status("Threads:")
    }

    fn status(&self, field: &str) -> anyhow::Result<u64> {
        let file = self.process.file("status");
        let status =
            std::fs::read_to_string(&file).with_context(|| format!("failed to read {}", file.display()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let number =
            line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse().ok());
        number.with_context(|| format!("failed to find {field} in {}", file.display()))
    }
}

#[derive(Debug)]
struct Process(Child);

impl Process {
    fn spawn(command: &mut Command) -> anyhow::Result<Self> {
        let child = command.spawn();
        Ok(Self(child.with_context(|| format!("failed to start {}", command.get_program().display()))?))
    }

    fn file(&self, name: &str) -> PathBuf {
        Path::new("/proc").join(self.0.id().to_string()).join(name)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Either fails only if the process is gone already.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The addresses of HTTPS and of the admin port, from what reviser logs at start. Goes on reading after that,
/// so that the pipe never fills.
fn addresses(stderr: impl Read + Send + 'static) -> anyhow::Result<(SocketAddr, SocketAddr)> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            // The receiver is dropped once the addresses are known.
            drop(sender.send(line));
        }
    });
    let deadline = Instant::now() + PATIENCE;
    let (mut secure, mut admin, mut log) = (None, None, String::new());
    loop {
        let Ok(line) = lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) else {
            bail!("reviser did not say where it serves; it said:\n{log}");
        };
        secure = secure.or_else(|| field(&line, r#""secure_address":""#));
        admin = admin.or_else(|| field(&line, r#""admin_address":""#));
        if let (Some(secure), Some(admin)) = (secure, admin) {
            return Ok((secure, admin));
        }
        log.push_str(&line);
        log.push('\n');
    }
}

fn field(line: &str, name: &str) -> Option<SocketAddr> {
    line.split_once(name)?.1.split_once('"')?.0.parse().ok()
}

fn is_ready(admin: SocketAddr) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(admin)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply)?;
        Ok(reply)
    };
    ask().is_ok_and(|reply| reply.starts_with("HTTP/1.1 200 "))
}

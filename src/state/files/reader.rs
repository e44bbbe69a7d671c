//! The thread that reads.

use std::io;
use std::sync::mpsc::{self, Sender};
use std::thread;

use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// A thread that does one job after the other, and ends with this.
///
/// It is always the same one because the usual allocator has memory for each thread: what one reading has needed and given
/// back, the next one gets again only in the same thread.
#[derive(Debug)]
pub(super) struct Reader(Sender<Job>);

impl Reader {
    pub(super) fn start() -> io::Result<Self> {
        let (sender, jobs) = mpsc::channel::<Job>();
        thread::Builder::new().name("state".to_owned()).spawn(move || jobs.iter().for_each(|job| job()))?;
        Ok(Self(sender))
    }

    /// What `job` gives, which is done in any case; `None` if the thread has ended by a fault of ours.
    pub(super) async fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (sender, done) = oneshot::channel();
        // Whoever asked may have gone.
        self.0.send(Box::new(move || drop(sender.send(job())))).ok()?;
        done.await.ok()
    }

    /// The same, waiting in this thread.
    pub(super) fn run_here<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (sender, done) = mpsc::channel();
        self.0.send(Box::new(move || drop(sender.send(job())))).ok()?;
        done.recv().ok()
    }
}

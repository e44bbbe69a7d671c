//! What an evaluation may cost.

use super::error::ErrorKind;

/// The steps that are left to the expressions of one request.
///
/// A step is a node that is evaluated, an item that a loop passes, 64 bytes of text that are made or looked through: some twenty
/// nanoseconds. Time and memory are both bounded by it, and by nothing that depends on the machine: the same input
/// always gets equally far.
#[derive(Debug)]
pub struct Budget {
    left: u64,
}

impl Budget {
    /// What a request gets by [`default`](Self::default).
    pub const STEPS: u64 = 500_000;

    /// So many steps.
    pub fn new(steps: u64) -> Self {
        Self { left: steps }
    }

    /// How many are left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Takes steps away. Who asks for more than is left ends the evaluation, and leaves nothing to the next.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), ErrorKind> {
        let left = self.left.checked_sub(u64::try_from(steps).unwrap_or(u64::MAX));
        self.left = left.unwrap_or(0);
        left.map(drop)
            .ok_or(ErrorKind::Limit("the expressions of this request take more steps than are allowed"))
    }

    /// Pays for looking through so many bytes.
    pub(super) fn spend_text(&mut self, bytes: usize) -> Result<(), ErrorKind> {
        const BYTES_PER_STEP: usize = 64;
        self.spend(1 + bytes / BYTES_PER_STEP)
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(Self::STEPS)
    }
}

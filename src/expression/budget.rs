//! The budget of an evaluation.

use super::error::ErrorKind;

/// The steps that are left for the expressions of one request.
///
/// A step is one evaluated node, one iterated item, or 64 bytes of text that are created or searched. It
/// takes about 20 ns. The budget bounds both time and memory, and does not depend on the machine: the same
/// input always gets equally far.
#[derive(Debug)]
pub struct Budget {
    left: u64,
}

impl Budget {
    /// The budget of a request, used by [`default`](Self::default).
    pub const STEPS: u64 = 500_000;

    pub fn new(steps: u64) -> Self {
        Self { left: steps }
    }

    pub fn left(&self) -> u64 {
        self.left
    }

    /// Takes steps away. Fails if fewer are left, and then leaves none.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), ErrorKind> {
        let left = self.left.checked_sub(u64::try_from(steps).unwrap_or(u64::MAX));
        self.left = left.unwrap_or(0);
        left.map(drop)
            .ok_or(ErrorKind::Limit("the expressions of this request take more steps than are allowed"))
    }

    /// Takes the steps for searching `bytes` of text.
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

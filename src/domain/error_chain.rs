//! An error and its sources in one line.

use std::error::Error;
use std::fmt;

/// Displays an error and its sources, separated by `: `.
#[derive(Clone, Copy, Debug)]
pub struct ErrorChain<'e>(pub &'e dyn Error);

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}

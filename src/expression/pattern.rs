//! Regular expressions, compiled at load.

use regex_lite::{Regex, RegexBuilder};

use super::budget::Budget;
use super::error::ErrorKind;

/// A regular expression and its cost.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    steps_per_byte: usize,
}

/// The size limits to try, in bytes of the compiled regular expression.
const SIZES: [usize; 6] = [1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15];
/// The compiled size that costs one step for each byte of text. The time of a search is bounded by the
/// product of both.
const SIZE_PER_STEP: usize = 1 << 8;

impl Pattern {
    /// Compiles a pattern. The error says what is wrong with it.
    pub(super) fn new(source: &str) -> Result<Self, String> {
        let mut refused = String::new();
        for size in SIZES {
            match RegexBuilder::new(source).size_limit(size).nest_limit(32).build() {
                Ok(regex) => return Ok(Self { regex, steps_per_byte: size / SIZE_PER_STEP }),
                Err(error) => refused = error.to_string(),
            }
        }
        Err(format!("the pattern is refused: {refused}"))
    }

    pub(super) fn is_match(&self, text: &str, budget: &mut Budget) -> Result<bool, ErrorKind> {
        self.pay(text, budget)?;
        Ok(self.regex.is_match(text))
    }

    /// The positions of the matches. Each search for the next match takes steps.
    pub(super) fn find(
        &self,
        text: &str,
        most: usize,
        budget: &mut Budget,
    ) -> Result<Vec<(usize, usize)>, ErrorKind> {
        let mut found = Vec::new();
        let mut matches = self.regex.find_iter(text);
        self.pay(text, budget)?;
        while found.len() < most {
            let Some(next) = matches.next() else { break };
            found.push((next.start(), next.end()));
            self.pay(&text[next.end()..], budget)?;
        }
        Ok(found)
    }

    fn pay(&self, text: &str, budget: &mut Budget) -> Result<(), ErrorKind> {
        budget.spend(1 + text.len().saturating_mul(self.steps_per_byte))
    }
}

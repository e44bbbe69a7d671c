//! The text as the parser gets it, which in two corners is not as it was written: the parser holds to YAML 1.2 where
//! everybody else's reader, and so everybody's files, do not.
//!
//! * Inside brackets a line may be indented less than the key before them, the closing bracket above all.
//! * Without a line break at the end of the text, a block scalar there has none either.

use std::borrow::Cow;
use std::collections::BTreeSet;

use saphyr_parser::{Event, Marker, ScalarStyle, ScanError, Span};

use super::{Position, YamlError, YamlErrorKind};

/// How far lines inside brackets are moved to the right; further than anybody indents.
const FAR: usize = 128;

/// How many bytes of text are read again, in all, for lines that were moved.
const MAX_BYTES_AGAIN: usize = 16 << 20;

/// A text for the parser.
pub(super) struct Source<'a> {
    pub(super) text: Cow<'a, str>,
    /// The lines that have [`FAR`] spaces before them that nobody wrote.
    moved: BTreeSet<usize>,
    bytes_again: usize,
    /// If the last line had no line break: that line, and its number.
    open_end: Option<(&'a str, usize)>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut source =
            Self { text: Cow::Borrowed(text), moved: BTreeSet::new(), bytes_again: 0, open_end: None };
        let last = text.rfind(['\n', '\r']).map_or(text, |end| &text[end + 1..]);
        if !last.is_empty() {
            source.open_end = Some((last, line_ends(text).count() + 1));
            source.text.to_mut().push('\n');
        }
        source
    }

    /// Where a mark of the parser is in the text as it was written.
    pub(super) fn position(&self, mark: &Marker) -> Position {
        let far = if self.moved.contains(&mark.line()) { FAR } else { 0 };
        Position { line: mark.line(), column: mark.col().saturating_sub(far) + 1 }
    }

    /// Moves the line that `error` complains about to the right, if that is the remedy: the parser says these words
    /// only inside of brackets, where spaces between tokens mean nothing.
    pub(super) fn indent(&mut self, error: &ScanError) -> bool {
        let line = error.marker().line();
        let start = match line {
            1 => Some(0),
            _ => line_ends(&self.text).nth(line.saturating_sub(2)),
        };
        let Some(start) = start.filter(|_| is_indentation(error.info())) else {
            return false;
        };
        self.bytes_again = self.bytes_again.saturating_add(self.text.len());
        if self.bytes_again > MAX_BYTES_AGAIN || !self.moved.insert(line) {
            return false;
        }
        self.text.to_mut().insert_str(start, &" ".repeat(FAR));
        true
    }

    /// Takes the line break off a block scalar that ends with the text, if the text has none there.
    pub(super) fn correct_end(&self, event: &mut Event<'_>, span: &Span) {
        let Event::Scalar(text, ScalarStyle::Literal | ScalarStyle::Folded, ..) = event else { return };
        let Some((last, number)) = self.open_end else { return };
        let Some(body) = text.strip_suffix('\n') else { return };
        // A last line of spaces alone is content only as far as it is longer than the indentation.
        let is_content = !last.trim_matches(' ').is_empty() || {
            let line = body.rsplit('\n').next().unwrap_or_default();
            line.trim_matches(' ').is_empty() && line.len() < last.len()
        };
        if span.end.line() > number && is_content {
            *text = Cow::Owned(body.to_owned());
        }
    }

    /// The error for people.
    pub(super) fn syntax_error(&self, error: &ScanError) -> YamlError {
        let position = self.position(error.marker());
        // Of a tab the parser complains in several words, and at times at the start of what the tab interrupts.
        let names_tab = error.info().contains("tab");
        let lines = self.text.lines().enumerate().skip(position.line.saturating_sub(1));
        let tab = lines.take(if names_tab { usize::MAX } else { 1 }).find_map(|(n, line)| {
            let indent = line.bytes().take_while(|&byte| byte == b' ').count();
            line[indent..].starts_with('\t').then_some(Position { line: n + 1, column: indent + 1 })
        });
        if let Some(position) = tab {
            return YamlError { position, problem: YamlErrorKind::Tab };
        }
        let problem = match error.info() {
            info if is_indentation(info) => {
                "inside brackets, indent this line further than the key before them"
            }
            "invalid indentation in quoted scalar" => {
                "a line of this quoted text is indented less than the key before it"
            }
            info => info,
        };
        YamlError { position, problem: YamlErrorKind::Syntax(problem.to_owned()) }
    }
}

/// Whether the parser finds a line inside of brackets not indented enough.
fn is_indentation(info: &str) -> bool {
    matches!(info, "invalid indentation" | "invalid indentation in flow construct")
}

/// The byte after each line end, as the parser counts lines.
fn line_ends(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    text.match_indices(['\n', '\r'])
        .filter(|&(at, end)| end == "\n" || bytes.get(at + 1) != Some(&b'\n'))
        .map(|(at, _)| at + 1)
}

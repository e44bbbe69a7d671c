//! Prepares a text for the parser. In two cases the YAML 1.2 parser rejects or reads differently what other
//! readers accept, so the text is modified:
//!
//! * Lines inside brackets may be indented less than the key before them, for instance the closing bracket.
//! * A block scalar that ends a text without a final line break has no final line break either.

use std::borrow::Cow;
use std::collections::BTreeSet;

use saphyr_parser::{Event, Marker, ScalarStyle, ScanError, Span};

use super::{Position, YamlError, YamlErrorKind};

/// How many spaces are inserted before lines inside brackets. No real text is indented this far.
const FAR: usize = 128;

/// The most bytes of text that are read again because of moved lines.
const MAX_BYTES_AGAIN: usize = 16 << 20;

pub(super) struct Source<'a> {
    pub(super) text: Cow<'a, str>,
    /// The lines with [`FAR`] inserted spaces.
    moved: BTreeSet<usize>,
    bytes_again: usize,
    /// The last line and its number, if it has no line break.
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

    /// Converts a mark of the parser to a position in the original text.
    pub(super) fn position(&self, mark: &Marker) -> Position {
        let far = if self.moved.contains(&mark.line()) { FAR } else { 0 };
        Position { line: mark.line(), column: mark.col().saturating_sub(far) + 1 }
    }

    /// Indents the line that `error` is about, if that fixes the error. The parser reports these errors only
    /// inside brackets, where spaces between tokens have no meaning.
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

    /// Removes the line break at the end of a block scalar that ends the text, if the text has none there.
    pub(super) fn correct_end(&self, event: &mut Event<'_>, span: &Span) {
        let Event::Scalar(text, ScalarStyle::Literal | ScalarStyle::Folded, ..) = event else { return };
        let Some((last, number)) = self.open_end else { return };
        let Some(body) = text.strip_suffix('\n') else { return };
        // A last line that has only spaces is content if it is longer than the indentation.
        let is_content = !last.trim_matches(' ').is_empty() || {
            let line = body.rsplit('\n').next().unwrap_or_default();
            line.trim_matches(' ').is_empty() && line.len() < last.len()
        };
        if span.end.line() > number && is_content {
            *text = Cow::Owned(body.to_owned());
        }
    }

    /// Converts an error of the parser.
    pub(super) fn syntax_error(&self, error: &ScanError) -> YamlError {
        let position = self.position(error.marker());
        // The parser has several messages about tabs, and some have the position of the node that the tab
        // interrupts.
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

/// Whether the error is about a line inside brackets that is not indented enough.
fn is_indentation(info: &str) -> bool {
    matches!(info, "invalid indentation" | "invalid indentation in flow construct")
}

/// The byte offset after each line end, with lines counted as by the parser.
fn line_ends(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    text.match_indices(['\n', '\r'])
        .filter(|&(at, end)| end == "\n" || bytes.get(at + 1) != Some(&b'\n'))
        .map(|(at, _)| at + 1)
}

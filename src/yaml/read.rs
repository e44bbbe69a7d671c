//! Reads a text as JSON or as YAML, and passes the events of the YAML parser to the builder.

use saphyr_parser::{Parser, ScanError};

use crate::json::{ParseError, Value};

use super::build::Builder;
use super::lines::{self, Lines};
use super::source::Source;
use super::{Position, YamlError, YamlErrorKind};

#[derive(Clone, Debug)]
pub struct Document {
    /// The index of the document in the text, from 0. Empty documents are not counted.
    pub index: usize,
    /// The line on which its value starts.
    pub line: usize,
    /// The value; never `null`.
    pub value: Value<'static>,
    /// The positions of the values in the text.
    pub lines: Lines,
}

/// Reads all documents of `text` that are not empty. Fails with the first error.
pub fn documents(text: &str) -> Result<Vec<Document>, YamlError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !text.trim_start().starts_with(['{', '[']) {
        return yaml(text);
    }
    match json(text) {
        Ok(document) => Ok(vec![document]),
        Err(error) if !matches!(error.problem, YamlErrorKind::Json(ParseError::Syntax { .. })) => Err(error),
        // The text may be meant as either, so return the error that is further into the text.
        Err(error) => yaml(text).map_err(|other| if other.position > error.position { other } else { error }),
    }
}

fn json(text: &str) -> Result<Document, YamlError> {
    let start = text.len() - text.trim_start().len();
    let value = Value::parse(text.as_bytes()).map_err(|error| {
        let offset = match error {
            ParseError::Syntax { offset, .. }
            | ParseError::Encoding { offset }
            | ParseError::Duplicate { offset, .. } => offset,
            ParseError::TooDeep { .. } => start,
        };
        YamlError { position: Position::of_byte(text, offset), problem: YamlErrorKind::Json(error) }
    })?;
    let value = value.into_owned();
    let place = lines::of_json(text);
    Ok(Document { index: 0, line: place.position().line, lines: Lines::new(value.clone(), place), value })
}

fn yaml(text: &str) -> Result<Vec<Document>, YamlError> {
    if let Some((offset, character)) = text.char_indices().find(|&(_, c)| !is_allowed(c)) {
        let position = Position::of_byte(text, offset);
        return Err(YamlError { position, problem: YamlErrorKind::Character(character) });
    }
    let mut source = Source::new(text);
    loop {
        match events(&source) {
            Ok(documents) => return Ok(documents),
            Err(Stop::Problem(error)) => return Err(error),
            Err(Stop::Grammar(error)) if source.indent(&error) => {}
            Err(Stop::Grammar(error)) => return Err(source.syntax_error(&error)),
        }
    }
}

/// Why parsing stopped.
enum Stop {
    Grammar(ScanError),
    Problem(YamlError),
}

fn events(source: &Source<'_>) -> Result<Vec<Document>, Stop> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(&source.text) {
        let (mut event, span) = event.map_err(Stop::Grammar)?;
        source.correct_end(&mut event, &span);
        builder.event(event, source.position(&span.start)).map_err(Stop::Problem)?;
    }
    Ok(builder.finish())
}

/// The characters that YAML allows, without those that end a line in YAML 1.1 but not in 1.2, and without the
/// byte order mark, which some readers take for text and some do not.
fn is_allowed(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => true,
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        _ => !c.is_control(),
    }
}

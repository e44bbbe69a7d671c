//! Random damage to a text.

use crate::random::Random;

/// Tokens of the syntaxes under test.
const PIECES: &[&str] = &[
    "${",
    "}",
    "$${",
    "object",
    "original",
    "cluster.labels",
    "binding.clusters",
    "variables.a",
    "allocations.fort",
    "replicas",
    ".map(x, x)",
    ".filter(x, true)",
    "[0]",
    "[-1]",
    "?",
    ":",
    "&&",
    "||",
    "==",
    "+",
    "-",
    "*",
    "/",
    "%",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "\\",
    "\u{0}",
    "é",
    "\u{1f600}",
    "null",
    "true",
    "1",
    "-1",
    "9223372036854775807",
    "1e400",
    "0.1",
    "99999999999999999999",
    "$patch",
    "delete",
    "replace",
    "$setElementOrder/containers",
    "$retainKeys",
    "$deleteFromPrimitiveList/finalizers",
    "name",
    "path",
    "/spec/template/spec/containers/0",
    "/-",
    "~1",
    "~0",
    "~2",
    "metadata",
    "apiVersion",
    "- ",
    ": ",
    "\n",
    "  ",
    "&a",
    "*a",
    "<<",
    "|",
    ">",
    "#",
    "Strategic",
    "Merge",
    "JSON",
    "env",
    "image",
    "divide",
    "fort",
    "when",
    "onError",
    "Skip",
];

/// The text with some bytes, words and lines changed.
pub(crate) fn mutated(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(4) {
        text = once(&text, random);
    }
    text
}

fn once(text: &str, random: &mut Random) -> String {
    let place = |random: &mut Random| text.floor_char_boundary(random.below(text.len() + 1));
    let (a, b) = (place(random), place(random));
    let (start, end) = (a.min(b), a.max(b));
    match random.below(7) {
        0 => [&text[..start], random.pick(PIECES), &text[start..]].concat(),
        1 => [&text[..start], random.pick(PIECES), &text[text.floor_char_boundary(start + 1).max(start)..]]
            .concat(),
        2 => {
            let end = text.floor_char_boundary((start + 1 + random.below(12)).min(text.len())).max(start);
            [&text[..start], &text[end..]].concat()
        }
        3 => {
            let end = text.floor_char_boundary((start + random.below(80)).min(text.len())).max(start);
            [&text[..end], &text[start..]].concat()
        }
        4 => [&text[..start], &text[end..]].concat().chars().take(100_000).collect(),
        5 => {
            let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
            random.shuffle(&mut lines);
            lines.concat()
        }
        _ => [&text[..start], &random.pick(PIECES).repeat(1 + random.below(300)), &text[start..]].concat(),
    }
}

//! Compares the reader with the results of `sigs.k8s.io/yaml`, which are described in `tests/data/README.md`.

use std::collections::HashSet;

use crate::json::{Number, Value};
use crate::yaml::documents;

const ANSWERS: &str = include_str!("../../../tests/data/yaml-scalars.json");

/// Texts with a different result, and our result: the value, or the start of the problem after `error: `.
const DIFFERENCES: &[(&str, &str)] = &[
    // Numbers of any size are valid.
    ("1e400", "1e400"),
    ("-1e400", "-1e400"),
    ("+1e400", "1e400"),
    (".1e400", "0.1e400"),
    ("18446744073709551615: a\n", r#"{"18446744073709551615":"a"}"#),
    // Numbers that JSON does not have are errors, in keys too.
    ("1e300: a\n", "error: JSON has no such number: 1e300"),
    (".inf: a\n", "error: JSON has no such number: .inf"),
    (".nan: a\n", "error: JSON has no such number: .nan"),
    // Duplicate keys.
    ("a: 1\na: 2\n", "error: the key \"a\" is there twice, the first time on line 1"),
    ("1: a\n\"1\": b\n", "error: the key \"1\" is there twice, the first time on line 1"),
    // Tags that are unknown or do not match.
    ("!a", "error: the tag !a is not known"),
    ("!foo bar", "error: the tag !foo is not known"),
    ("!!foo bar", "error: the tag !!foo is not known"),
    ("!!value =", "error: the tag !!value is not known"),
    ("!!binary aGVsbG8=", "error: the tag !!binary is not known"),
    ("a: !!binary aGk=\n", "error: the tag !!binary is not known"),
    ("!!set {a, b}", "error: the tag !!set is not known"),
    ("!!omap [a: 1]", "error: the tag !!omap is not known"),
    ("!foo {a: 1}", "error: the tag !foo is not known"),
    ("!!str {a: 1}", "error: what follows the tag !!str is something else"),
    ("!!map [1]", "error: what follows the tag !!map is something else"),
    // YAML 1.2 instead of 1.1.
    (
        "\"\\0\\a\\b\\t\\n\\v\\f\\r\\e\\ \\/\\N\\_\\L\\P\"",
        "\"\\u0000\\u0007\\b\\t\\n\\u000b\\f\\r\\u001b /\u{85}\u{a0}\u{2028}\u{2029}\"",
    ),
    ("%YAML 1.2\n---\na: yes\n", r#"{"a":true}"#),
    ("%FOO bar\n---\na: 1\n", r#"{"a":1}"#),
    ("a: &x-y.z 1\nb: *x-y.z\n", r#"{"a":1,"b":1}"#),
    ("a: \"x\u{2028}y\"\n", "error: the character U+2028 is not allowed"),
    ("a: x\u{feff}y\n", "error: the character U+FEFF is not allowed"),
    // Tabs.
    ("\ta: 1\n", r#"{"a":1}"#),
    ("- \ta\n", r#"["a"]"#),
    ("-\ta\n", r#"["a"]"#),
    ("a: |\n  \tx\n", r#"{"a":"\tx\n"}"#),
    ("a: |\n  x\n\t", r#"{"a":"x\n"}"#),
    ("a:\t1\n", "error: ':' must be followed by"),
    ("a: [\n\t1\n]\n", "error: the line is indented with a tab"),
    ("a: {\n\tb: 1\n}\n", "error: the line is indented with a tab"),
    // Indentation.
    ("a: \"b\nc\"\n", "error: a line of this quoted text is indented less"),
    ("a: [\n \"x\ny\"\n]\n", "error: a line of this quoted text is indented less"),
    // `sigs.k8s.io/yaml` silently drops the rest of the text.
    ("  a: 1\n b: 2\n", "error: did not find expected <document start>"),
    ("\"a\":1\n", "error: did not find expected <document start>"),
    ("'a':1\n", "error: did not find expected <document start>"),
    ("[1]]\n", "error: not JSON at byte 3: something follows the value"),
    ("|\nx\n", r#""x\n""#),
    // An alias of a list of maps can be merged like the list.
    ("a: &x [{p: 1}]\nb:\n  <<: *x\n", r#"{"a":[{"p":1}],"b":{"p":1}}"#),
];

#[test]
fn what_kubectl_reads_is_what_is_read_here() {
    let answers = Value::parse(ANSWERS.as_bytes()).unwrap();
    let mut differ = HashSet::new();
    let mut agree = 0;
    for case in answers.as_array().unwrap() {
        let field = |name: &str| case.get(name).and_then(Value::as_str);
        let (yaml, json) = (field("yaml").unwrap(), field("json"));
        let theirs = json.map(|text| Value::parse(text.as_bytes()).unwrap());
        let ours = documents(yaml);
        let same = match (&theirs, &ours) {
            (None, Err(_)) => true,
            (Some(theirs), Ok(documents)) => match documents.first() {
                None => theirs.is_null(),
                Some(document) => means_same(theirs, &document.value),
            },
            _ => false,
        };
        agree += usize::from(same);
        let expected = DIFFERENCES.iter().find(|(text, _)| *text == yaml).map(|(_, answer)| *answer);
        let answer = match &ours {
            Ok(documents) => {
                documents.first().map_or_else(|| "null".to_owned(), |document| document.value.to_string())
            }
            Err(error) => format!("error: {}", error.problem),
        };
        match expected {
            Some(expected) => {
                differ.insert(yaml);
                assert!(!same && answer.starts_with(expected), "{yaml:?}: {answer}");
            }
            None => assert!(same, "{yaml:?}: {answer}, there {json:?}"),
        }
    }
    assert_eq!(differ.len(), DIFFERENCES.len(), "each difference is in the table");
    assert!(agree > 550, "{agree}");
}

/// Equality, except for the spelling of numbers, which `sigs.k8s.io/yaml` converts to doubles.
fn means_same(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => double(a).total_cmp(&double(b)).is_eq() || a.same_value(b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| means_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| means_same(a, b)))
        }
        _ => a == b,
    }
}

fn double(number: &Number<'_>) -> f64 {
    number.as_str().parse().unwrap()
}

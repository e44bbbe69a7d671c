//! Tests of the reader: documents, lines, limits and messages.

use std::fmt::Write as _;

use proptest::prelude::*;

use crate::json::{MAX_DEPTH, Pointer, Value};
use crate::yaml::{YamlErrorKind, documents};

fn values(text: &str) -> Vec<String> {
    documents(text).unwrap().iter().map(|document| document.value.to_string()).collect()
}

fn message(text: &str) -> String {
    documents(text).unwrap_err().to_string()
}

fn line_and_column(text: &str, pointer: &str) -> (usize, usize) {
    let position = documents(text).unwrap()[0].lines.of(&Pointer::parse(pointer).unwrap());
    (position.line, position.column)
}

#[test]
fn empty_documents_are_skipped_and_the_others_counted() {
    let text = "# first\n---\n---\na: 1\n---\nnull\n--- # comment\n\n---\n- b\n...\n# end\n---\n";
    let documents = documents(text).unwrap();
    let found: Vec<_> = documents.iter().map(|d| (d.index, d.line, d.value.to_string())).collect();
    assert_eq!(found, [(0, 4, r#"{"a":1}"#.to_owned()), (1, 10, r#"["b"]"#.to_owned())]);
    for nothing in ["", "\n", "\u{feff}", "# only\n# comments", "---", "---\n...\n---\n", "~", "\r\n"] {
        assert_eq!(values(nothing), [""; 0], "{nothing:?}");
    }
}

#[test]
fn numbers_keep_their_spelling() {
    let text = "[1.0, 1e3, 1E+03, -0, 0.10, 123456789012345678901234567890]";
    assert_eq!(values(&text.replace(',', " ,")), ["[1.0,1e3,1E+03,-0,0.10,123456789012345678901234567890]"]);
    assert_eq!(values("- 1.0\n- 1e3\n- +1_000.50\n- .5\n- 5.\n- 007\n"), ["[1.0,1e3,1000.50,0.5,5,7]"]);
}

#[test]
fn members_keep_their_order_and_a_merge_its_place() {
    assert_eq!(
        values("base: &b {z: 1, a: 2}\nuse: {m: 0, <<: *b, c: 3, a: 4}\n"),
        [r#"{"base":{"z":1,"a":2},"use":{"m":0,"z":1,"a":4,"c":3}}"#]
    );
}

#[test]
fn json_is_read_as_json_and_flow_style_as_yaml() {
    assert_eq!(values(" {\"a\":\t\"\\ud83d\\ude00\\/\"}"), ["{\"a\":\"😀/\"}"]);
    assert_eq!(values("{a: yes, b: [x, y],}"), [r#"{"a":true,"b":["x",true]}"#]);
    assert_eq!(values("{\"a\": 1}\n---\n{\"b\": 1.0}\n"), [r#"{"a":1}"#, r#"{"b":1.0}"#]);
    let deep = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    assert_eq!(values(&deep), [deep.as_str()]);
    assert_eq!(message("{\"a\": 1,\n \"b\" 2}"), "line 2, column 6: not JSON at byte 14: expected `:`");
    assert_eq!(
        message("{\"a\": {\"b\": 1,\n \"b\": 2}}"),
        "line 2, column 2: the member \"b\" is there twice, the second time at byte 16"
    );
    assert!(message("{a: [1, 2}").starts_with("line 1, column 10: "), "{}", message("{a: [1, 2}"));
}

#[test]
fn lines_are_those_of_keys_and_items() {
    let yaml = "---\n# comment\nspec:\n  rules:\n  - name: a\n    fort:\n      steps:\n        - x\n  -\n    name: b\n  - *b\n";
    let yaml = yaml.replace("  -\n", "  - &b\n");
    for (pointer, expected) in [
        ("", (3, 1)),
        ("/spec", (3, 1)),
        ("/spec/rules", (4, 3)),
        ("/spec/rules/0", (5, 5)),
        ("/spec/rules/0/name", (5, 5)),
        ("/spec/rules/0/fort/steps", (7, 7)),
        ("/spec/rules/0/fort/steps/0", (8, 11)),
        ("/spec/rules/0/fort/missing/deeper", (6, 5)),
        ("/spec/rules/7", (4, 3)),
        ("/spec/rules/2/name", (10, 5)),
    ] {
        assert_eq!(line_and_column(&yaml, pointer), expected, "{pointer}");
    }
    let json = "\n{\"a\\\"\": [1, {\"b\": \"x, {\\\"}\"},\n  [], -1.5e3],\n \"é\": 1, \"c\": {}}";
    for (pointer, expected) in [
        ("", (2, 1)),
        ("/a\"", (2, 2)),
        ("/a\"/0", (2, 10)),
        ("/a\"/1", (2, 13)),
        ("/a\"/1/b", (2, 14)),
        ("/a\"/2", (3, 3)),
        ("/a\"/3", (3, 7)),
        ("/é", (4, 2)),
        ("/c", (4, 10)),
    ] {
        assert_eq!(line_and_column(json, pointer), expected, "{pointer}");
    }
}

#[test]
fn messages_say_where_and_what() {
    for (text, expected) in [
        (
            "a: 1\nb:\n  c: 1\n  c: 2\n",
            "line 4, column 3: the key \"c\" is there twice, the first time on line 3",
        ),
        ("a:\n\tb: 1\n", "line 2, column 1: the line is indented with a tab; YAML wants spaces"),
        ("a:\n  b: 1\n \tc: 1\n", "line 3, column 2: the line is indented with a tab; YAML wants spaces"),
        ("a: .inf\n", "line 1, column 4: JSON has no such number: .inf"),
        ("a: !!binary aGk=\n", "line 1, column 4: the tag !!binary is not known here"),
        ("a: !!int x\n", "line 1, column 4: what follows the tag !!int is something else"),
        (
            "a: !<tag:example.com,2000:x> x\n",
            "line 1, column 4: the tag tag:example.com,2000:x is not known here",
        ),
        ("? [a]\n: b\n", "line 1, column 3: a key has to be a string, a number or a boolean, not a list"),
        ("~: b\n", "line 1, column 1: a key has to be a string, a number or a boolean, not null"),
        ("<<: 1\n", "line 1, column 5: `<<` wants a map or a list of maps"),
        ("a: &x [*x]\n", "line 1, column 8: the alias stands inside of what it stands for"),
        (
            "a: &x 1\n---\nb: *x\n",
            "line 3, column 4: the alias names an anchor that this document does not have before it",
        ),
        (
            "a: \u{1}\n",
            "line 1, column 4: the character U+0001 is not allowed; in double quotes an escape stands for it",
        ),
        ("a: b: c\n", "line 1, column 5: mapping values are not allowed in this context"),
        ("a: [\nb [1\n]\n", "line 2, column 3: while parsing a flow sequence, expected ',' or ']'"),
    ] {
        assert_eq!(message(text), expected, "{text:?}");
    }
}

#[test]
fn inside_brackets_lines_may_stand_at_the_margin() {
    let text = "spec:\n    args: [\n    x,\n'y', # c\n]\n    map: {\n  k: [\n 1\n ]\n}\n";
    assert_eq!(values(text), [r#"{"spec":{"args":["x","y"],"map":{"k":[1]}}}"#]);
    assert_eq!(line_and_column(text, "/spec/args/1"), (4, 1));
    assert_eq!(line_and_column(text, "/spec/map/k"), (7, 3));
    let many = format!("a: [\n{}]\n", "x,\n".repeat(300));
    assert_eq!(documents(&many).unwrap()[0].value.get("a").and_then(Value::as_array).unwrap().len(), 300);
}

#[test]
fn depth_is_bounded_and_no_depth_uses_up_the_stack() {
    let items = |depth: usize| format!("{}x\n", "- ".repeat(depth));
    let maps = |depth: usize| {
        (0..depth).fold(String::new(), |mut text, level| {
            writeln!(text, "{}a:", " ".repeat(level)).unwrap();
            text
        })
    };
    for text in [items(MAX_DEPTH), maps(MAX_DEPTH)] {
        assert!(documents(&text).is_ok());
    }
    for text in [items(MAX_DEPTH + 1), maps(MAX_DEPTH + 1), items(100_000), maps(3_000)] {
        assert_eq!(documents(&text).unwrap_err().problem, YamlErrorKind::TooDeep);
    }
    for text in [
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        "a: [".to_owned() + &"[".repeat(100_000),
        "? ".repeat(100_000),
    ] {
        assert!(documents(&text).is_err());
    }
    let nested = format!("{}x{}", "[".repeat(250), "]".repeat(250));
    let chained = format!("a: &a {nested}\nb: &b [[[[[*a]]]]]\nc: [*b]\n");
    assert!(documents(&chained).is_ok());
    let longer = (0..300).fold("a0: &a0 x\n".to_owned(), |mut text, n| {
        writeln!(text, "a{0}: &a{0} [[*a{n}]]", n + 1).unwrap();
        text
    });
    assert_eq!(documents(&longer).unwrap_err().problem, YamlErrorKind::TooDeep);
}

#[test]
fn aliases_do_not_explode() {
    let laughs = (0..30).fold("a0: &a0 [x, x]\n".to_owned(), |mut text, n| {
        writeln!(text, "a{0}: &a{0} [*a{n}, *a{n}, *a{n}, *a{n}, *a{n}]", n + 1).unwrap();
        text
    });
    assert_eq!(documents(&laughs).unwrap_err().problem, YamlErrorKind::TooMany);
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), "*a, ".repeat(10_000));
    assert_eq!(documents(&long).unwrap_err().problem, YamlErrorKind::TooMany);
    let merges = (0..30).fold("a0: &a0 {x: 1}\n".to_owned(), |mut text, n| {
        writeln!(text, "a{0}: &a{0} {{<<: [*a{n}, *a{n}, *a{n}], k{n}: *a{n}}}", n + 1).unwrap();
        text
    });
    assert_eq!(documents(&merges).unwrap_err().problem, YamlErrorKind::TooMany);
}

/// Tokens with a meaning in YAML, in random order.
fn almost_yaml() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => proptest::sample::select(vec![
            "a", "b", ": ", ":", "- ", "-", "? ", "[", "]", "{", "}", ",", "#", " # c", "&x ", "*x", "!", "!!str ",
            "!!int ", "|", ">", "|-", "|2", ">+", "'", "\"", "\\", "%", "%YAML 1.2", "@", "`", "<<", "<<: ", "---",
            "...", "--- ", "1", "0x", "1.5", "~", "null", "yes", "\t", "\u{feff}", "\u{85}", "\u{2028}", "é", "😀",
            "\u{0}", "\\x41", "\\u00", "\r", "\r\n", "!<a>", "!a!b ", "%TAG !a! b",
        ]).prop_map(str::to_owned),
        3 => "\n {0,6}",
        1 => " {1,3}",
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

const POLICY: &str = r#"apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy          # a comment
metadata: {name: rollout-fort}
spec:
  resourceSelectors:
  - {apiVersion: deploy.example.com/v1alpha1, kind: Rollout}
  variables:
  - &v {name: zone, expression: 'cluster.labels["zone"]'}
  rules:
    - name: canary-steps
      fort: {allocation: fort, steps: /spec/strategy, match: {type: Fort}, generate: {when: Absent, fort: [a]}}
    - name: text
      patch:
        type: Strategic
        value: |
          spec:
            x: ${variables.zone}
      <<: *v
    - args: [
        "a", 'b',
    ]
---
{"apiVersion": "v1", "data": {"n": 1.0, "s": "\u00e9\n"}}
"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn no_text_panics(text in almost_yaml()) {
        let _ = documents(&text);
    }

    #[test]
    fn no_damaged_document_panics(
        edits in proptest::collection::vec((0..POLICY.len(), 0_usize..8, almost_yaml()), 1..4),
    ) {
        let mut text = POLICY.to_owned();
        for (at, length, piece) in edits {
            let start = text.floor_char_boundary(at.min(text.len()));
            let end = text.ceil_char_boundary((start + length).min(text.len()));
            text.replace_range(start..end, &piece.chars().take(length).collect::<String>());
        }
        if let Ok(documents) = documents(&text) {
            for document in documents {
                prop_assert!(document.line >= 1);
            }
        }
    }
}

#[test]
fn the_document_that_is_damaged_there_is_fine() {
    let policy = &documents(POLICY).unwrap()[0];
    assert_eq!(
        policy.value.at(&Pointer::of(["spec", "rules", "1", "expression"])).and_then(Value::as_str),
        Some("cluster.labels[\"zone\"]")
    );
    assert_eq!(policy.lines.of(&Pointer::of(["spec", "rules", "2", "args"])).line, 19);
}

fn keys(text: &str) -> Vec<String> {
    let documents = documents(text).unwrap();
    documents[0].lines.keys().iter().map(|(at, reading)| format!("{at}: {reading}")).collect()
}

#[test]
fn keys_that_are_read_as_something_else_are_told_with_their_place() {
    for (word, read) in [
        ("y", "true"),
        ("Y", "true"),
        ("yes", "true"),
        ("Yes", "true"),
        ("YES", "true"),
        ("on", "true"),
        ("On", "true"),
        ("ON", "true"),
        ("n", "false"),
        ("N", "false"),
        ("no", "false"),
        ("No", "false"),
        ("NO", "false"),
        ("off", "false"),
        ("Off", "false"),
        ("OFF", "false"),
        ("True", "true"),
        ("0755", "493"),
        ("1_000", "1000"),
        ("0x1F", "31"),
        ("1.0", "1"),
    ] {
        let expected = [format!("/a/0/{read}: `{word}` is read as {read}; put it in quotes")];
        for text in [
            format!("a:\n- {word}: x\n"),
            format!("a: [{{{word}: x}}]\n"),
            format!("a:\n- ? {word}\n  : x\n"),
        ] {
            assert_eq!(keys(&text), expected, "{text}");
        }
        for text in [format!("\"{word}\": x\n"), format!("'{word}': x\n"), format!("!!str {word}: x\n")] {
            assert_eq!(keys(&text), [""; 0], "{text}");
        }
    }
    for text in [
        "true: x\n",
        "8080: x\n",
        "yesterday: x\n",
        "x: yes\n",
        "{\"y\": 1}",
        "x: |\n  y: 1\n",
        "12:30:45: x\n",
    ] {
        assert_eq!(keys(text), [""; 0], "{text}");
    }
    // A key is reported once, even if aliases and merges show it again.
    let text = "a: &a {n: 1, m: 2}\nb: *a\nc: {<<: *a}\n";
    assert_eq!(keys(text), ["/a/false: `n` is read as false; put it in quotes"]);
}

#[test]
fn how_a_value_is_written_is_known_where_it_is_read_as_something_else() {
    let reading = |text: &str, pointer: &str| {
        let documents = documents(text).unwrap();
        documents[0].lines.reading(&Pointer::parse(pointer).unwrap()).map(|reading| reading.to_string())
    };
    for (text, pointer, expected) in [
        ("a: yes\n", "/a", "`yes` is read as true; put it in quotes"),
        ("a: {b: [x, No]}\n", "/a/b/1", "`No` is read as false; put it in quotes"),
        ("- off\n", "/0", "`off` is read as false; put it in quotes"),
        ("a: 0755\n", "/a", "`0755` is read as 493; put it in quotes"),
        ("a: 1_000\n", "/a", "`1_000` is read as 1000; put it in quotes"),
        ("a: +1\n", "/a", "`+1` is read as 1; put it in quotes"),
        ("n: y\n", "/false", "`y` is read as true; put it in quotes"),
        ("a: &a on\nb: *a\n", "/b", "`on` is read as true; put it in quotes"),
    ] {
        assert_eq!(reading(text, pointer).as_deref(), Some(expected), "{text}");
    }
    for (text, pointer) in [
        ("a: 'yes'\n", "/a"),
        ("a: !!str yes\n", "/a"),
        ("a: !!bool yes\n", "/a"),
        ("a: |\n  yes\n", "/a"),
        ("a: true\n", "/a"),
        ("a: 1.0\n", "/a"),
        ("a: 12:30:45\n", "/a"),
        ("a: yes\n", "/a/b"),
        ("n: 1\n", "/false"),
        ("{\"a\": true}", "/a"),
    ] {
        assert_eq!(reading(text, pointer), None, "{text}");
    }
}

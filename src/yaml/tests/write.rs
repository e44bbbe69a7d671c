//! Tests of the writer: its format, and that the reader returns the written value.

use std::fmt::Write as _;

use proptest::prelude::*;

use crate::json::{Number, Value};
use crate::yaml::{documents, write};

fn written(json: &str) -> String {
    let mut out = String::new();
    write(&Value::parse(json.as_bytes()).unwrap(), &mut out);
    out
}

#[test]
fn it_looks_like_what_kubectl_prints() {
    let json = r##"{"apiVersion":"apps/v1","metadata":{"annotations":{},"name":"x"},"spec":{"replicas":3,"ratio":1.0,
        "containers":[{"name":"app","image":"reg:5000/x:1.2","args":["--a","-b",":c","d e","f: g","h #i","#j",""],
        "ports":[{"containerPort":80}],"env":[]},{"name":"two","tty":true,"x":null}],
        "nested":[["a",["b"]],[{"c":1}]]},
        "data":{"run.sh":"#!/bin/sh\necho \"$1\"\n","cut":"a\nb","kept":"a\n\n","odd":" a\nb","tab":"a\tb","nl":"\n"}}"##;
    assert_eq!(
        written(json),
        r##"apiVersion: apps/v1
metadata:
  annotations: {}
  name: x
spec:
  replicas: 3
  ratio: 1.0
  containers:
  - name: app
    image: reg:5000/x:1.2
    args:
    - --a
    - -b
    - :c
    - d e
    - "f: g"
    - "h #i"
    - "#j"
    - ""
    ports:
    - containerPort: 80
    env: []
  - name: two
    tty: true
    x: null
  nested:
  - - a
    - - b
  - - c: 1
data:
  run.sh: |
    #!/bin/sh
    echo "$1"
  cut: |-
    a
    b
  kept: |+
    a

  odd: " a\nb"
  tab: "a\tb"
  nl: "\n"
"##
    );
}

#[test]
fn strings_that_some_reader_takes_for_something_else_are_quoted() {
    for text in [
        "yes",
        "No",
        "on",
        "y",
        "N",
        "TRUE",
        "null",
        "~",
        "",
        "1",
        "-1",
        "+1",
        "1.0",
        ".5",
        "1e3",
        "0x1F",
        "0o17",
        "017",
        "1_000",
        "1_0.5_0",
        "12:30",
        "12:30:45.5",
        "190:20:30",
        "2001-01-01",
        "2001-12-14t21:59:43.10-05:00",
        ".inf",
        "-.INF",
        ".NaN",
        "<<",
        "=",
        "0b1",
        "0B_1",
        "1e400",
        "1.",
        "5e-3",
        "1.5E+3",
        "None",
    ] {
        let mut out = String::new();
        write(&Value::from(text), &mut out);
        assert_eq!(out, format!("\"{text}\"\n"));
    }
    for text in [
        "1.2.3",
        "10.0.0.1",
        "100m",
        "5Gi",
        "v1",
        "a:b",
        "2001-01-01-x",
        "1h30m",
        "x y",
        "0.5-rc",
        "é",
        "a#b",
        "-x",
    ] {
        let mut out = String::new();
        write(&Value::from(text), &mut out);
        assert_eq!(out, format!("{text}\n"));
    }
}

#[test]
fn documents_can_be_headed_and_joined() {
    let mut out = String::new();
    for (name, text) in [("a", "x\n\n"), ("b", "y")] {
        if !out.is_empty() {
            out.push_str("---\n");
        }
        writeln!(out, "# cluster: {name}").unwrap();
        write(&Value::Object([("text", Value::from(text))].into_iter().collect()), &mut out);
    }
    assert_eq!(out, "# cluster: a\ntext: |+\n  x\n\n---\n# cluster: b\ntext: \"y\"\n");
    let values: Vec<_> = documents(&out).unwrap().iter().map(|document| document.value.to_string()).collect();
    assert_eq!(values, [r#"{"text":"x\n\n"}"#, r#"{"text":"y"}"#]);
}

#[test]
fn depth_is_no_problem() {
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}"), (r#"[{"a":"#, "}]")] {
        let depth = if open.len() > 5 { 256 } else { 512 };
        let json = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        assert_eq!(documents(&written(&json)).unwrap()[0].value.to_string(), json);
    }
    let deep = (0..4096).fold(Value::Null, |value, _| Value::array(vec![value]));
    let mut out = String::new();
    write(&deep, &mut out);
    assert_eq!(out.len(), 4096 * 2 + "null\n".len());
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,8}",
        "[-+.:_0-9xobeE]{0,8}",
        "[ \n\ta#:|>'\"\\\\,-]{0,10}",
        "[ab \n]{0,12}",
        proptest::sample::select(vec![
            "yes",
            "null",
            "~",
            "<<",
            "=",
            "---",
            "...",
            "--- a",
            "a\n---\nb",
            "a\n...\n",
            "#",
            "- a",
            "? a",
            "a: b",
            "%a",
            "\u{feff}",
            "\u{85}",
            "\u{2028}x",
            "\u{7f}",
            "é\n日本",
            "😀",
            "\r\n",
            "a\r",
            "\u{0}",
            "\u{fffe}",
            "a\n \nb",
            "a\n  b\n c",
            "a \nb ",
            "a\n\n\nb\n\n\n",
            "| a",
            "&a",
            "*a",
            "!a"
        ])
        .prop_map(str::to_owned),
        proptest::collection::vec(any::<char>(), 0..6).prop_map(String::from_iter),
        "[a-z]{120,140}",
    ]
}

fn any_value() -> impl Strategy<Value = Value<'static>> {
    let number = proptest::sample::select(vec![
        "0",
        "-0",
        "1",
        "-1",
        "1.0",
        "1.50",
        "1e3",
        "1E+03",
        "2.5e-7",
        "9007199254740993",
        "18446744073709551616",
        "0.1",
        "-0.0",
        "1e400",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number.prop_map(|text| Value::Number(Number::parse(text).unwrap())),
        any_text().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::array),
            proptest::collection::vec((any_text(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn what_is_written_is_read_again(value in any_value()) {
        let mut text = String::new();
        write(&value, &mut text);
        let read = documents(&text);
        prop_assert!(read.is_ok(), "{:?} of {:?}", read, text);
        let read: Vec<_> = read.unwrap().into_iter().map(|document| document.value).collect();
        // Compares the debug output, which also shows the order of the members.
        let expected: Vec<_> = Some(value).filter(|value| !value.is_null()).into_iter().collect();
        prop_assert_eq!(format!("{:?}", read), format!("{:?}", expected), "{}", text);
    }
}

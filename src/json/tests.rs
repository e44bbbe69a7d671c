//! Compares the parser with `serde_json`, and tests the additional guarantees of this module.

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Result<Value<'_>, ParseError> {
    Value::parse(text.as_bytes())
}

fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn text_that_is_already_compact_comes_back_byte_for_byte() {
    for text in [
        "null",
        "true",
        "-0.0",
        "1.0",
        "1e3",
        "1E+03",
        "9007199254740993",
        "123456789012345678901234567890",
        r#""""#,
        r#""a\"b\\c\u0001\n/é😀""#,
        "[]",
        "{}",
        r#"{"z":1,"a":{"b":[1,1.50,{"c":null}]},"":""}"#,
    ] {
        assert_eq!(parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn pretty_text_has_a_line_for_each_member_and_item() {
    let mut text = String::new();
    parse(r#"{"a":[1,{"b":null},[],{}],"c":"x"}"#).unwrap().write_pretty_to(&mut text);
    assert_eq!(
        text,
        "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    },\n    [],\n    {}\n  ],\n  \"c\": \"x\"\n}"
    );
}

#[test]
fn every_byte_of_a_string_is_looked_at_wherever_it_is() {
    // Strings are read in words of eight bytes, so every position in a word and every end of the text is
    // tested.
    let read = |text: &str| {
        let theirs = serde_json::from_str::<serde_json::Value>(text);
        let ours = Text::parse(text.as_bytes());
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{text:?}");
        if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
            let built = ours.root().to_value().unwrap().to_string();
            assert_eq!(serde_json::from_str::<serde_json::Value>(&built).unwrap(), theirs, "{text:?}");
        }
    };
    let pieces = [
        "a", "\\\"", "\\\\", "\\u00e9", "\\x", "\\", "\"", "\u{0}", "\u{1f}", " ", "!", "#", "]", "\u{7f}",
        "\u{80}", "é", "ÿ", "€", "😀",
    ];
    for length in 0..40 {
        for place in 0..=length {
            for piece in pieces {
                let string = format!("\"{}{piece}{}\"", "s".repeat(place), "t".repeat(length - place));
                read(&string);
                read(&format!("{{{string}:{string}}}"));
                read(&format!("[{string} , {string}, 1234567890]"));
                read(&string[..string.len() - 1]);
            }
        }
    }
}

#[test]
fn an_error_tells_the_problem_and_its_place() {
    for (text, offset, problem) in [
        ("", 0, "the text ends where a value should be"),
        (" x", 1, "expected a value"),
        ("1 2", 2, "something follows the value"),
        ("\"a\"\u{0}", 3, "something follows the value"),
        ("{}]", 2, "something follows the value"),
        ("[ ] ,", 4, "something follows the value"),
        ("[", 1, "the text ends where a value should be"),
        ("[1,", 3, "the text ends where a value should be"),
        ("[1, ]", 4, "expected a value"),
        ("[1", 2, "the text ends inside a list or an object"),
        ("[1 \n", 4, "the text ends inside a list or an object"),
        ("[1 2]", 3, "expected `,` or `]`"),
        ("[1}", 2, "expected `,` or `]`"),
        ("{", 1, "expected the name of a member, in double quotes"),
        ("{ 1", 2, "expected the name of a member, in double quotes"),
        (r#"{"a":1, }"#, 8, "expected the name of a member, in double quotes"),
        (r#"{"a" 1}"#, 5, "expected `:`"),
        (r#"{"a"#, 3, "the text ends inside a string"),
        (r#"{"a" "#, 5, "expected `:`"),
        (r#"{"a": }"#, 6, "expected a value"),
        (r#"{"a": 1 ]"#, 8, "expected `,` or `}`"),
        (r#"{"a":{} "b":1}"#, 8, "expected `,` or `}`"),
        (r#"["abcdefghijk"#, 13, "the text ends inside a string"),
        (r#"["abcdefgh\"#, 11, "the text ends inside a string"),
        (r#"["abcdefgh\x"]"#, 11, "no such escape in a string"),
        (r#"["\u00g0"]"#, 6, "expected four hexadecimal digits after `\\u`"),
        ("[\"abcdefgh\n\"]", 10, "a control character in a string"),
        ("[-]", 2, "expected a digit"),
        ("[tru]", 1, "expected a value"),
    ] {
        let error = Text::parse(text.as_bytes()).unwrap_err();
        assert_eq!(error, ParseError::Syntax { offset, problem }, "{text:?}");
    }
}

#[test]
fn escapes_mean_what_rfc_8259_says() {
    let value = parse(r#""\u0041\/\b\f\n\r\t\"\\\ud83d\ude00""#).unwrap();
    assert_eq!(value.as_str(), Some("A/\u{8}\u{c}\n\r\t\"\\😀"));
    for text in [r#""\ud83d""#, r#""\ud83dx""#, r#""\ud83dA""#, r#""\ude00""#] {
        assert!(parse(text).unwrap_err().to_string().contains("surrogate"), "{text}");
    }
}

#[test]
fn a_name_that_is_there_twice_is_refused_at_every_level_and_size() {
    let error = parse(r#"{"a":[{"b":1,"\u0062":2}]}"#).unwrap_err();
    assert_eq!(error.to_string(), r#"the member "b" is there twice, the second time at byte 13"#);
    let many: Vec<String> = (0..1000).map(|n| format!(r#""k{n}":0"#)).collect();
    assert!(parse(&format!("{{{}}}", many.join(","))).is_ok());
    assert!(matches!(parse(&format!(r#"{{{},"k7":0}}"#, many.join(","))), Err(ParseError::Duplicate { .. })));
}

#[test]
fn a_text_knows_of_names_that_are_there_twice_and_where() {
    let many: Vec<String> = (0..1000).map(|n| format!(r#""k{n}":0"#)).collect();
    let many = many.join(",");
    for (object, twice) in [
        (r#"{"a":1,"b":{"a":1}}"#.to_owned(), None),
        (r#"{"a":1,"b":2,"a":3}"#.to_owned(), Some("a")),
        (r#"{"a":1,"\u0061":3}"#.to_owned(), Some("a")),
        (r#"{"\u0061":1,"b":[{"c":1}],"a":3}"#.to_owned(), Some("a")),
        (r#"[{"x":{"":1,"":2}}]"#.to_owned(), Some("")),
        (r#"{"k:{\"a\":1}":1,"k:{\"a\":2}":1,"\\":1,"\\\\":1,"\"":1}"#.to_owned(), None),
        (r#"{"k:{\"a\":1}":1,"k:{\"a\":2}":1,"k:{\"a\":1}":1}"#.to_owned(), Some(r#"k:{"a":1}"#)),
        (r#"{"k:{\"a\":1}":1,"k:{\u0022a\u0022:1}":1}"#.to_owned(), Some(r#"k:{"a":1}"#)),
        (r#"{"\/":1,"/":1}"#.to_owned(), Some("/")),
        (format!("{{{many}}}"), None),
        (format!(r#"{{{many},"k7":0}}"#), Some("k7")),
    ] {
        let text = format!(r#"{{"before":{{"a":1}},"it":{object},"a":{{}}}}"#);
        let text = Text::parse(text.as_bytes()).unwrap();
        let found = |raw: Raw<'_>| match raw.check_names() {
            Err(ParseError::Duplicate { name, .. }) => Some(name),
            other => other.map(|()| None).unwrap(),
        };
        assert_eq!(found(text.root()).as_deref(), twice, "{object}");
        let members = text.root().members().unwrap();
        assert_eq!(found(members.get("it").unwrap()).as_deref(), twice);
        assert_eq!((found(members.get("before").unwrap()), found(members.get("a").unwrap())), (None, None));
    }
}

#[test]
fn names_are_compared_whole_whatever_their_number_and_length() {
    // Names that differ in one byte, at each position. Then one of them is repeated.
    for length in [1, 2, 7, 8, 9, 15, 16, 17, 40] {
        let mut names = vec!["x".repeat(length)];
        for place in 0..length {
            names.extend(
                ["y", "é"]
                    .map(|other| format!("{}{other}{}", "x".repeat(place), "x".repeat(length - place - 1))),
            );
        }
        let object = |names: &[String]| {
            let members: Vec<String> = names.iter().map(|name| format!(r#""{name}":{{"of":[]}}"#)).collect();
            format!("[{{{}}}]", members.join(","))
        };
        let text = object(&names);
        assert_eq!(Text::parse(text.as_bytes()).unwrap().root().check_names(), Ok(()));
        for twice in 0..names.len() {
            let mut names = names.clone();
            names.push(names[twice].clone());
            let text = object(&names);
            let error = Text::parse(text.as_bytes()).unwrap().root().check_names().unwrap_err();
            let offset = text.rfind(&format!(r#""{}""#, names[twice])).unwrap();
            assert_eq!(error, ParseError::Duplicate { name: names[twice].clone(), offset });
        }
    }
}

#[test]
fn a_name_that_is_there_twice_is_found_however_deep_it_is() {
    for depth in [1, 600, 1023, 1024, 1025, 3000] {
        let (open, close) = (r#"{"o":["#.repeat(depth), "]}".repeat(depth));
        let text = format!(r#"{open}{{"a":1,"b":{{"a":2}},"a":3}}{close}"#);
        let error = Text::parse(text.as_bytes()).unwrap().root().check_names().unwrap_err();
        assert_eq!(
            error,
            ParseError::Duplicate { name: "a".to_owned(), offset: text.rfind(r#""a""#).unwrap() }
        );
        let text = text.replace(r#","a":3"#, "");
        assert_eq!(Text::parse(text.as_bytes()).unwrap().root().check_names(), Ok(()));
    }
}

#[test]
fn depth_is_counted_exactly_and_no_depth_uses_up_the_stack() {
    assert!(parse(&nested(MAX_DEPTH)).is_ok());
    assert_eq!(parse(&nested(MAX_DEPTH + 1)), Err(ParseError::TooDeep { depth: MAX_DEPTH + 1 }));
    for depth in [1, 2, 511, 512, 513, 1023, 1024, 1025, 1026, 5000, 1_000_000] {
        let text = format!(r#"[{{"a":{}}},[[]]]"#, nested(depth));
        let text = Text::parse(text.as_bytes()).unwrap();
        assert_eq!(text.root().depth(), depth + 2);
        let items = text.root().items().unwrap();
        assert_eq!((items.len(), items[0].depth(), items[1].depth()), (2, depth + 1, 2));
        assert_eq!(items[0].to_value().is_ok(), depth < MAX_DEPTH);
    }
    for unfinished in ["[", r#"{"a":"#] {
        let text = unfinished.repeat(1_000_000);
        assert!(parse(&text).is_err() && Text::parse(text.as_bytes()).is_err());
    }
}

#[test]
fn raw_text_is_looked_up_without_building_it() {
    let text =
        Text::parse(br#" {"spec": {"replicas" : 3, "x": [1, {"replicas": 4}]}, "a/b": "\u0041"} "#).unwrap();
    let raw = text.root();
    let at = |pointer: &str| {
        raw.at(&Pointer::parse(pointer).unwrap()).unwrap().map(|found| found.text().to_owned())
    };
    assert_eq!(at("/spec/replicas").as_deref(), Some("3"));
    assert_eq!(at("/spec/x").as_deref(), Some(r#"[1, {"replicas": 4}]"#));
    assert_eq!(at("/spec/x/1"), None);
    assert_eq!(at("/a~1b").as_deref(), Some(r#""\u0041""#));
    assert_eq!(raw.get("a/b").unwrap().unwrap().as_str().unwrap().as_deref(), Some("A"));
}

#[test]
fn members_and_items_pass_over_whole_containers() {
    let text = Text::parse(br#" {"kind":"K", "request" : {"uid":"u","object":{"a":[[1], {}]},"uid":"v"},"x":[ ],"y":[1,"]",{"z":2}]} "#).unwrap();
    let outer = text.root().members().unwrap();
    let inner = outer.get("request").unwrap().members().unwrap();
    assert_eq!((outer.len(), inner.len()), (4, 3));
    assert_eq!(
        (text.root().depth(), outer.get("request").unwrap().depth(), outer.get("x").unwrap().depth()),
        (5, 4, 1)
    );
    assert_eq!(inner.get("object").unwrap().text(), r#"{"a":[[1], {}]}"#);
    assert_eq!((inner.count("uid"), inner.get("uid").unwrap().text()), (2, r#""u""#));
    let uid = text.root().get("request").unwrap().unwrap().get("uid").unwrap().unwrap();
    assert_eq!(uid.text(), r#""u""#);
    let items: Vec<&str> = outer.get("y").unwrap().items().unwrap().iter().map(Raw::text).collect();
    assert_eq!(items, ["1", r#""]""#, r#"{"z":2}"#]);
    for scalar in ["1", "null", r#""a""#] {
        let text = Text::parse(scalar.as_bytes()).unwrap();
        assert_eq!(
            (text.root().members().unwrap().len(), text.root().items().unwrap().len(), text.root().depth()),
            (0, 0, 0)
        );
    }
}

#[test]
fn numbers_compare_by_value_only_when_asked() {
    let number = |text| Number::parse(text).unwrap();
    for (a, b) in [("1", "1.0"), ("10e-1", "1"), ("0", "-0.00e7"), ("1200", "1.2e3"), ("0.05", "5E-2")] {
        assert!(number(a).same_value(&number(b)), "{a} {b}");
        assert_ne!(number(a), number(b));
    }
    for (a, b) in [("9007199254740993", "9007199254740992"), ("1", "-1"), ("1", "10"), ("1e400", "1e401")] {
        assert!(!number(a).same_value(&number(b)), "{a} {b}");
    }
    for text in ["", "01", "1.", ".5", "1e", "+1", "1 ", "NaN", "0x1"] {
        assert!(Number::parse(text).is_none(), "{text}");
    }
    assert_eq!(number("1.0").as_i64(), None);
    assert_eq!(number("-7").as_i64(), Some(-7));
}

#[test]
fn pointers_escape_as_rfc_6901_says() {
    // The document and the pointers of RFC 6901, section 5.
    let document = parse(
        r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#,
    )
    .unwrap();
    let at = |pointer: &str| document.at(&Pointer::parse(pointer).unwrap()).map(ToString::to_string);
    for (pointer, expected) in [
        ("/foo", r#"["bar","baz"]"#),
        ("/foo/0", r#""bar""#),
        ("/", "0"),
        ("/a~1b", "1"),
        ("/c%d", "2"),
        ("/e^f", "3"),
        ("/g|h", "4"),
        ("/i\\j", "5"),
        ("/k\"l", "6"),
        ("/ ", "7"),
        ("/m~0n", "8"),
    ] {
        assert_eq!(at(pointer).as_deref(), Some(expected), "{pointer}");
        assert_eq!(Pointer::parse(pointer).unwrap().to_string(), pointer);
    }
    for missing in ["/foo/2", "/foo/01", "/foo/-", "/foo/+1", "/foo/bar/x", "/nothing"] {
        assert_eq!(at(missing), None, "{missing}");
    }
    assert_eq!(Pointer::parse("foo"), Err(PointerError::NoLeadingSlash));
    assert_eq!(Pointer::parse("/a~2"), Err(PointerError::BadEscape));
    assert_eq!(Pointer::parse("/a~"), Err(PointerError::BadEscape));
}

#[test]
fn a_change_copies_only_the_way_to_it() {
    let before = parse(r#"{"a":{"b":[1,2]},"c":{"d":1}}"#).unwrap();
    let mut after = before.clone();
    let list = after.object_mut().unwrap().get_mut("a").unwrap().object_mut().unwrap().get_mut("b").unwrap();
    list.array_mut().unwrap()[1] = 3.into();
    assert_eq!(before.to_string(), r#"{"a":{"b":[1,2]},"c":{"d":1}}"#);
    assert_eq!(after.to_string(), r#"{"a":{"b":[1,3]},"c":{"d":1}}"#);
    assert!(before.get("c").unwrap().is_same(after.get("c").unwrap()));
    assert!(!before.get("a").unwrap().is_same(after.get("a").unwrap()));
}

#[test]
fn objects_are_equal_in_any_order_of_their_members() {
    assert_eq!(parse(r#"{"a":1,"b":2}"#), parse(r#"{"b":2,"a":1}"#));
    assert_ne!(parse(r#"{"a":1,"b":2}"#), parse(r#"{"a":1,"c":2}"#));
    assert_ne!(parse(r#"{"a":1}"#), parse(r#"{"a":1.0}"#));
}

/// Text that is mostly valid JSON.
fn almost_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?[0-9]{1,3}(\\.[0-9]{1,2})?([eE][+-]?[0-9])?",
        r#""[a-z\\"/\u{1}é]{0,5}""#,
        r#""(\\u[0-9a-d]{4}|\\n|a)*""#,
        "[\\[\\]{},:\" ]{0,4}",
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(" , "))),
            proptest::collection::vec(("[a-c]{1,2}", inner), 0..4).prop_map(|members| {
                let members: Vec<String> =
                    members.into_iter().map(|(name, value)| format!("\"{name}\" : {value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// The parser accepts the same text as `serde_json` and reads the same values, except for duplicate
    /// names.
    #[test]
    fn the_reader_agrees_with_serde_json(text in almost_json()) {
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        match (parse(&text), theirs) {
            (Ok(ours), Ok(theirs)) => {
                let again: serde_json::Value = serde_json::from_str(&ours.to_string()).unwrap();
                prop_assert_eq!(again, theirs);
            }
            (Err(ParseError::Duplicate { .. }), Ok(_)) | (Err(_), Err(_)) => {}
            (ours, theirs) => prop_assert!(false, "{:?} but serde_json {:?}", ours, theirs),
        }
    }

    /// A lookup in the text and the tree accept the same text and give the same values.
    #[test]
    fn looking_up_and_building_agree(text in almost_json()) {
        let built = parse(&text);
        let checked = Text::parse(text.as_bytes());
        // Surrogates are checked only when a tree is built, and duplicate names only on request.
        prop_assert!(checked.is_ok() || built.is_err());
        if let Ok(checked) = &checked {
            let twice = matches!(built, Err(ParseError::Duplicate { .. }));
            prop_assert!(!twice || checked.root().check_names().is_err());
            prop_assert!(built.is_err() || checked.root().check_names().is_ok());
        }
        let (Ok(checked), Ok(built)) = (checked, built) else { return Ok(()); };
        prop_assert_eq!(&checked.root().to_value().unwrap(), &built);
        let members = checked.root().members().unwrap();
        let items = checked.root().items().unwrap();
        match &built {
            Value::Object(object) => {
                prop_assert_eq!(members.len(), object.len());
                for (name, value) in object.iter() {
                    let raw = members.get(name).unwrap();
                    prop_assert_eq!(&raw.to_value().unwrap(), value);
                    prop_assert_eq!(raw.text(), checked.root().get(name).unwrap().unwrap().text());
                }
            }
            Value::Array(list) => {
                let read: Vec<Value<'_>> = items.iter().map(|item| item.to_value().unwrap()).collect();
                prop_assert_eq!(&read[..], &list[..]);
            }
            _ => prop_assert!(members.is_empty() && items.is_empty()),
        }
    }

    /// No input panics.
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = Value::parse(&bytes);
        if let Ok(text) = Text::parse(&bytes) {
            let _ = text.root().to_value();
            let _ = text.root().members();
            let _ = text.root().check_names();
        }
    }
}

#[test]
fn a_pointer_is_written_as_the_string_that_it_is() {
    for tokens in [&[][..], &["a", "0"], &["a/b", "~"], &["\"", "\\", "\n"], &["é"]] {
        let pointer = Pointer::of(tokens.iter().copied());
        let (mut written, mut expected) = (String::new(), String::new());
        pointer.write_to(&mut written);
        write_string(&pointer.to_string(), &mut expected);
        assert_eq!(written, expected);
    }
}

//! Tests of `${...}` in strings, and of conditions.

use super::*;

fn filled(text: &str) -> Result<String, String> {
    let template = Template::compile(text, &scope()).map_err(|error| format!("refused: {error}"))?;
    let value = template.evaluate(&Known::default(), &mut Budget::default());
    value.map(|value| value.to_string()).map_err(|error| error.to_string())
}

#[test]
fn one_expression_alone_keeps_its_kind() {
    for (text, expected) in [
        ("${replicas}", "2"),
        ("${replicas > 1}", "true"),
        ("${null}", "null"),
        ("${object.spec.ratio}", "1.50"),
        ("${object.spec.zeta}", r#"{"b":1,"a":2,"c":{"d":[1,2]}}"#),
        ("${object.spec.numbers.map(n, n + 1)}", "[4,2,3]"),
        ("${ {'a': {'b': '}'}} }", r#"{"a":{"b":"}"}}"#),
        ("${cluster.name}", "\"member1\""),
    ] {
        assert_eq!(filled(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn mixed_text_is_a_string() {
    for (text, expected) in [
        ("registry.${cluster.region}.example.com", "registry.eu.example.com"),
        ("${cluster.name}-${replicas}", "member1-2"),
        (" ${replicas}", " 2"),
        ("${replicas}${replicas}", "22"),
        ("${object.spec.ratio} ${1.0 + 1.0} ${true}", "1.50 2 true"),
        ("${quantity('1').add(quantity('1'))}i", "2i"),
        ("$${cluster.name}", "${cluster.name}"),
        ("$${${replicas}}", "${2}"),
        ("$$${replicas}", "$${replicas}"),
        ("costs 5$ and ${replicas}$", "costs 5$ and 2$"),
        ("${'}' + \"{\" + r'\\'}!", "}{\\!"),
        ("${'''a'}b'''}!", "a'}b!"),
        ("${1 // a } comment\n}!", "1!"),
        ("${object.metadata.labels.`app.kubernetes.io/name`}!", "shop!"),
        ("${cluster.?zone.orValue('none')}!", "none!"),
        ("", ""),
        ("plain", "plain"),
        ("}", "}"),
    ] {
        assert_eq!(filled(text), Ok(Value::from(expected).to_string()), "{text}");
    }
}

#[test]
fn what_has_no_text_is_refused_in_mixed_text() {
    for (text, words) in [
        ("a${null}", "refused: line 1, column 4: null can't stand in a text"),
        ("a${[1]}", "a list can't stand in a text"),
        ("a${ {'a': 1} }", "a map can't stand in a text"),
        ("a${object.spec.nothing}", "null can't stand in a text"),
        ("a${object.spec}", "a map can't stand in a text"),
        ("a${object.?missing}", "an optional can't stand in a text"),
        ("a${1.0/0.0}", "no number that JSON has"),
        ("a${cluster.zone}b", "cluster.zone is not defined"),
    ] {
        let problem = filled(text).expect_err(text);
        assert!(problem.contains(words), "{text}: {problem}");
    }
}

#[test]
fn a_refusal_counts_from_the_beginning_of_the_whole_text() {
    for (text, place, words) in [
        ("ä ${repl}", 5, "unknown variable `repl`; did you mean `replicas`?"),
        ("a ${replicas", 2, "`${` is not closed; a literal one is written `$${`"),
        ("a ${'}", 2, "`${` is not closed"),
        ("a ${}", 4, "the expression is empty"),
        ("a ${replicas} ${1 +}", 19, "mismatched input"),
    ] {
        let refusal = Template::compile(text, &scope()).expect_err(text);
        assert_eq!(refusal.offset(), place, "{text}: {refusal}");
        assert!(refusal.problem().contains(words), "{text}: {refusal}");
    }
}

#[test]
fn text_of_another_language_is_refused_with_how_to_write_it() {
    const ADVICE: &str = "; `${...}` is an expression; write `$${` for a literal one";
    for text in [
        "echo ${HOME}",
        "${TOKEN:-none}",
        "${TOKEN:?is not set}",
        "${REPLICAS}",
        "${FILE%.*}",
        "${#ARGS}",
        "${ARGS[@]}",
        "${name^^}",
        "${}",
        "${{ secrets.TOKEN }}",
        "${var.region}",
        "${cluster}",
    ] {
        let refusal = Template::compile(text, &scope()).expect_err(text);
        assert!(refusal.problem().ends_with(ADVICE), "{text}: {refusal}");
    }
    for text in
        ["${repl + 1}", "${cluster.nmae}", "${size(object, 1)}", "a${[1]}", "${object.x.startWith('a')}"]
    {
        let refusal = Template::compile(text, &scope()).expect_err(text);
        assert!(!refusal.problem().contains("literal"), "{text}: {refusal}");
    }
    assert_eq!(filled("echo $${HOME} $${TOKEN:-none}"), Ok("\"echo ${HOME} ${TOKEN:-none}\"".to_owned()));
}

#[test]
fn a_text_without_expressions_is_a_constant_of_any_length() {
    let text = "x".repeat(MAX_TEMPLATE_BYTES + 1);
    let template = Template::compile(&text, &scope()).unwrap();
    assert_eq!(template.constant(), Some(text.as_str()));
    assert_eq!(Template::compile("$${a}", &scope()).unwrap().constant(), Some("${a}"));
    assert_eq!(Template::compile("", &scope()).unwrap().constant(), Some(""));
    assert_eq!(Template::compile("${'a'}", &scope()).unwrap().constant(), None);
    let refusal = Template::compile(&format!("{text}${{replicas}}"), &scope()).unwrap_err();
    assert!(refusal.problem().contains("a string with expressions has at most"), "{refusal}");
}

#[test]
fn a_template_uses_what_its_expressions_use() {
    let template = Template::compile("${cluster.name} ${replicas} ${cluster.name}", &scope()).unwrap();
    assert_eq!(template.uses(), [Variable::Replicas, Variable::ClusterName]);
}

#[test]
fn the_kind_is_known_where_it_can_be_seen() {
    use crate::json::Kind;
    for (text, expected) in [
        ("", Some(Kind::String)),
        ("a${replicas}", Some(Kind::String)),
        ("${null}", Some(Kind::Null)),
        ("${replicas > 0}", Some(Kind::Bool)),
        ("${size(object.spec) * 2}", Some(Kind::Number)),
        ("${'a' + object.x}", Some(Kind::String)),
        ("${quantity('1').add(object.x)}", Some(Kind::String)),
        ("${object.x.split(',')}", Some(Kind::Array)),
        ("${true ? {'a': 1} : {}}", Some(Kind::Object)),
        ("${true ? {'a': 1} : []}", None),
        ("${object.?x}", None),
        ("${object.x}", None),
    ] {
        assert_eq!(Template::compile(text, &scope()).unwrap().kind(), expected, "{text}");
    }
}

#[test]
fn a_condition_is_a_boolean_or_refused() {
    let holds = |source: &str| {
        Condition::compile(source, &scope()).unwrap().holds(&Known::default(), &mut Budget::default())
    };
    assert_eq!(holds("replicas > 0"), Ok(true));
    assert_eq!(holds("object.spec.paused"), Ok(false));
    assert_eq!(holds("false ? true : object.spec.paused"), Ok(false));
    let problem = holds("object.spec.share").unwrap_err().to_string();
    assert!(problem.ends_with("a condition gives a boolean, and this gave a string"), "{problem}");
    for (source, words) in [
        ("'true'", "and this a string"),
        ("1 + object.spec.replicas", "and this an integer"),
        ("[true]", "and this a list"),
        ("null", "and this null"),
        ("size(object.spec)", "and this an integer"),
        ("object.spec.numbers.map(n, n > 1)", "and this a list"),
        ("true ? 'a' : 'b'", "and this a string"),
        ("object.?spec", "and this an optional"),
    ] {
        let refusal = Condition::compile(source, &scope()).expect_err(source);
        assert!(refusal.problem().contains(words), "{source}: {refusal}");
    }
}

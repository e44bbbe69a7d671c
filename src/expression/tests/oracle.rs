//! Compares the evaluator with that of the crate `cel`: where both give a value, the values are equal.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cel::objects::{Key, Map};
use cel::{Context, Env, Value as Theirs, extensions};
use proptest::prelude::*;

use super::*;
use crate::expression::functions::double_text;
use crate::json::Number;

fn env() -> Arc<Env> {
    let mut env = Env::stdlib();
    env.add_extension(extensions::strings).unwrap();
    env.add_extension(extensions::lists).unwrap();
    Arc::new(env)
}

/// A document as a value of the crate, with signed integers.
fn theirs(value: &Value<'_>) -> Theirs {
    match value {
        Value::Null => Theirs::Null,
        Value::Bool(flag) => Theirs::Bool(*flag),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| Theirs::Float(number.as_str().parse().unwrap()), Theirs::Int)
        }
        Value::String(text) => Theirs::String(Arc::new(text.to_string())),
        Value::Array(items) => Theirs::List(Arc::new(items.iter().map(theirs).collect())),
        Value::Object(object) => {
            let map: HashMap<Key, Theirs> = object
                .iter()
                .map(|(name, value)| (Key::String(Arc::new(name.to_owned())), theirs(value)))
                .collect();
            Theirs::Map(Map { map: Arc::new(map) })
        }
    }
}

/// A result of the crate with maps sorted by key; `None` if JSON has no such value.
fn plain(value: &Theirs) -> Option<Plain> {
    Some(match value {
        Theirs::Null => Plain::Null,
        Theirs::Bool(flag) => Plain::Bool(*flag),
        Theirs::Int(number) => Plain::Number(number.to_string()),
        Theirs::Float(number) if number.is_finite() => Plain::Number(double_text(*number)),
        Theirs::String(text) => Plain::Text(text.to_string()),
        Theirs::List(items) => Plain::List(items.iter().map(plain).collect::<Option<_>>()?),
        Theirs::Map(map) => {
            let member = |(key, value): (&Key, &Theirs)| match key {
                Key::String(name) => Some((name.to_string(), plain(value)?)),
                _ => None,
            };
            Plain::Map(map.map.iter().map(member).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

#[derive(Debug, PartialEq)]
enum Plain {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Self>),
    Map(BTreeMap<String, Self>),
}

fn ours(value: &Value<'_>) -> Plain {
    match value {
        Value::Null => Plain::Null,
        Value::Bool(flag) => Plain::Bool(*flag),
        Value::Number(number) => Plain::Number(spelled(number)),
        Value::String(text) => Plain::Text(text.to_string()),
        Value::Array(items) => Plain::List(items.iter().map(ours).collect()),
        Value::Object(object) => {
            Plain::Map(object.iter().map(|(name, value)| (name.to_owned(), ours(value))).collect())
        }
    }
}

/// The spelling that the number has if it is computed.
fn spelled(number: &Number<'_>) -> String {
    number.as_i64().map_or_else(|| double_text(number.as_str().parse().unwrap()), |number| number.to_string())
}

/// The result of the crate.
#[derive(Debug)]
enum Judge {
    Fails,
    /// A value that JSON does not have, such as an optional.
    Outside,
    Gives(Plain),
}

/// Our result. Evaluates twice, to check that the result is deterministic.
fn ask_us(source: &str) -> Result<Plain, String> {
    let expression =
        Expression::compile(source, &scope()).map_err(|refusal| format!("refused: {refusal}"))?;
    let ask = || expression.evaluate(&Known::default(), &mut Budget::default());
    let text = |given: &Result<Value<'_>, EvaluateError>| match given {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    };
    let given = ask();
    assert_eq!(text(&given), text(&ask()), "{source}");
    given.map(|value| ours(&value)).map_err(|error| error.to_string())
}

fn ask_them(env: &Arc<Env>, source: &str) -> Judge {
    let Ok(program) = env.compile(source) else { return Judge::Fails };
    let mut context = Context::with_env(Arc::clone(env));
    let group = |members: &[(&str, &'static str)]| {
        let text =
            members.iter().map(|(name, text)| format!("{name:?}:{text}")).collect::<Vec<_>>().join(",");
        theirs(&Value::parse(format!("{{{text}}}").as_bytes()).unwrap())
    };
    let known = |variable: &Variable| VARIABLES.iter().find(|(name, _)| name == variable).unwrap().1;
    let labels = ("labels", known(&Variable::ClusterLabels));
    let cluster =
        [("name", known(&Variable::ClusterName)), labels, ("region", known(&Variable::ClusterRegion))];
    let binding = [("replicas", "5"), ("clusters", known(&Variable::BindingClusters))];
    context.add_variable_from_value("object", theirs(&parse(OBJECT)));
    context.add_variable_from_value("replicas", Theirs::Int(2));
    context.add_variable_from_value("cluster", group(&cluster));
    context.add_variable_from_value("binding", group(&binding));
    program.execute(&context).map_or(Judge::Fails, |value| plain(&value).map_or(Judge::Outside, Judge::Gives))
}

/// Whether only the crate gives a value, on purpose: it appends the keys of a map to a list.
fn only_theirs(problem: &str) -> bool {
    problem.contains("`+` has no meaning between a list and a map")
}

/// Whether only we give a value. The crate lacks some list functions of Kubernetes, and its optionals differ:
/// it evaluates unneeded defaults, and a member of a number in an optional is an error while a member of a
/// list is not.
fn only_ours(source: &str) -> bool {
    ["ndexOf(", "optional", ".?", "[?"].iter().any(|sign| source.contains(sign))
}

#[test]
fn our_answers_are_those_of_the_crate() {
    let env = env();
    let mut compared = 0;
    for source in SOURCES {
        match (ask_us(source), ask_them(&env, source)) {
            (Ok(ours), Judge::Gives(theirs)) => {
                assert_eq!(ours, theirs, "{source}");
                compared += 1;
            }
            (Err(_), Judge::Fails) => {}
            (ours, theirs) => panic!("{source}\n  ours: {ours:?}\ntheirs: {theirs:?}"),
        }
    }
    assert!(compared > SOURCES.len() / 2, "{compared}");
}

/// Sources that both evaluate. Features of one side only are covered by other tests.
const SOURCES: &[&str] = &[
    "1 + 2 * 3 - 4 / 2 % 3",
    "-7 / 2",
    "-7 % 3",
    "1.5 / 0.5",
    "1 == 1.0",
    "1 < 1.5",
    "'a' < 'b'",
    "!true",
    "[1, 2] == [1.0, 2.0]",
    "{'a': [1]} == {'a': [1.0]}",
    "1 + 1.0",
    "1 / 0 == 1 || true",
    "1 / 0 == 1 && true",
    "null == null",
    "null < 1",
    "object.spec.replicas > 2 && object.metadata.labels['region'] == 'eu'",
    "object.spec.containers.all(c, has(c.resources) && has(c.resources.limits) && c.image.startsWith('registry.'))",
    "object.spec.containers.filter(c, has(c.env)).map(c, {'name': c.name, 'db': c.env.filter(e, e.name.startsWith('DB_')).map(e, e.name + '=' + e.value)})",
    "object.spec.containers.map(c, c.name)",
    "object.spec.numbers.map(n, n > 1, n * n)",
    "object.spec.numbers.exists_one(n, n == 2)",
    "object.spec.containers[2]",
    "object.spec.nothing.x",
    "has(object.spec.nothing)",
    "has(object.spec.x)",
    "has(object.spec.x.y)",
    "'a' in object.spec.zeta",
    "3 in object.spec.numbers",
    "object.?spec.?replicas.orValue(0)",
    "object.?spec.replicas.orValue(0)",
    "object.?x.y.orValue('z')",
    "object.spec[?'x'].hasValue()",
    "[?object.?x, ?object.spec.?replicas]",
    "{?'a': object.?x, ?'b': object.spec.?replicas}",
    "optional.of(1).optMap(x, x + 1).value()",
    "optional.none().optMap(x, x + 1).orValue(5)",
    "optional.of({'a': 1}).optFlatMap(x, x.?a).value()",
    "optional.none().or(optional.of(7)).value()",
    "optional.ofNonZeroValue(0).hasValue()",
    "cluster.?region.orValue('x')",
    "cluster.?zone.orValue('x')",
    "has(cluster.zone)",
    "'hello'.charAt(1) + 'hello'.substring(2) + 'hello'.substring(1, 3)",
    "'hello mellow'.indexOf('ello', 2) * 100 + 'hello mellow'.lastIndexOf('ello')",
    "'hello mellow'.lastIndexOf('ello', 6)",
    "'TacoCat'.lowerAscii() + 'TacoCat'.upperAscii()",
    "'aXbXc'.split('X') + 'aXbXc'.split('X', 2)",
    "'aXbXc'.replace('X', '--') + 'aXbXc'.replace('X', '', 1)",
    "['a', 'b'].join('-') + ['a'].join()",
    "' a '.trim() + 'abc'.reverse()",
    "[3, 1, 2].sort()",
    "[1, 2, 1].distinct()",
    "[1, 2, 3].slice(1, 2)",
    "[1, 2, 3].reverse()",
    "lists.range(4)",
    "size('äö') + size([1]) + size({'a': 1})",
    "int('12') + int(3.7) + int(-3.7)",
    "int('x')",
    "double(3) + double('1.5')",
    "string(3) + string(true) + string(1.5)",
    "type(1) == int && type('a') == string",
    "'%s %d %.2f %x'.format(['a', 1, 1.5, 255])",
    "'%s'.format([{'b': [1, 2.5], 'a': null}])",
    "binding.clusters.map(c, c.replicas)[1] + binding.replicas",
    "true ? 1 : 2",
    "'x' ? 1 : 2",
    "[1, 'a', null, true, 1.5]",
    "-(-5)",
    "--5",
    "!!true",
    "'\\u00e4\\x41'",
];

const OPERATORS: &[&str] = &["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "in"];

/// Random sources, most of which compile.
fn source() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("0".to_owned()),
        Just("1".to_owned()),
        Just("2.5".to_owned()),
        Just("-3".to_owned()),
        Just("'a'".to_owned()),
        Just("'ab'".to_owned()),
        Just("''".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        Just("null".to_owned()),
        Just("replicas".to_owned()),
        Just("cluster.name".to_owned()),
        Just("cluster.labels".to_owned()),
        Just("object.spec.numbers".to_owned()),
        Just("object.spec.containers".to_owned()),
        Just("object.spec.zeta".to_owned()),
        Just("object.spec.ratio".to_owned()),
        Just("object.spec.nothing".to_owned()),
        Just("object.spec.missing".to_owned()),
        Just("object.?spec.?missing".to_owned()),
        Just("[]".to_owned()),
        Just("[1, 2, 3]".to_owned()),
        Just("x".to_owned()),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let one = inner.clone();
        let two = (inner.clone(), inner.clone());
        let three = (inner.clone(), inner.clone(), inner);
        prop_oneof![
            (two.clone(), proptest::sample::select(OPERATORS))
                .prop_map(|((a, b), o)| format!("({a} {o} {b})")),
            three.prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            (two.clone(), proptest::sample::select(&["all", "exists", "exists_one", "filter", "map"][..]))
                .prop_map(|((a, b), f)| format!("{a}.{f}(x, {b})")),
            (
                two.clone(),
                proptest::sample::select(
                    &[
                        "indexOf",
                        "split",
                        "contains",
                        "startsWith",
                        "lastIndexOf",
                        "orValue",
                        "charAt",
                        "substring",
                        "join"
                    ][..]
                )
            )
                .prop_map(|((a, b), f)| format!("{a}.{f}({b})")),
            (
                one.clone(),
                proptest::sample::select(
                    &["size", "int", "double", "string", "dyn", "optional.of", "bool"][..]
                )
            )
                .prop_map(|(a, f)| format!("{f}({a})")),
            (
                one.clone(),
                proptest::sample::select(
                    &[
                        "trim",
                        "sort",
                        "distinct",
                        "reverse",
                        "hasValue",
                        "value",
                        "lowerAscii",
                        "flatten",
                        "join"
                    ][..]
                )
            )
                .prop_map(|(a, f)| format!("{a}.{f}()")),
            (one.clone(), proptest::sample::select(&["a", "b", "name", "missing"][..]))
                .prop_map(|(a, m)| format!("{a}.{m}")),
            (one.clone(), proptest::sample::select(&["a", "name"][..]))
                .prop_map(|(a, m)| format!("{a}.?{m}")),
            (one.clone(), proptest::sample::select(&["a", "name"][..]))
                .prop_map(|(a, m)| format!("has({a}.{m})")),
            two.clone().prop_map(|(a, b)| format!("{a}[{b}]")),
            two.clone().prop_map(|(a, b)| format!("(type({a}) == type({b}))")),
            two.clone().prop_map(|(a, b)| format!("{a}[?{b}]")),
            two.clone().prop_map(|(a, b)| format!("[{a}, {b}]")),
            two.prop_map(|(a, b)| format!("{{'a': {a}, 'b': {b}}}")),
            one.clone().prop_map(|a| format!("!{a}")),
            one.prop_map(|a| format!("[1, 2].map(x, {a})")),
        ]
    })
}

/// Random tokens.
fn noise() -> impl Strategy<Value = String> {
    let words = [
        "object", ".", "spec", "(", ")", "[", "]", "{", "}", ",", ":", "?", "'a'", "\"", "'", "1", "2.5",
        "1u", "0x", "&&", "||", "!", "-", "+", "in", "x", "map", "all", "has", ".?", "[?", "`", "r'", "'''",
        "//", "\n", "ä", "\\", "e", "null", "true", "$", "cluster", "matches", "@",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..40)
        .prop_map(|words| words.concat())
}

fn agree(source: &str, ours: &Result<Plain, String>, theirs: &Judge) -> bool {
    match (ours, theirs) {
        (Ok(ours), Judge::Gives(theirs)) => ours == theirs,
        (Ok(_), Judge::Fails) => only_ours(source),
        (Err(problem), Judge::Gives(_)) => problem.starts_with("refused") || only_theirs(problem),
        (Err(_), Judge::Fails) | (_, Judge::Outside) => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(1500)))]

    #[test]
    fn random_expressions_have_one_answer_and_it_is_that_of_the_crate(source in source()) {
        let (env, ours) = (env(), ask_us(&source));
        let theirs = ask_them(&env, &source);
        // The crate iterates maps in random order, so try until the order is the same as ours.
        let agreed = agree(&source, &ours, &theirs) || (0..500).any(|_| agree(&source, &ours, &ask_them(&env, &source)));
        prop_assert!(agreed, "{}\n  ours: {:?}\ntheirs: {:?}", source, ours, theirs);
    }

    #[test]
    fn noise_is_refused_or_has_one_answer(source in noise()) {
        prop_assert_eq!(Expression::compile(&source, &scope()).err(), Expression::compile(&source, &scope()).err());
        let template = Template::compile(&format!("a${{{source}}}"), &scope());
        if let Ok(expression) = Expression::compile(&source, &scope()) {
            let once = expression.evaluate(&Known::default(), &mut Budget::default());
            let twice = expression.evaluate(&Known::default(), &mut Budget::default());
            prop_assert_eq!(once, twice);
        } else if let Ok(template) = template {
            let _ = template.evaluate(&Known::default(), &mut Budget::default());
        }
    }
}

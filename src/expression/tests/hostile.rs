//! Malicious sources and objects.

use std::thread;

use super::*;

/// The default stack size of Rust threads.
const STACK: usize = 2 * 1024 * 1024;

fn on_a_small_stack<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> T {
    thread::Builder::new().stack_size(STACK).spawn(body).unwrap().join().unwrap()
}

/// The outcome for a source (refused, limit, error or value), and how many steps are left.
fn fate(source: &str) -> (&'static str, u64) {
    let mut budget = Budget::default();
    let fate = match Expression::compile(source, &scope()) {
        Err(_) => "refused",
        Ok(expression) => match expression.evaluate(&Known::default(), &mut budget) {
            Err(error) if error.is_limit() => "limit",
            Err(_) => "failed",
            Ok(_) => "value",
        },
    };
    (fate, budget.left())
}

#[test]
fn chains_and_nests_of_any_length_are_refused_or_evaluated() {
    on_a_small_stack(|| {
        for count in [10, 49, 50, 90, 95, 99, 100, 101, 500, 511, 512, 1000, 1300, 2000, 4000, 100_000] {
            for (open, middle, close) in [
                ("(", "1", ")"),
                ("[", "1", "]"),
                ("{'a':", "1", "}"),
                ("!(", "true", ")"),
                ("-(", "1", ")"),
                ("true?(", "1", "):1"),
                ("size(", "''", ")"),
                ("[1].map(x,", "1", ")"),
                ("1+(", "1", ")"),
                ("", "1", "+1"),
                ("", "1", "==1"),
                ("", "1", "<1"),
                ("", "object", ".a"),
                ("", "object", "[0]"),
                ("", "object", ".?a"),
                ("", "'a'", ".trim()"),
                ("", "[1]", ".map(x,x)"),
                ("", "true", "&&true"),
                ("", "true", "||false"),
                ("", "true", "?1:2"),
                ("", "1", " in [1]"),
                ("!", "true", ""),
                ("-", "1", ""),
                ("(", "", ""),
                ("[", "", ""),
                ("{", "", ""),
                ("f(", "", ""),
                ("'", "", ""),
                ("\u{e4}", "", ""),
                ("${", "", ""),
                ("1in", "1", ""),
                ("`", "", ""),
            ] {
                let source = [&open.repeat(count), middle, &close.repeat(count)].concat();
                fate(&source);
                let _ = Template::compile(&format!("${{{source}}}"), &scope());
            }
        }
    });
}

/// Long sources in which the parser may find other tokens than `extent` counts.
#[test]
fn long_sources_are_refused_or_compiled_within_the_stack() {
    on_a_small_stack(|| {
        for count in [100, 500, 1020, 1024, 2000, 4000, 8000, 16_000] {
            for (open, middle, close) in [
                ("['\\q[',1+", "1", "]"),
                ("['\n[',1+", "1", "]"),
                ("['a,[',1+", "1", "]"),
                ("[1,1+", "1", "]"),
                ("{'a':1,'b':", "1", "}"),
                ("f(1,", "1", ")"),
                ("[1,(", "1", ")]"),
                ("[1,", "1", "]+[2]"),
                ("", "1", ",1+(1)"),
                ("[", "1", "],[1"),
                ("[1,\"\"\"", "1", "]"),
                ("", "[1]", "+[1,2]"),
                ("", "object", "[?1]"),
                ("", "'a'", ".f(1,2)"),
                ("", "true", "?[1,2]:[1]"),
                ("1r'\\',", "1", ""),
                ("[`,`,1", "1", "]"),
                ("[//,\n", "1", "]"),
            ] {
                for source in [
                    [&open.repeat(count), middle, &close.repeat(count)].concat(),
                    format!("[{}]", vec![[open, middle, close].concat(); count].join(",")),
                ] {
                    fate(&source);
                }
            }
        }
    });
}

#[test]
fn a_table_of_many_clusters_compiles() {
    on_a_small_stack(|| {
        let entry = |number: usize| {
            format!("\"edge-{number:03}\": \"https://db.edge-{number:03}.example.com:5432/s?a=b\"")
        };
        let table = |count: usize| {
            let entries: Vec<String> = (0..count).map(entry).collect();
            format!("{{{}}}[\"edge-007\"]", entries.join(", "))
        };
        for count in [60, 500, 1000] {
            let value = Expression::compile(&table(count), &scope()).unwrap();
            let value = value.evaluate(&Known::default(), &mut Budget::default()).unwrap();
            assert_eq!(value.to_string(), "\"https://db.edge-007.example.com:5432/s?a=b\"");
        }
        let numbers = |count: usize| format!("{:?}.size()", vec![1; count]).replace(' ', "");
        assert!(Expression::compile(&numbers(4000), &scope()).is_ok());
        for (source, words) in [
            (
                table(2000),
                "at most 65536 bytes; split it with `variables`, or give a table of clusters as `values`",
            ),
            (
                numbers(5000),
                "at most 8192 words and signs, this has 10005; split it with `variables`, or give",
            ),
            (
                format!("1{}", "+1".repeat(600)),
                "at most 1024 words and signs, with those around it; split it",
            ),
        ] {
            let refusal = Expression::compile(&source, &scope()).unwrap_err();
            assert!(refusal.problem().contains(words), "{refusal}");
        }
    });
}

#[test]
fn what_multiplies_meets_a_limit() {
    let chain = |start: &str, link: &str, count: usize| format!("{start}{}", link.repeat(count));
    let nested = |count: usize| {
        (0..count).fold("1".to_owned(), |inner, level| format!("lists.range(10).map(x{level}, {inner})"))
    };
    on_a_small_stack(move || {
        for source in [
            nested(7),
            nested(20),
            "lists.range(10000).all(x, lists.range(10000).all(y, true))".to_owned(),
            "lists.range(10000).all(x, lists.range(10000).all(y, true)) || true".to_owned(),
            "true || lists.range(10000).exists(x, lists.range(10000).all(y, true) && false)".replace("true ||", "false ||"),
            chain("['a']", ".map(x,x+x)", 40),
            chain("'a'", ".replace('a','aaaaaaaaaaaaaaaa')", 8),
            chain("[[1]]", ".map(x,x+x)", 26),
            "lists.range(10000).distinct()".to_owned(),
            "lists.range(10000).map(x, lists.range(10000))".to_owned(),
            "lists.range(10001)".to_owned(),
            "lists.range(9223372036854775807)".to_owned(),
            "lists.range(10000).map(x, object)".to_owned(),
            "lists.range(1000).map(x, lists.range(1000).map(y, object.spec))".to_owned(),
            "lists.range(5000).map(x, string(x)).join('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')".to_owned(),
            "lists.range(9000).map(x, lists.range(9000) == lists.range(9000))".to_owned(),
            "lists.range(9000).all(x, object.spec == object.spec)".to_owned() + &" || object.spec == object.spec".repeat(40),
            chain("optional.of('aa')", ".optMap(x,x+x)", 40),
            chain("'%s%s%s%s%s%s%s%s'", ".format(['%s%s%s%s%s%s%s%s','%s%s%s%s%s%s%s%s'])", 3),
        ] {
            let (fate, _) = fate(&source);
            assert!(["limit", "refused", "failed"].contains(&fate) || source.contains("|| object"), "{source}: {fate}");
        }
    });
    // `||` does not hide a limit.
    assert_eq!(fate("lists.range(10000).all(x, lists.range(10000).all(y, true)) || true").0, "limit");
    assert_eq!(fate("true || lists.range(10001) == []").0, "value");
}

#[test]
fn patterns_are_small_and_paid_for_by_the_length_of_the_text() {
    for pattern in ["(a*)*b", "(a|aa)+$", "a{1000}", "(a{30}){30}", "[a-z]{200}", "((((((a*)*)*)*)*)*)*"] {
        let source = format!(
            "lists.range(2000).map(x, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa').join().matches(r'{pattern}')"
        );
        let (fate, _) = fate(&source);
        assert!(["limit", "refused", "value"].contains(&fate), "{source}: {fate}");
    }
    let nested = format!("'a'.matches('{}a{}')", "(".repeat(1000), ")".repeat(1000));
    assert_eq!(fate(&nested).0, "refused");
}

#[test]
fn a_budget_is_shared_by_all_that_is_evaluated_on_it() {
    let expression = Expression::compile("lists.range(100).map(x, x + 1)", &scope()).unwrap();
    let mut budget = Budget::new(2500);
    let outcomes: Vec<bool> =
        (0..8).map(|_| expression.evaluate(&Known::default(), &mut budget).is_ok()).collect();
    let fine = outcomes.iter().filter(|fine| **fine).count();
    assert!((1..8).contains(&fine), "{outcomes:?}");
    assert!(outcomes.is_sorted_by(|a, b| a >= b), "{outcomes:?}");
    assert_eq!(budget.left(), 0);
}

/// Two separate copies of a value, as `object` and as `original`.
struct Twins(Value<'static>, Value<'static>);

impl Twins {
    fn new(text: &str) -> Self {
        let copy = || Value::parse(text.as_bytes()).unwrap().into_owned();
        Self(copy(), copy())
    }
}

impl Bindings<'static> for Twins {
    fn look_up(&self, variable: &Variable) -> Result<Cow<'_, Value<'static>>, Missing> {
        Ok(Cow::Borrowed(if *variable == Variable::Original { &self.1 } else { &self.0 }))
    }
}

#[test]
fn the_deepest_object_is_compared_and_given_but_not_made_deeper() {
    on_a_small_stack(|| {
        let text = format!("{}{}", "[".repeat(512), "]".repeat(512));
        let deep = Twins::new(&text);
        let evaluate = |source: &str| {
            Expression::compile(source, &scope()).unwrap().evaluate(&deep, &mut Budget::default())
        };
        assert_eq!(evaluate("object").unwrap().to_string(), text);
        assert_eq!(evaluate("[object] == [original] && object == original").unwrap().to_string(), "true");
        assert_eq!(evaluate("[[object[0]]][0]").unwrap().to_string(), text);
        assert!(evaluate("[object]").unwrap_err().is_limit());
        assert!(evaluate("{'a': object}").unwrap_err().is_limit());
        assert!(evaluate("'%s'.format([object])").is_ok());
        assert!(evaluate("[object, original].distinct().size() == 1").is_ok());
        // In the innermost expression of the deepest nesting that is allowed.
        for (open, close) in [
            ("[1].all(x,", ")"),
            ("[1].exists(x,", ")"),
            ("true && [true].all(x, x &&", ")"),
            ("true ? (", "): false"),
        ] {
            let deepest = (1..MAX_DEPTH).rev().find_map(|count| {
                let inner = "[object] == [original] && '%s'.format([[object]]) != '' && [[object]].distinct().size() == 1";
                let source = [&open.repeat(count), inner, &close.repeat(count)].concat();
                Expression::compile(&source, &scope()).ok()
            });
            assert_eq!(deepest.unwrap().evaluate(&deep, &mut Budget::default()).unwrap().to_string(), "true");
        }
    });
}

#[test]
fn values_are_not_nested_deeper_than_the_stack_has_room_for() {
    on_a_small_stack(|| {
        let wrapped = |links: usize, brackets: usize| {
            let link = format!(".map(x, {}x{})", "[".repeat(brackets), "]".repeat(brackets));
            format!("[object]{}", link.repeat(links))
        };
        for (links, brackets) in [(90, 0), (45, 1), (45, 18), (1, 90), (20, 4), (20, 40), (90, 1)] {
            let value = wrapped(links, brackets);
            for source in [
                format!("{value} == {value}"),
                format!("'%s'.format([{value}])"),
                value.clone(),
                format!("[{value}].distinct()"),
            ] {
                fate(&source);
            }
        }
        assert_eq!(fate(&wrapped(20, 4)).0, "value");
        assert_eq!(fate(&wrapped(20, 5)).0, "refused");
        let optionals =
            |count: usize| format!("optional.of(1){}", ".optMap(x, optional.of(x))".repeat(count));
        assert_eq!(fate(&format!("{} == optional.none()", optionals(40))).0, "value");
    });
}

#[test]
fn a_large_object_is_not_gone_through_more_often_than_is_paid_for() {
    let members: Vec<String> =
        (0..20_000).map(|number| format!("\"k{number}\":\"{}\"", "v".repeat(40))).collect();
    let text = format!("{{\"m\":{{{}}},\"s\":\"{}\"}}", members.join(","), "x".repeat(400_000));
    let large = Twins::new(&text);
    let evaluate = |source: &str| {
        let mut budget = Budget::default();
        let given = Expression::compile(source, &scope()).unwrap().evaluate(&large, &mut budget);
        (
            given.map(|value| value.to_string().len()).map_err(|error| error.is_limit()),
            Budget::STEPS - budget.left(),
        )
    };
    let (given, steps) = evaluate("object");
    assert!(given.is_ok() && steps < 10, "{steps}");
    assert_eq!(evaluate("lists.range(10000).all(x, object.m.k19999 != '')").0, Err(true));
    assert_eq!(evaluate("lists.range(10000).all(x, object.s.contains('y') == false)").0, Err(true));
    assert_eq!(evaluate("object.m.map(k, k).size() > 0").0, Err(true));
    assert_eq!(evaluate("object.s + 'x'").0, Err(true));
    assert_eq!(evaluate("object.s.upperAscii()").0, Err(true));
    assert_eq!(evaluate("[object.m, object.m]").0, Err(true));
    assert_eq!(evaluate("object.m == original.m").0, Err(true));
}

#[test]
fn what_the_parser_will_not_go_into_is_told_in_words() {
    let deep = format!("{}true{}", "(".repeat(120), ")".repeat(120));
    let error = Expression::compile(&deep, &scope()).unwrap_err();
    assert_eq!(
        error.problem(),
        "it is nested deeper than the parser goes; make it flatter, or use `variables`"
    );
}

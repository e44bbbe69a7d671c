//! Tests of operators, loops and optionals.

use super::{all, answer, none};

#[test]
fn arithmetic_is_checked_and_never_mixes_kinds() {
    all(&[
        ("1 + 2 * 3", "7"),
        ("-7 / 2", "-3"),
        ("-7 % 2", "-1"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("object.spec.replicas + 1", "4"),
        ("1.5 + 1.5", "3"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("2.0 * 1e300", "2e300"),
        ("1e-7 + 0.0", "1e-7"),
        ("-(1.5)", "-1.5"),
        ("'a' + 'b'", "\"ab\""),
        ("[1] + [2, 'x']", "[1,2,\"x\"]"),
    ]);
    none(&[
        ("9223372036854775807 + 1", "beyond what an integer holds"),
        ("-9223372036854775808 - 1", "beyond what an integer holds"),
        ("-(-9223372036854775808)", "beyond what an integer holds"),
        ("-9223372036854775808 / -1", "beyond what an integer holds"),
        ("1 / 0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("1 + 1.0", "convert one with int() or double()"),
        ("'a' + 1", "`+` has no meaning between a string and an integer; convert with string()"),
        ("[1] + {'a': 2}", "between a list and a map"),
        ("1.0 / 0.0", "no number that JSON has"),
        ("-'a'", "`-` takes a number, not a string"),
        ("1e999", "refused"),
        ("9223372036854775808", "refused"),
    ]);
}

#[test]
fn numbers_of_a_document_are_integers_if_they_are_spelled_so_and_fit() {
    all(&[
        ("type(object.spec.replicas) == int", "true"),
        ("type(object.spec.ratio) == double", "true"),
        ("type(object.spec.big) == double", "true"),
        ("object.spec.ratio", "1.50"),
        ("object.spec.big", "18446744073709551615"),
        ("[object.spec.ratio, object.spec.big]", "[1.50,18446744073709551615]"),
        ("object.spec.ratio * 2.0", "3"),
    ]);
}

#[test]
fn equality_and_order_go_by_what_numbers_amount_to() {
    all(&[
        ("1 == 1.0", "true"),
        ("1 < 1.5", "true"),
        ("9007199254740993 == 9007199254740992.0", "false"),
        ("9223372036854775807 < 9223372036854775808.0", "true"),
        ("-9223372036854775808 == -9223372036854775808.0", "true"),
        ("-1 > -1.5", "true"),
        ("1 in [2, 1.0]", "true"),
        ("'a' in {'a': 1}", "true"),
        ("1 in {'a': 1}", "false"),
        ("{'a': 1, 'b': [1, 2]} == {'b': [1.0, 2], 'a': 1}", "true"),
        ("{'b': 1, 'a': 2, 'c': {'d': [1, 2]}} == object.spec.zeta", "true"),
        ("object.spec.zeta != {'a': 2}", "true"),
        ("null == object.spec.nothing", "true"),
        ("null == 0", "false"),
        ("'1' == 1", "false"),
        ("0.0/0.0 == 0.0/0.0", "false"),
        ("0.0/0.0 < 1", "false"),
        ("'abc' < 'abd'", "true"),
        ("false < true", "true"),
    ]);
    none(&[
        ("'a' < 1", "`<` has no meaning between a string and an integer"),
        ("null < 1", "between null and an integer"),
        ("'a' in 'abc'", "`in` has no meaning"),
    ]);
}

#[test]
fn and_and_or_are_decided_by_either_side() {
    all(&[
        ("true || 1/0 == 1", "true"),
        ("1/0 == 1 || true", "true"),
        ("false && 1/0 == 1", "false"),
        ("1/0 == 1 && false", "false"),
        ("'x' == 'y' ? 1/0 : 2", "2"),
        ("original.spec.x == 1 || true", "true"),
    ]);
    none(&[
        ("false || 1/0 == 1", "division by zero"),
        ("1/0 == 1 && true", "division by zero"),
        ("1 && true", "a boolean is needed here, not an integer"),
        ("null ? 1 : 2", "a boolean is needed here, not null"),
        ("!'a'", "a boolean is needed here, not a string"),
    ]);
}

#[test]
fn members_are_there_or_it_is_an_error() {
    all(&[
        ("object.metadata.labels['app.kubernetes.io/name']", "\"shop\""),
        ("object.metadata.labels.`app.kubernetes.io/name`", "\"shop\""),
        ("object.spec.containers[1].name", "\"proxy\""),
        ("object.spec.numbers[1.0]", "1"),
        ("has(object.spec.nothing)", "true"),
        ("has(object.spec.missing)", "false"),
        ("has(object.spec.containers[0].env)", "true"),
        ("'tier' in object.metadata.labels", "true"),
    ]);
    none(&[
        ("object.spec.missing", "the map has no member \"missing\""),
        ("object.spec.missing.deeper", "the map has no member \"missing\""),
        ("has(object.spec.missing.deeper)", "the map has no member \"missing\""),
        ("object.spec.nothing.foo", "\"foo\" is read from null, which has no members"),
        ("object.spec.numbers[3]", "outside of the list"),
        ("object.spec.numbers[-1]", "outside of the list"),
        ("object.spec.numbers['a']", "\"a\" is read from a list"),
        ("object.metadata.labels[object.metadata.name]", "no member of this name"),
        ("object.spec.numbers[object.spec]", "a list can't be indexed with a map"),
    ]);
}

#[test]
fn loops_go_in_the_order_of_the_document() {
    all(&[
        ("object.spec.zeta.map(k, k)", "[\"b\",\"a\",\"c\"]"),
        ("object.spec.containers.map(c, c.name)", "[\"app\",\"proxy\"]"),
        ("object.spec.numbers.filter(n, n > 1)", "[3,2]"),
        ("object.spec.numbers.map(n, n > 1, n * 2)", "[6,4]"),
        ("object.spec.numbers.all(n, n > 0)", "true"),
        ("object.spec.numbers.exists(n, n == 2)", "true"),
        ("object.spec.numbers.exists_one(n, n > 2)", "true"),
        ("object.spec.numbers.existsOne(n, n > 1)", "false"),
        ("[1, 2].map(x, [3, 4].map(y, x * y))", "[[3,4],[6,8]]"),
        ("[1, 2].map(x, [x].map(x, x + 1))", "[[2],[3]]"),
        ("[1].map(object, object)", "[1]"),
        ("[1].map(replicas, replicas + .replicas)", "[3]"),
        ("[0, 2].exists(x, 4 / x == 2)", "true"),
        ("[2, 0].all(x, 4 / x == 3)", "false"),
        ("{'z': 1, 'a': 2, 'm': 3}.map(k, k)", "[\"z\",\"a\",\"m\"]"),
        ("{'z': 1, 'a': 2}", "{\"z\":1,\"a\":2}"),
        ("object.spec.empty.all(x, 1/0 == x)", "true"),
    ]);
    none(&[
        ("[0, 1].exists(x, 4 / x == 2)", "division by zero"),
        ("[1, 0].map(x, 1 / x)", "division by zero"),
        ("[1].filter(x, x)", "a boolean is needed here, not an integer"),
        ("replicas.map(x, x)", "a loop is over a list or a map, not an integer"),
        ("[1].map(a.b, 1)", "the first argument is the name of a variable"),
    ]);
}

#[test]
fn optionals_carry_what_may_be_missing() {
    all(&[
        ("object.?spec.?missing.orValue('x')", "\"x\""),
        // The examples of a table in docs/policies.md.
        ("{\"member1\": \"staging\", \"member2\": \"dev\"}[cluster.name]", "\"staging\""),
        ("{\"a\": \"staging\"}[?cluster.name].orValue(\"prod\")", "\"prod\""),
        ("object.?spec.replicas.orValue(0)", "3"),
        ("object.?missing.replicas.orValue(0)", "0"),
        ("object.metadata.labels[?'tier'].orValue('none')", "\"web\""),
        ("object.spec.numbers[?7].orValue(0)", "0"),
        ("object.?spec.hasValue()", "true"),
        ("has(object.?missing.x)", "false"),
        ("object.spec.nothing.?x.hasValue()", "false"),
        ("object.?missing.or(object.?spec.?replicas).value()", "3"),
        ("object.?spec.?replicas.optMap(r, r + 1).orValue(0)", "4"),
        ("object.?missing.optMap(r, r + 1).orValue(0)", "0"),
        ("object.?spec.optFlatMap(s, s.?replicas).orValue(0)", "3"),
        ("[?object.?missing, ?object.spec.?replicas, 7]", "[3,7]"),
        ("{?'a': object.?missing, 'b': 1}", "{\"b\":1}"),
        ("optional.of(3)", "3"),
        ("optional.ofNonZeroValue('').hasValue()", "false"),
        ("optional.of(1) == optional.of(1.0)", "true"),
        ("optional.of(1).orValue(1/0)", "1"),
        ("cluster.?zone.orValue('no')", "\"no\""),
        ("cluster.?region.orValue('no')", "\"eu\""),
        ("cluster[?'region'].hasValue()", "true"),
    ]);
    none(&[
        ("optional.none()", "the optional has no value; give it one with orValue()"),
        ("object.?missing.value()", "has no value"),
        ("object.?missing + 1", "between an optional and an integer"),
        ("replicas.orValue(1)", "an optional is needed here, not an integer"),
    ]);
}

#[test]
fn literals_are_what_they_look_like() {
    all(&[
        (r#""a\u00e4\n\"" "#, r#""aä\n\"""#),
        (r"r'a\n'", r#""a\\n""#),
        ("'''a'b'''", "\"a'b\""),
        ("0x1F", "31"),
        ("1 + // a comment\n 2", "3"),
        ("null", "null"),
        ("[]", "[]"),
        ("{}", "{}"),
    ]);
    none(&[
        ("{1: 'a'}", "the keys of maps are strings"),
        ("{object.spec.replicas: 'a'}", "the keys of maps are strings"),
        ("{'a': 1, 'a': 2}", "the map has this key twice"),
        ("1u", "there are no unsigned integers here"),
        ("b'a'", "there are no bytes here"),
        ("Foo{a: 1}", "there are no messages here"),
        ("type(1)", "a type is no value that JSON has"),
        ("[int]", "a type is no value that JSON has"),
    ]);
}

#[test]
fn the_same_input_gives_the_same_text_every_time() {
    let source =
        "{'k': object.spec.zeta.map(k, k + object.metadata.name), 'all': object.spec, 'l': cluster.labels}";
    let first = answer(source).unwrap();
    for _ in 0..50 {
        assert_eq!(answer(source).unwrap(), first);
    }
}

//! Tests of names, positions in errors, and lookups.

use super::*;

fn refusal(source: &str) -> CompileError {
    Expression::compile(source, &scope()).expect_err(source)
}

#[test]
fn a_refusal_names_the_place_and_what_was_probably_meant() {
    for (source, place, words) in [
        ("1 + replicsa", (1, 5), "unknown variable `replicsa`; did you mean `replicas`?"),
        ("zone", (1, 1), "unknown variable `zone`; did you mean `variables.zone`?"),
        ("nonsense", (1, 1), "unknown variable `nonsense`"),
        ("cluster.nmae", (1, 9), "unknown variable `cluster.nmae`; did you mean `name`?"),
        ("variables.zoen", (1, 11), "unknown variable `variables.zoen`; did you mean `zone`?"),
        ("variables['zoen']", (1, 12), "unknown variable `variables.zoen`"),
        ("has(allocations.frot)", (1, 17), "unknown variable `allocations.frot`; did you mean `fort`?"),
        ("cluster", (1, 1), "`cluster` is no value by itself, its members are: name, labels"),
        ("variables[object.x]", (1, 17), "a member of `variables` is named by a literal string"),
        ("object.spec.startWith('a')", (1, 13), "unknown function `startWith`; did you mean `startsWith`?"),
        ("sizee(object)", (1, 1), "unknown function `sizee`; did you mean `size`?"),
        ("object.x.flter(x, true)", (1, 10), "unknown function `flter`; did you mean `filter`?"),
        ("startsWith('a', 'b')", (1, 1), "the function `startsWith` is called as `x.startsWith(...)`"),
        ("'a'.int()", (1, 5), "the function `int` is called as `int(x)`"),
        ("'a'.replace('b')", (1, 5), "the function `replace` takes 2 to 3 arguments, not 1"),
        ("size()", (1, 1), "the function `size` takes 1 arguments, not 0"),
        ("uint(1)", (1, 1), "there are no unsigned integers"),
        ("timestamp('x')", (1, 1), "there are no times"),
        ("has(object['x'])", (1, 11), "`has` takes a member"),
        ("object.x.matches('(')", (1, 18), "the pattern is refused"),
        ("object.x.matches(object.y)", (1, 24), "a pattern is a literal string"),
        ("'äö' +\n  nope", (2, 3), "unknown variable `nope`"),
        ("'äö' + + ", (1, 8), "mismatched input '+'"),
        ("'äö'\n+ 'ö' +", (2, 8), "mismatched input '<EOF>'"),
        ("1 +", (1, 4), "mismatched input '<EOF>'"),
        ("(1", (1, 3), "missing ')'"),
        ("quantity('1Gi') * 2", (1, 17), "`*` is not for quantities; write `a.mul(2)`"),
        ("2 * quantity(object.x)", (1, 3), "`*` is not for quantities"),
        ("quantity(object.x) / 2", (1, 20), "write `quantity(a.asApproximateFloat() / 2.0)`"),
        ("quantity(object.x) + quantity(object.y)", (1, 20), "write `a.add(b)`"),
        ("quantity(object.x).sub(1) - 1", (1, 27), "write `a.sub(b)`"),
        ("quantity(object.x) >= quantity('1')", (1, 20), "write `a.compareTo(b) >= 0`"),
        ("  ", (1, 1), "the expression is empty"),
        ("'a", (1, 1), "token recognition error"),
    ] {
        let refusal = refusal(source);
        assert!(refusal.problem().contains(words), "{source}: {refusal}");
        assert_eq!((refusal.line(), refusal.column()), place, "{source}: {refusal}");
    }
    let refusal = refusal("'äö' + nope");
    assert_eq!(refusal.offset(), "'äö' + ".len());
    assert_eq!(refusal.to_string(), "line 1, column 8: unknown variable `nope`");
}

#[test]
fn a_scope_of_the_object_alone_knows_nothing_else() {
    let scope = Scope::object_only();
    assert!(Expression::compile("object.status.ready", &scope).is_ok());
    for source in ["replicas", "cluster.name", "original", "variables.zone"] {
        assert!(Expression::compile(source, &scope).is_err(), "{source}");
    }
}

#[test]
fn what_is_used_is_known_and_nothing_else_is_asked_for() {
    let uses = |source: &str| Expression::compile(source, &scope()).unwrap().uses().to_vec();
    assert_eq!(uses("replicas > 0"), [Variable::Replicas]);
    assert_eq!(uses("cluster.name + cluster['name']"), [Variable::ClusterName]);
    assert_eq!(
        uses(
            "has(allocations.fort) && variables.zone == original.x && binding.clusters.all(c, c.replicas > 0)"
        ),
        [
            Variable::Allocation("fort".to_owned()),
            Variable::Declared("zone".to_owned()),
            Variable::Original,
            Variable::BindingClusters
        ]
    );
    assert_eq!(uses("[1].map(object, object)"), []);

    let asked = |source: &str| {
        let known = Known::default();
        let expression = Expression::compile(source, &scope()).unwrap();
        let _ = expression.evaluate(&known, &mut Budget::default());
        known.asked.into_inner()
    };
    assert_eq!(asked("replicas > 0 && replicas < 9"), ["replicas"]);
    assert_eq!(asked("replicas > 0 || original.spec.x == 1"), ["replicas"]);
    assert_eq!(asked("replicas > 5 && original.spec.x == 1"), ["replicas"]);
}

#[test]
fn an_undefined_variable_is_named_and_absence_can_be_asked_for() {
    all(&[
        ("allocations.fort", "\"member2\""),
        ("variables.zone", "\"eu-1\""),
        ("binding.replicas + replicas", "7"),
        ("binding.clusters.filter(c, c.name == cluster.name)[0].replicas", "2"),
        ("has(cluster.region)", "true"),
        ("has(cluster.zone)", "false"),
        ("has(variables.table)", "false"),
        ("variables.?table.orValue('a')", "\"a\""),
        ("cluster.labels.zone", "\"eu-1\""),
        ("has(cluster.labels.missing)", "false"),
    ]);
    none(&[
        ("original.spec", "original is not defined: nobody has said"),
        ("cluster.zone", "cluster.zone is not defined"),
        ("cluster.provider", "cluster.provider is not defined: nobody has said"),
        ("has(cluster.provider)", "cluster.provider is not defined"),
        ("cluster.?provider.orValue('')", "cluster.provider is not defined"),
        ("variables.later", "variables.later is not defined"),
        ("variables.table + 'a'", "variables.table is not defined: there is no entry"),
    ]);
    let error = Expression::compile("1 == 2 ? 'a' : cluster.zone", &scope())
        .unwrap()
        .evaluate(&Known::default(), &mut Budget::default())
        .unwrap_err();
    assert_eq!(error.undefined(), Some("cluster.zone"));
    assert!(!error.is_limit());
    assert_eq!(
        error.to_string(),
        "failed to evaluate \"1 == 2 ? 'a' : cluster.zone\" at line 1, column 23: cluster.zone is not defined"
    );
}

#[test]
fn no_message_holds_what_is_in_the_object() {
    const SECRET: &str = "c3VwZXItc2VjcmV0";
    struct Secret;
    impl Bindings<'static> for Secret {
        fn look_up(&self, _: &Variable) -> Result<Cow<'_, Value<'static>>, Missing> {
            Ok(Cow::Owned(parse(
                r#"{"data": {"c3VwZXItc2VjcmV0": "c3VwZXItc2VjcmV0"}, "n": 1, "list": ["c3VwZXItc2VjcmV0"]}"#,
            )))
        }
    }
    let mut failed = 0;
    for operand in ["object", "object.data", "object.list", "object.list[0]", "object.data.map(k, k)[0]"] {
        for source in [
            "X + 1",
            "1 - X",
            "X * X",
            "X / 2",
            "X % 2",
            "-X",
            "!X",
            "X ? 1 : 2",
            "X < 1",
            "X && true",
            "X[X]",
            "object.data[X + 'x']",
            "object.list[X]",
            "int(X)",
            "double(X)",
            "bool(X)",
            "quantity(X)",
            "{X: 1, X: 2}",
            "X.sum()",
            "X.min()",
            "X.join('x')",
            "[X].join()",
            "X.nope",
            "[X].all(x, x)",
            "X.orValue(1)",
            "X.format([1])",
            "'%d'.format([X])",
            "X.charAt(100)",
            "X.value()",
            "X.sub(X)",
            "lists.range(X)",
            "X in X",
            "[X].sort()",
            "X.sort()",
            "X.matches('a')",
            "X.map(x, x.y)",
            "X.split(1)",
            "string(X)",
        ] {
            let source = source.replace('X', operand);
            let Ok(expression) = Expression::compile(&source, &scope()) else { panic!("{source}") };
            let Err(error) = expression.evaluate(&Secret, &mut Budget::default()) else { continue };
            failed += 1;
            assert!(!format!("{error} {error:?}").contains(SECRET), "{error}");
        }
    }
    assert!(failed > 120, "only {failed} of them failed");
}

#[test]
fn the_type_is_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Expression>();
    shared::<Template>();
    shared::<Condition>();
    shared::<Scope>();
}

//! Expressions and templates.

use std::borrow::Cow;

use reviser::expression::{Bindings, Budget, Expression, Missing, Scope, Template, Variable};
use reviser::json::Value;

use crate::fuzz;
use crate::mutate::mutated;
use crate::random::Random;

const SOURCES: &[&str] = &[
    "object.spec.containers.map(c, c.name + '-' + string(replicas)).join(',')",
    "object.spec.containers.filter(c, has(c.env)).all(c, c.env.exists(e, e.name == 'A')) ? 'yes' : 'no'",
    "cluster.labels[?'zone'].orValue('none').upperAscii().replace('A', 'b').split('N')",
    "binding.clusters.map(c, c.replicas).sum() + size(object.metadata.labels) * 2 - replicas % 3",
    "quantity(object.spec.cpu).add(quantity('100m')).isGreaterThan(quantity('1')) && allocations.fort != null",
    "{'a': [1, 2.5, null], 'b': object.spec, 'c': variables.a}",
    "object.spec.name.matches('^[a-z]+$') || object.spec.name.charAt(0).indexOf('x') >= 0",
];

const OBJECT: &str = r#"{"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"name":"web-é","cpu":"1500m","n":1.50,"containers":[{"name":"app","env":[{"name":"A"}]},{"name":"side"}]}}"#;

struct Known;

impl<'a> Bindings<'a> for Known {
    fn look_up(&self, variable: &Variable) -> Result<Cow<'_, Value<'a>>, Missing> {
        let text = match variable {
            Variable::Object | Variable::Original => OBJECT,
            Variable::Replicas | Variable::BindingReplicas => "4",
            Variable::ClusterLabels => r#"{"zone":"a","region":"eu"}"#,
            Variable::BindingClusters => r#"[{"name":"x","replicas":3},{"name":"z","replicas":1}]"#,
            Variable::ClusterZone => return Err(Missing::Absent),
            Variable::ClusterProvider => return Err(Missing::Unknown("not given".to_owned())),
            _ => r#""text""#,
        };
        Ok(Cow::Owned(Value::parse(text.as_bytes()).unwrap().into_owned()))
    }
}

fn make(random: &mut Random) -> String {
    let source = random.pick(SOURCES);
    let mixed =
        if random.once_in(3) { format!("{source} + {}", random.pick(SOURCES)) } else { source.to_owned() };
    mutated(&mixed, random)
}

fn run(input: &str) -> String {
    let scope = Scope::new().with_variable("a").with_allocation("fort");
    let mut budget = Budget::default();
    let expression = Expression::compile(input, &scope)
        .map_err(|error| error.to_string())
        .and_then(|expression| expression.evaluate(&Known, &mut budget).map_err(|error| error.to_string()));
    let template = Template::compile(&format!("a ${{{input}}} b"), &scope)
        .map_err(|error| error.to_string())
        .and_then(|template| template.evaluate(&Known, &mut budget).map_err(|error| error.to_string()));
    let describe =
        |outcome: Result<Value<'_>, String>| outcome.map_or_else(|error| error, |value| value.to_string());
    format!("{}\n{}\n{}", describe(expression), describe(template), budget.left())
}

#[test]
fn expressions_are_refused_or_evaluated() {
    fuzz(make, run);
}

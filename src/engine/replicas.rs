//! The operations about replicas. They work on the text of the object and build nothing of it but what they need.

use super::compiled::Interpretation;
use crate::domain::Failure;
use crate::json::{Kind, ParseError, Pointer, Raw, Value};
use crate::patch::{Operation, Patch};

/// Largest number of replicas: Karmada and Kubernetes keep them in 32 bits.
const MAX_REPLICAS: i64 = i32::MAX as i64;

/// The replicas that an object wants, and the pod template at the place where its kind has it, if any.
pub fn interpret_replica<'a>(
    object: &Raw<'a>,
    interpretation: &Interpretation,
) -> Result<(i64, Option<Value<'a>>), Failure> {
    let pointer = &interpretation.replicas;
    let replicas = match at(object, pointer)? {
        Place::Value(raw) => integer(&raw, pointer)?,
        Place::Missing(_) => {
            return Err(Failure::unprocessable(format!(
                "{pointer}: the number of replicas is missing; set it, or name its place in a ResourceInterpretation \
                 (replicaResource.replicas)"
            )));
        }
    };
    let pointer = &interpretation.pod_template;
    let template = match at(object, pointer)? {
        Place::Missing(_) => None,
        Place::Value(raw) => Some(raw.to_value().map_err(|error| misread(&error, pointer))?),
    };
    Ok((replicas, template))
}

/// The patch that gives an object this many replicas.
pub fn revise_replica<'a>(
    object: &Raw<'a>,
    replicas: i64,
    interpretation: &Interpretation,
) -> Result<Patch<'a>, Failure> {
    let pointer = &interpretation.revised_replicas;
    Ok(Patch(match at(object, pointer)? {
        Place::Value(raw) if integer(&raw, pointer)? == replicas => Vec::new(),
        Place::Value(_) => vec![Operation::Replace(pointer.clone(), replicas.into())],
        Place::Missing(Missing { depth, null }) => {
            // The maps from the missing place down are made in the same operation.
            let rest = &pointer.tokens()[depth..];
            let value = rest.iter().rev().fold(Value::from(replicas), |inner, token| {
                Value::Object([(token.clone(), inner)].into_iter().collect())
            });
            let place = pointer.prefix(depth);
            vec![if null { Operation::Replace(place, value) } else { Operation::Add(place, value) }]
        }
    }))
}

enum Place<'a> {
    Value(Raw<'a>),
    Missing(Missing),
}

/// How many tokens of the pointer lead to the first place without a value, and whether null is there.
struct Missing {
    depth: usize,
    null: bool,
}

/// Looks up `pointer`, through maps. Null counts as missing.
fn at<'a>(object: &Raw<'a>, pointer: &Pointer) -> Result<Place<'a>, Failure> {
    let mut place = *object;
    for (depth, token) in pointer.tokens().iter().enumerate() {
        let here = || pointer.prefix(depth);
        if place.kind() != Kind::Object {
            return Err(Failure::unprocessable(format!(
                "{}: must be a map, is {}; mend the object",
                here(),
                place.kind()
            )));
        }
        match place.get(token).map_err(|error| misread(&error, &here()))? {
            Some(next) if next.is_null() => {
                return Ok(Place::Missing(Missing { depth: depth + 1, null: true }));
            }
            Some(next) => place = next,
            None => return Ok(Place::Missing(Missing { depth: depth + 1, null: false })),
        }
    }
    Ok(Place::Value(place))
}

fn misread(error: &ParseError, pointer: &Pointer) -> Failure {
    Failure::unprocessable(format!("{pointer}: {error}; mend the object"))
}

fn integer(raw: &Raw<'_>, pointer: &Pointer) -> Result<i64, Failure> {
    let refused = |what: String| {
        Failure::unprocessable(format!(
            "{pointer}: must be an integer from 0 to {MAX_REPLICAS}, is {what}; mend the object"
        ))
    };
    let Some(number) = raw.as_number() else {
        return Err(refused(raw.kind().to_string()));
    };
    number
        .as_i64()
        .filter(|value| (0..=MAX_REPLICAS).contains(value))
        .ok_or_else(|| refused(number.as_str().chars().take(40).collect()))
}

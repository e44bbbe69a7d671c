//! The envelope is right, and what it holds is not.

use super::Gets::{Code, Patch};
use super::{NULLED, check, nested, revise, with};

#[test]
fn replicas_that_are_no_number_of_replicas_are_refused() {
    let asked = |operation: &str, replicas: &str| {
        with(operation, r#""replicas":2"#, &format!(r#""replicas":{replicas}"#))
    };
    let object =
        |replicas: &str| with("InterpretReplica", r#""replicas":4"#, &format!(r#""replicas":{replicas}"#));
    check(vec![
        (
            "none asked for",
            with("ReviseReplica", r#""replicas":2,"#, ""),
            Code(400, "request.replicas: is missing"),
        ),
        (
            "3.5 asked for",
            asked("ReviseReplica", "3.5"),
            Code(400, "request.replicas: must be an integer from 0 to 2147483647, is 3.5"),
        ),
        (
            "text asked for",
            asked("ReviseReplica", "\"3\""),
            Code(400, "request.replicas: must be an integer from 0 to 2147483647, is a string"),
        ),
        (
            "-1 asked for",
            asked("ReviseReplica", "-1"),
            Code(400, "request.replicas: must be an integer from 0 to 2147483647, is -1"),
        ),
        (
            "2^40 asked for",
            asked("ReviseReplica", "1099511627776"),
            Code(400, "request.replicas: must be an integer from 0 to 2147483647, is 1099511627776"),
        ),
        (
            "3.5 for a cluster",
            asked("ReviseObject", "3.5"),
            Code(400, "request.replicas: must be an integer from 0 to 2147483647, is 3.5"),
        ),
        (
            "none wanted",
            with("InterpretReplica", r#""replicas":4,"#, ""),
            Code(422, "Rollout/checkout: /spec/replicas: the number of replicas is missing"),
        ),
        (
            "3.5 wanted",
            object("3.5"),
            Code(422, "Rollout/checkout: /spec/replicas: must be an integer from 0 to 2147483647, is 3.5"),
        ),
        (
            "text wanted",
            object("\"3\""),
            Code(
                422,
                "Rollout/checkout: /spec/replicas: must be an integer from 0 to 2147483647, is a string",
            ),
        ),
        (
            "-1 wanted",
            object("-1"),
            Code(422, "Rollout/checkout: /spec/replicas: must be an integer from 0 to 2147483647, is -1"),
        ),
        (
            "2^40 wanted",
            object("1099511627776"),
            Code(
                422,
                "Rollout/checkout: /spec/replicas: must be an integer from 0 to 2147483647, is 1099511627776",
            ),
        ),
    ]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is one table")]
fn what_is_wrong_in_the_object_is_told_with_its_place() {
    let steps = r#"[{"type":"Fort","properties":{"pull":"true"}},{"type":"Batch"}]"#;
    let deep =
        |levels: usize| revise(r#""strategy":"#, &format!(r#""deep":{},"strategy":"#, nested(levels - 2)));
    check(vec![
        (
            "steps that are a map",
            revise(steps, "{}"),
            Code(
                422,
                "ClusterRevisionPolicy/rollout-fort rule \"canary-steps\" cluster \"cluster-z\": /spec/strategy/canary/steps: must be a list of steps, is a map",
            ),
        ),
        (
            "properties that are text",
            revise(r#"{"pull":"true"}"#, r#""none""#),
            Code(
                422,
                "ClusterRevisionPolicy/rollout-fort rule \"canary-steps\" cluster \"cluster-z\": /spec/strategy/canary/steps/0/properties: must be a map, is a string",
            ),
        ),
        (
            "a strategy that is a list",
            revise(&format!(r#"{{"canary":{{"steps":{steps}}}}}"#), "[]"),
            Code(
                422,
                "ClusterRevisionPolicy/rollout-fort rule \"canary-steps\" cluster \"cluster-z\": /spec/strategy: must be a map, is a list",
            ),
        ),
        (
            "no name",
            revise(r#""metadata":{"name":"checkout","namespace":"shop"}"#, r#""metadata":{"name":""}"#),
            Code(422, "Rollout/checkout cluster \"cluster-z\": /metadata/name: is missing"),
        ),
        (
            "a name that is a number",
            revise(r#""metadata":{"name":"checkout","#, r#""metadata":{"name":7,"#),
            Code(
                422,
                "Rollout/checkout cluster \"cluster-z\": /metadata/name: must be a string, is a number",
            ),
        ),
        (
            "two specs",
            revise(r#""spec":"#, r#""spec":{},"spec":"#),
            Code(
                422,
                "Rollout/checkout cluster \"cluster-z\": request.object: the member \"spec\" is there twice",
            ),
        ),
        (
            "two pulls",
            revise(r#"{"pull":"true"}"#, r#"{"pull":"true","pull":"false"}"#),
            Code(
                422,
                "Rollout/checkout cluster \"cluster-z\": request.object: the member \"pull\" is there twice",
            ),
        ),
        (
            "a pin that is a number",
            revise(r#""metadata":{"#, r#""metadata":{"annotations":{"reviser.io/fort-cluster":3},"#),
            Code(
                422,
                "ClusterRevisionPolicy/rollout-fort rule \"canary-steps\" cluster \"cluster-z\": /metadata/annotations/reviser.io~1fort-cluster: must be a string, is a number",
            ),
        ),
        ("512 levels", deep(512), Patch(NULLED)),
        (
            "513 levels",
            deep(513),
            Code(
                422,
                "Rollout/checkout cluster \"cluster-z\": request.object: nested 513 levels deep, more than the 512 that are read",
            ),
        ),
        (
            "100000 levels",
            revise(r#""object":"#, &format!(r#""object":{},"ignored":"#, nested(100_000))),
            Code(
                422,
                "Rollout/checkout cluster \"cluster-z\": request.object: nested 100000 levels deep, more than the 512 that are read",
            ),
        ),
        (
            "100000 levels in the original",
            revise(r#""object":"#, &format!(r#""originalObject":{},"object":"#, nested(100_000))),
            Code(
                422,
                "Rollout/checkout cluster \"cluster-z\": request.originalObject: nested 100000 levels deep, more than the 512 that are read",
            ),
        ),
        (
            "100000 levels that are not read",
            revise(r#""object":"#, &format!(r#""ignored":{},"object":"#, nested(100_000))),
            Patch(NULLED),
        ),
        (
            "100000 levels beside the request",
            revise(r#""request":"#, &format!(r#""ignored":{},"request":"#, nested(100_000))),
            Patch(NULLED),
        ),
    ]);
}

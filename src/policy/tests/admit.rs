//! Custom resources: an invalid one deactivates only itself, and requests for what it selects fail.

use super::{RULES, SELECTORS, document, policy};
use crate::domain::{Code, GroupVersionKind, Workload};
use crate::engine::PolicySet;
use crate::json::{Text, Value};
use crate::policy::{Admitted, DocumentReport, Seniority, admit};

/// A policy with this name that defines and uses these allocations.
fn one(name: &str, defines: &[&str], uses: &[&str]) -> Value<'static> {
    let defines: Vec<String> = defines.iter().map(|name| format!(r#"{{"name":"{name}"}}"#)).collect();
    let rule = |(at, name): (usize, &&str)| {
        format!(r#"{{"name":"r{at}","fort":{{"allocation":"{name}","steps":"/spec/steps","field":"/go"}}}}"#)
    };
    let rules: Vec<String> = uses.iter().enumerate().map(rule).collect();
    let rules = if rules.is_empty() {
        r#"{"name":"r","env":{"name":"A","value":"b"}}"#.to_owned()
    } else {
        rules.join(",")
    };
    policy(
        "ClusterRevisionPolicy",
        &format!(r#"{{"name":"{name}"}}"#),
        &format!(
            r#""resourceSelectors":[{{"apiVersion":"v1","kind":"Thing","name":"{name}"}}],"allocations":[{}],"rules":[{rules}]"#,
            defines.join(",")
        ),
    )
}

/// The same document with an error of its own.
fn wrong(document: &Value<'static>) -> Value<'static> {
    super::document(&document.to_string().replacen(r#""rules""#, r#""prioritty":1,"rules""#, 1))
}

/// A digit for each document, 1 if it is active, and all findings.
fn outcome(documents: &[Value<'static>]) -> (String, Vec<String>) {
    let reports = admit(documents).reports;
    let digits = reports.iter().map(|report| if report.is_active() { '1' } else { '0' }).collect();
    let told = reports.iter().flat_map(DocumentReport::errors);
    (digits, told.map(|finding| format!("{} {finding}", finding.document)).collect())
}

fn workload(kind: &str, namespace: &str, name: &str) -> Workload {
    Workload { gvk: GroupVersionKind::of("v1", kind), namespace: namespace.to_owned(), name: name.to_owned() }
}

/// The number of selected policies and transformations, or the error.
fn selected(set: &PolicySet, workload: &Workload, object: &str) -> Result<usize, String> {
    let object = Text::parse(object.as_bytes()).map_err(|error| error.to_string())?;
    let concerns = set.concerns(&workload.gvk, &object.root().into());
    let selection = set.selection(workload, &object.root().into());
    let selection = selection.map_err(|failure| {
        assert!(concerns, "whoever asks only about what concerns us would not hear of it: {failure}");
        assert_eq!(failure.code(), Code::Unavailable, "{failure}");
        failure.message()
    })?;
    Ok(selection.policies.len() + selection.transformations.len())
}

#[test]
fn a_faulty_document_puts_only_itself_out_of_use() {
    let Admitted { policies, reports } =
        admit(&[one("a", &["x"], &["x"]), wrong(&one("b", &["y"], &["y"])), one("c", &[], &["x"])]);
    let faults: Vec<Vec<String>> =
        reports.iter().map(|report| report.errors().map(ToString::to_string).collect()).collect();
    assert_eq!(
        faults,
        [vec![], vec!["spec.prioritty: unknown field; did you mean \"priority\"?".to_owned()], vec![]]
    );
    let names: Vec<String> = policies.policies.iter().map(|policy| policy.owner.to_string()).collect();
    assert_eq!(names, ["ClusterRevisionPolicy/a", "ClusterRevisionPolicy/c"]);
    assert_eq!(policies.allocations.keys().collect::<Vec<_>>(), ["x"]);
    let told = "ClusterRevisionPolicy/b: selects this workload, and is invalid: \
                spec.prioritty: unknown field; did you mean \"priority\"?; fix or delete it";
    let selected = |name: &str| selected(&policies, &workload("Thing", "n", name), "{}");
    assert_eq!(selected("a"), Ok(1));
    assert_eq!(selected("b"), Err(told.to_owned()));
    assert_eq!(selected("d"), Ok(0));
}

#[test]
fn what_is_active_together_is_what_files_would_be() {
    let documents = [one("b", &["y"], &["x"]), one("a", &["x"], &["y"])];
    let admitted = admit(&documents);
    let compiled = super::compiled(&documents);
    assert_eq!(format!("{:?}", admitted.policies), format!("{compiled:?}"));
    assert!(admitted.reports.iter().all(DocumentReport::is_active), "{:?}", admitted.reports);
}

#[test]
fn of_two_that_clash_the_later_one_is_faulty() {
    let (digits, told) = outcome(&[one("a", &["x"], &["x"]), one("b", &["x"], &["x"])]);
    assert_eq!(digits, "10");
    assert_eq!(
        told,
        [
            "1 spec.allocations[0].name: allocation \"x\" is already defined by ClusterRevisionPolicy/a; a name is defined once, over all policies"
        ]
    );
    // A document with its own error or with a conflict has no names.
    assert_eq!(outcome(&[wrong(&one("a", &["x"], &[])), one("b", &["x"], &["x"])]).0, "01");
    assert_eq!(
        outcome(&[one("a", &["x"], &[]), one("b", &["x", "y"], &[]), one("c", &["y"], &["y"])]).0,
        "101"
    );
    // A document that only lacks an allocation keeps its names. Otherwise `b` would define what `a` lacks,
    // and then conflict with it.
    assert_eq!(outcome(&[one("a", &["x"], &["y"]), one("b", &["x", "y"], &[])]).0, "00");
}

#[test]
fn a_policy_whose_allocation_nobody_defines_waits_for_somebody() {
    let user = one("a", &[], &["lead"]);
    let report = admit(std::slice::from_ref(&user)).reports.remove(0);
    assert_eq!(report.findings, []);
    assert_eq!(
        report.lacking[0].to_string(),
        "spec.rules[0].fort.allocation: no policy defines the allocation \"lead\"; define it under `spec.allocations`"
    );
    assert_eq!(outcome(&[user.clone(), one("b", &["lead"], &[])]).0, "11");
    let (digits, told) = outcome(&[user, wrong(&one("b", &["lead"], &[]))]);
    assert_eq!(digits, "00");
    assert_eq!(
        told[0],
        "0 spec.rules[0].fort.allocation: the allocation \"lead\" is defined by ClusterRevisionPolicy/b, which is invalid; fix that one"
    );
}

#[test]
fn expressions_rely_on_allocations_as_rules_do() {
    let reader = |expression: &str| {
        policy(
            "ClusterRevisionPolicy",
            r#"{"name":"p"}"#,
            &format!(
                r#"{SELECTORS},"variables":[{{"name":"v","expression":"allocations.lead"}}],
                "rules":[{{"name":"r","when":"allocations.lead == 'a'","env":{{"name":"A","value":"${{{expression}}}"}}}}]"#
            ),
        )
    };
    let (digits, told) = outcome(&[reader("allocations.lead + variables.v")]);
    let problem = "no policy defines the allocation \"lead\"; define it under `spec.allocations`";
    assert_eq!(digits, "0");
    assert_eq!(
        told,
        ["spec.variables[0].expression", "spec.rules[0].when", "spec.rules[0].env.value"]
            .map(|field| format!("0 {field}: {problem}"))
    );
    assert_eq!(outcome(&[reader("allocations.lead"), one("b", &["lead"], &["lead"])]).0, "11");
    // Other errors in the expression are errors of the document itself.
    let report = admit(&[reader("allocations.lead + variables.w")]).reports.remove(0);
    assert_eq!(report.findings.len(), 1, "{report:?}");
}

#[test]
fn what_relies_on_something_that_goes_goes_too_however_long_the_chain() {
    const LENGTH: usize = 2000;
    let name = |at: usize| format!("a{at}");
    let chain: Vec<Value<'static>> =
        (0..LENGTH).map(|at| one(&format!("p{at}"), &[&name(at)], &[&name(at + 1)])).collect();
    let ring: Vec<Value<'static>> =
        chain[..LENGTH - 1].iter().cloned().chain([one("last", &[&name(LENGTH - 1)], &[&name(0)])]).collect();
    assert!(admit(&ring).reports.iter().all(DocumentReport::is_active));
    let reports = admit(&chain).reports;
    assert!(reports.iter().all(|report| report.lacking.len() == 1 && report.findings.is_empty()));
    // Each report names the document that has to be fixed, and the last one the allocation that is missing.
    assert!(reports[0].lacking[0].problem.contains("defined by ClusterRevisionPolicy/p1, which is invalid"));
    assert!(reports[LENGTH - 1].lacking[0].problem.starts_with("no policy defines"));
}

#[test]
fn a_part_of_a_selector_that_cannot_be_read_selects_all() {
    let of = |kind: &str, metadata: &str, selectors: &str| {
        admit(&[policy(kind, metadata, &format!(r#""resourceSelectors":{selectors},{RULES}"#))]).policies
    };
    let cluster = |selectors: &str| of("ClusterRevisionPolicy", r#"{"name":"p"}"#, selectors);
    let is_answered = |set: &PolicySet, kind: &str, namespace: &str| {
        selected(set, &workload(kind, namespace, "t"), "{}").is_ok()
    };
    let set = cluster(
        r#"[{"apiVersion":"v1","kind":"A","labelSelector":{"matchExpressions":[{"key":"k","operator":"Within"}]}},
           7,{"kind":"B"},{"apiVersion":"v1","kind":"C","namespace":"n","name":[]}]"#,
    );
    for (kind, namespace, expected) in
        [("A", "n", false), ("B", "n", true), ("C", "n", false), ("C", "m", true), ("D", "n", true)]
    {
        assert_eq!(is_answered(&set, kind, namespace), expected, "{kind} {namespace}");
    }
    let set = of("RevisionPolicy", r#"{"name":"p","namespace":"n"}"#, r#"[{"apiVersion":"v1","kind":"A"}]"#);
    assert_eq!(
        [is_answered(&set, "A", "n"), is_answered(&set, "A", "m"), is_answered(&set, "A", "")],
        [false, true, true]
    );
    for unreadable in [r#""all""#, "{}", "null", "[]"] {
        let set = cluster(unreadable);
        assert!(set.invalid.is_empty() && is_answered(&set, "A", "n"), "{unreadable}");
    }
}

#[test]
fn documents_of_no_sense_at_all_are_faulty_and_select_nothing() {
    let documents = [
        "[]",
        "{}",
        r#"{"apiVersion":"reviser.io/v1alpha1","kind":"ClusterRevisionPolicies","metadata":{"name":"p"}}"#,
        r#"{"apiVersion":"reviser.io/v1alpha1","kind":"ClusterRevisionPolicy"}"#,
        r#"{"apiVersion":"reviser.io/v1alpha1","kind":"RevisionPolicy","metadata":{"name":"p"},"spec":{"resourceSelectors":[{"apiVersion":"v1","kind":"A"}]}}"#,
        r#"{"apiVersion":"reviser.io/v1alpha1","kind":"ResourceInterpretation","metadata":{"name":"p"},"spec":7}"#,
    ]
    .map(document);
    let Admitted { policies, reports } = admit(&documents);
    assert!(reports.iter().all(|report| !report.is_active()), "{reports:?}");
    assert_eq!(policies.invalid, []);
}

fn interpretation(name: &str, spec: &str) -> Value<'static> {
    policy(
        "ResourceInterpretation",
        &format!(r#"{{"name":"{name}"}}"#),
        &format!(r#""target":{{"apiVersion":"v1","kind":"Thing"}}{spec}"#),
    )
}

#[test]
fn a_kind_is_not_interpreted_by_default_because_its_interpretation_is_faulty() {
    let faulty = interpretation("i", r#","replicaResource":{"replicas":"size"}"#);
    let set = admit(&[faulty.clone(), one("a", &["x"], &["x"])]).policies;
    let thing = GroupVersionKind::of("v1", "Thing");
    let failure = set.interpretation(&thing).unwrap_err();
    assert_eq!(failure.code(), Code::Unavailable);
    assert!(
        failure.message().starts_with(
            "ResourceInterpretation/i: interprets this kind, and is invalid: spec.replicaResource.replicas: "
        ),
        "{failure}"
    );
    assert_eq!(set.pod_templates(&thing), Err(failure));
    assert!(set.interpretation(&GroupVersionKind::of("v1", "Other")).is_ok());
    // Only the interpretation is not known. The policies that select the object are.
    assert_eq!(selected(&set, &workload("Thing", "n", "a"), "{}"), Ok(1));
    // The older document is active.
    let set =
        admit(&[interpretation("j", r#","replicaResource":{"replicas":"/spec/size"}"#), faulty]).policies;
    assert_eq!(set.interpretation(&thing).unwrap().replicas.to_string(), "/spec/size");
    let clash = outcome(&[interpretation("j", ""), interpretation("k", "")]);
    let told = "1 spec.target: ResourceInterpretation/j is already for this kind";
    assert_eq!(clash, ("10".to_owned(), vec![told.to_owned()]));
}

#[test]
fn whoever_chooses_a_faulty_transformation_gets_no_answer_and_no_other_one_of_that_name() {
    let one = |kind: &str, namespace: &str, selector: &str| {
        document(&format!(
            r#"{{"apiVersion":"reviser.io/v1alpha1","kind":"{kind}","metadata":{{"name":"gpu"{namespace}}},
            "transformations":[{{"targetSelector":{selector},"patch":{{}}}}]}}"#
        ))
    };
    let (home, cluster) = ("TargetPodTransformation", "ClusterTargetPodTransformation");
    let pod = |name: &str| {
        format!(r#"{{"metadata":{{"annotations":{{"reviser.io/targetpodtransformation":"{name}"}}}}}}"#)
    };
    let chosen = |documents: &[Value<'static>], namespace: &str| {
        selected(&admit(documents).policies, &workload("Pod", namespace, "p"), &pod("gpu"))
    };
    let near = |selector: &str| one(home, r#","namespace":"shop""#, selector);
    let far = |selector: &str| one(cluster, "", selector);
    let told = |kind: &str| {
        Err(format!(
            "{kind}/gpu: is named by this workload, and is invalid: \
             transformations[0].targetSelector: must be a map, is a number; fix or delete it"
        ))
    };
    assert_eq!(chosen(&[near("7"), far("{}")], "shop"), told(home));
    assert_eq!(chosen(&[near("7"), far("{}")], "bank"), Ok(1));
    assert_eq!(chosen(&[near("{}"), far("7")], "shop"), Ok(1));
    assert_eq!(chosen(&[near("{}"), far("7")], "bank"), told(cluster));
    assert_eq!(chosen(&[far("7")], "shop"), told(cluster));
    let set = admit(&[far("7")]).policies;
    assert!(set.has_transformations() && set.transformations.is_empty());
    let other = Text::parse(br#"{"metadata":{"annotations":{"reviser.io/targetpodtransformation":"gpus"}}}"#)
        .unwrap();
    let failure = set.selection(&workload("Pod", "shop", "p"), &other.root().into()).unwrap_err();
    assert_eq!(failure.code(), Code::Unprocessable, "a name that nobody has is another matter");
}

#[test]
fn only_what_is_active_is_warned_of_and_what_the_others_use_counts_as_used() {
    let unused = one("a", &["x", "y"], &["x"]);
    let warnings = |documents: &[Value<'static>]| -> Vec<String> {
        let reports = admit(documents).reports;
        reports.iter().flat_map(|report| &report.warnings).map(ToString::to_string).collect()
    };
    assert_eq!(
        warnings(std::slice::from_ref(&unused)),
        ["spec.allocations[1].name: no rule uses the allocation \"y\"; remove it, or use it in a rule"]
    );
    assert_eq!(warnings(&[unused.clone(), wrong(&one("b", &[], &["y"]))]), [""; 0]);
    assert_eq!(warnings(&[wrong(&unused)]), [""; 0]);
}

#[test]
fn the_elder_one_is_senior_and_what_is_not_stored_yet_is_not() {
    let of = |kind: &str, namespace: &str, name: &str, created: &str| {
        Seniority::of(&document(&format!(
            r#"{{"kind":"{kind}","metadata":{{"name":"{name}","namespace":"{namespace}","creationTimestamp":{created}}}}}"#
        )))
    };
    let sorted = [
        of("Z", "z", "z", r#""2026-01-01T00:00:00Z""#),
        of("A", "z", "z", r#""2026-01-01T00:00:01Z""#),
        of("B", "a", "z", r#""2026-01-01T00:00:01Z""#),
        of("B", "b", "a", r#""2026-01-01T00:00:01Z""#),
        of("B", "b", "b", r#""2026-01-01T00:00:01Z""#),
        of("A", "a", "a", "null"),
    ];
    assert!(sorted.is_sorted(), "{sorted:?}");
    assert!(
        sorted[4].is_same_document(&of("B", "b", "b", "null")) && !sorted[3].is_same_document(&sorted[4])
    );
}

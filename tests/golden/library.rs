//! The first way: the library, in this process.

use std::sync::Arc;

use reviser::app;
use reviser::domain::{AllocationKey, Answer, Failure, Operation, Question};
use reviser::doors::interpreter;
use reviser::engine::PolicySet;
use reviser::service::Service;
use reviser::state::Ledger as _;
use reviser::state::memory::MemoryLedger;

use crate::case::Case;
use crate::line;

/// The outcome of a request.
pub(crate) struct Outcome {
    pub(crate) line: String,
    /// The arguments for `preview`, if it can show this request.
    pub(crate) preview: Option<Input>,
}

/// The same request for `preview`.
pub(crate) struct Input {
    /// The text of the object.
    pub(crate) object: String,
    pub(crate) cluster: String,
    /// `NAME=REPLICAS`, separated by commas.
    pub(crate) clusters: String,
    /// `NAME=CLUSTER` for each allocation in the ledger before the request.
    pub(crate) allocations: Vec<String>,
}

/// The outcomes of the requests of a case, in order.
pub(crate) fn outcomes(case: &Case) -> Vec<Outcome> {
    let paths: Vec<_> = case.policy().into_iter().collect();
    let policies =
        app::load(&paths).unwrap_or_else(|findings| panic!("{}: {findings:#?}", case.name)).policies;
    let ledger = Arc::new(MemoryLedger::default());
    let service = Service::new(policies.clone(), ledger.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let outcome = |body: &String| {
        let text =
            interpreter::parse(body.as_bytes()).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let decoded = interpreter::decode(&text).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let question = match decoded.content {
            Ok(question) => question,
            Err(failure) => return Outcome { line: refused(&failure), preview: None },
        };
        let preview = runtime.block_on(input(&question, &policies, &ledger));
        let answer = runtime.block_on(interpreter::answer(&service, &question, None)).result;
        Outcome { line: answer.as_ref().map_or_else(refused, answered), preview }
    };
    case.requests.iter().map(outcome).collect()
}

fn refused(failure: &Failure) -> String {
    line::refused(failure.code().status().into(), &failure.message())
}

fn answered(answer: &Answer<'_>) -> String {
    match answer {
        Answer::Revision(patch) => patch.to_text(),
        Answer::Replicas { replicas, requirements } => {
            let requirements = requirements.as_ref();
            let requirements = requirements.map(|value| serde_json::from_str(&value.to_string()).unwrap());
            line::replicas(*replicas, requirements)
        }
    }
}

/// `preview` shows only revisions with a schedule, and its template is the object itself.
async fn input(question: &Question<'_>, policies: &PolicySet, ledger: &MemoryLedger) -> Option<Input> {
    let Operation::ReviseObject(target) = &question.operation else { return None };
    let schedule = target.schedule.as_ref().filter(|schedule| schedule.lists(&target.cluster))?;
    let mut rules = policies.policies.iter().flat_map(|policy| &policy.rules);
    // This action prefers the template.
    if target.original.is_some() && rules.any(|rule| rule.action.reads_template()) {
        return None;
    }
    let clusters: Vec<String> =
        schedule.clusters().iter().map(|entry| format!("{}={}", entry.name, entry.replicas)).collect();
    let mut allocations = Vec::new();
    for name in policies.allocations.keys() {
        let key = AllocationKey::new(name, &question.workload);
        if let Some(cluster) = ledger.read(&key, None).await.unwrap() {
            allocations.push(format!("{name}={cluster}"));
        }
    }
    Some(Input {
        object: question.object.text().to_owned(),
        cluster: target.cluster.to_string(),
        clusters: clusters.join(","),
        allocations,
    })
}

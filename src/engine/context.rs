//! What rules ask while they are applied: expressions, allocations, the pod template.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::compiled::{Definition, Handover, NO_ENTRY, Policy};
use super::handover::{AllocationState, Settled};
use super::revise::{BINDING_ADVICE, Facts, NO_BINDING, Request, Stop};
use super::templated::Templated;
use super::{Draft, actions};
use crate::domain::{ClusterName, Failure, allocation_annotation};
use crate::expression::{Bindings, Budget, Condition, EvaluateError, Missing, Template, Variable};
use crate::json::{Pointer, Raw, Value};

/// What rules ask while they are applied, for one object and one cluster.
pub(super) struct Context<'r, 'f, 'a> {
    request: Request<'r, 'a>,
    facts: Facts<'f>,
    /// The allocations that have been asked for. The first answer counts: an allocation is in one place.
    pub(super) settled: BTreeMap<String, Settled>,
    /// What is left for the expressions of this request.
    budget: Budget,
    /// How many bytes expressions have given so far to be written.
    written: usize,
    /// The variables of the policy that is being applied.
    declared: &'r [(String, Definition)],
    /// The object as it was when that policy began, if it has variables.
    begin: Option<Draft<'a>>,
    /// Variables that have been evaluated.
    values: BTreeMap<String, Value<'a>>,
    /// The object that expressions saw last, and after how many changes.
    seen: Option<(usize, Value<'a>)>,
    /// What the rule that is being applied warns of.
    pub(super) warnings: Vec<String>,
    /// Whether an expression has read `original`.
    pub(super) reads_original: bool,
}

/// How many bytes the expressions of one request may give together to be written into the object.
const MAX_WRITTEN_BYTES: usize = 1 << 20;

/// Values of variables, looked up before an expression that uses them.
struct Prepared<'a>(Vec<(Variable, Result<Value<'a>, Missing>)>);

impl<'a> Bindings<'a> for Prepared<'a> {
    fn look_up(&self, variable: &Variable) -> Result<Cow<'_, Value<'a>>, Missing> {
        match self.0.iter().find(|(name, _)| name == variable) {
            Some((_, Ok(value))) => Ok(Cow::Borrowed(value)),
            Some((_, Err(missing))) => Err(missing.clone()),
            None => Err(Missing::Unknown("it was not prepared".to_owned())),
        }
    }
}

impl<'r, 'f, 'a> Context<'r, 'f, 'a> {
    pub(super) fn new(request: Request<'r, 'a>, facts: Facts<'f>) -> Self {
        Self {
            request,
            facts,
            settled: BTreeMap::new(),
            budget: Budget::default(),
            written: 0,
            declared: &[],
            begin: None,
            values: BTreeMap::new(),
            seen: None,
            warnings: Vec::new(),
            reads_original: false,
        }
    }

    /// From now on `policy` is applied, to `object` as it is.
    pub(super) fn begin(&mut self, policy: &'r Policy, object: &Draft<'a>) {
        self.declared = &policy.variables;
        self.begin = (!policy.variables.is_empty()).then(|| object.clone());
        self.values.clear();
    }

    /// The cluster that the object is revised for.
    pub(super) fn cluster_name(&self) -> &'r ClusterName {
        &self.request.target.cluster
    }

    /// The object has been put back to what it was.
    pub(super) fn forget(&mut self) {
        self.seen = None;
    }

    /// Whether `condition` holds for the object as it is.
    pub(super) fn holds(&mut self, condition: &Condition, object: &Draft<'a>) -> Result<bool, Stop> {
        let prepared = self.prepare(condition.uses(), object)?;
        condition.holds(&prepared, &mut self.budget).map_err(|error| self.refusal(&error, &prepared))
    }

    fn evaluate(&mut self, template: &Template, object: &Draft<'a>) -> Result<Value<'a>, Stop> {
        let prepared = self.prepare(template.uses(), object)?;
        let value = template.evaluate(&prepared, &mut self.budget);
        let value = value.map_err(|error| self.refusal(&error, &prepared))?;
        // A piece of the object costs nothing to give, and the object may be put into itself again and again.
        let left = MAX_WRITTEN_BYTES - self.written;
        self.written += value.size_up_to(left);
        if self.written > MAX_WRITTEN_BYTES {
            return Err(Stop::Refused(Failure::unprocessable(format!(
                "what the expressions give for this object is more than {MAX_WRITTEN_BYTES} bytes together; make them give less"
            ))));
        }
        Ok(value)
    }

    fn prepare(&mut self, uses: &[Variable], object: &Draft<'a>) -> Result<Prepared<'a>, Stop> {
        let values = uses.iter().map(|variable| Ok((variable.clone(), self.variable(variable, object)?)));
        values.collect::<Result<_, Stop>>().map(Prepared)
    }

    fn variable(
        &mut self,
        variable: &Variable,
        object: &Draft<'a>,
    ) -> Result<Result<Value<'a>, Missing>, Stop> {
        let target = self.request.target;
        let unknown = |problem: &str| Err(Missing::Unknown(problem.to_owned()));
        let known = |value: Value<'a>| Ok(value);
        Ok(match variable {
            Variable::Object => known(self.object(object)?),
            Variable::Original => {
                self.reads_original = true;
                match &target.original {
                    Some(original) => known(read(original)?),
                    None if self.request.is_unbound => {
                        unknown("the Work has no binding, and its template is not known")
                    }
                    None => unknown("the template is not known here"),
                }
            }
            Variable::Replicas => match target.replicas {
                Some(replicas) => known(replicas.into()),
                None if self.request.is_unbound => {
                    unknown("the Work has no binding, and the object does not say how many replicas it has")
                }
                None => unknown("nobody has said how many replicas the cluster gets"),
            },
            Variable::ClusterName => known(target.cluster.as_str().to_owned().into()),
            Variable::ClusterLabels
            | Variable::ClusterProvider
            | Variable::ClusterRegion
            | Variable::ClusterZone => self.cluster(variable),
            Variable::BindingReplicas | Variable::BindingClusters => match &target.schedule {
                None if self.request.is_unbound => unknown(NO_BINDING),
                None => unknown("the schedule of the workload is not known"),
                Some(schedule) if *variable == Variable::BindingReplicas => {
                    let replicas = schedule.clusters().iter().map(|entry| entry.replicas);
                    known(replicas.fold(0, i64::saturating_add).into())
                }
                Some(schedule) => known(Value::array(
                    schedule
                        .clusters()
                        .iter()
                        .map(|entry| {
                            let members = [
                                ("name", entry.name.as_str().to_owned().into()),
                                ("replicas", entry.replicas.into()),
                            ];
                            Value::Object(members.into_iter().collect())
                        })
                        .collect(),
                )),
            },
            Variable::Allocation(name) => known(match self.settle(name)? {
                Settled::In(choice, _) => choice.cluster.as_str().to_owned().into(),
                _ => Value::Null,
            }),
            Variable::Declared(name) => self.declared(name)?,
        })
    }

    /// What is known about the cluster.
    fn cluster(&self, variable: &Variable) -> Result<Value<'a>, Missing> {
        let Some(cluster) = self.facts.cluster else {
            let name = self.request.target.cluster.as_str();
            return Err(Missing::Unknown(format!(
                "nothing is known about the cluster {name:?}; give its Cluster document in --state"
            )));
        };
        let text = |text: Option<&String>| text.map(|text| text.clone().into()).ok_or(Missing::Absent);
        match variable {
            Variable::ClusterProvider => text(cluster.provider.as_ref()),
            Variable::ClusterRegion => text(cluster.region.as_ref()),
            Variable::ClusterZone => text(cluster.zones.first()),
            _ => {
                let labels = cluster.labels.iter().map(|(key, value)| (key.clone(), value.clone().into()));
                Ok(Value::Object(labels.collect()))
            }
        }
    }

    /// A variable of the policy. It sees the ones before it, and the object as it was when the policy began.
    fn declared(&mut self, name: &str) -> Result<Result<Value<'a>, Missing>, Stop> {
        if let Some(value) = self.values.get(name) {
            return Ok(Ok(value.clone()));
        }
        let declared = self.declared;
        let (Some((_, definition)), Some(begin)) =
            (declared.iter().find(|(declared, _)| declared == name), self.begin.clone())
        else {
            return Err(Stop::Refused(Failure::unprocessable(format!("variables.{name}: is not declared"))));
        };
        let expression = match definition {
            Definition::Expression(expression) => expression,
            Definition::Table(table) => {
                let cluster = self.cluster_name();
                let lacking = || {
                    Missing::Lacking(format!(
                        "its `values` {NO_ENTRY} {:?}; add one, or give a `default`",
                        cluster.as_str()
                    ))
                };
                return Ok(table.get(cluster).cloned().ok_or_else(lacking));
            }
        };
        let prepared = self.prepare(expression.uses(), &begin)?;
        let value =
            expression.evaluate(&prepared, &mut self.budget).map_err(|error| self.refusal(&error, &prepared));
        let value = value.map_err(|stop| {
            stop.within(|failure| {
                Failure::new(failure.code(), format!("variables.{name}: {}", failure.message()))
            })
        })?;
        self.values.insert(name.to_owned(), value.clone());
        Ok(Ok(value))
    }

    /// The object as it is.
    fn object(&mut self, object: &Draft<'a>) -> Result<Value<'a>, Stop> {
        match &self.seen {
            // Another draft, the one of the beginning, has fewer changes or is the same.
            Some((changes, value)) if *changes == object.changes() => Ok(value.clone()),
            _ => {
                let value = object.to_value()?;
                self.seen = Some((object.changes(), value.clone()));
                Ok(value)
            }
        }
    }

    /// What an expression that has no value makes of the request.
    fn refusal(&self, error: &EvaluateError, prepared: &Prepared<'_>) -> Stop {
        let message = error.to_string();
        let unknown = prepared.0.iter().find(|(variable, value)| {
            matches!(value, Err(Missing::Unknown(_)))
                && error.undefined() == Some(variable.to_string().as_str())
        });
        Stop::Refused(match unknown {
            None => Failure::unprocessable(message),
            // A cluster is known to others whether there is a binding or not.
            Some((variable, _)) if self.request.is_unbound && !variable.is_of_cluster() => {
                Failure::unscheduled(format!("{message}; {BINDING_ADVICE}"))
            }
            // What can still become known is no fault of the object or the rule.
            Some(_) => Failure::unavailable(message),
        })
    }

    /// Where the allocation is.
    pub(super) fn settle(&mut self, allocation: &str) -> Result<Settled, Stop> {
        if let Some(settled) = self.settled.get(allocation) {
            return Ok(settled.clone());
        }
        let settled = self.settle_now(allocation)?;
        self.settled.insert(allocation.to_owned(), settled.clone());
        Ok(settled)
    }

    fn settle_now(&self, allocation: &str) -> Result<Settled, Stop> {
        let target = self.request.target;
        let Some(schedule) = &target.schedule else {
            return Err(Stop::Refused(self.request.unscheduled(
                &format!("allocation {allocation:?}"),
                "give `request.targetClusters`, the whole schedule as a list of {name, replicas}, or the binding in --state",
            )));
        };
        let pinned = self.pinned(allocation)?;
        let defined = self.facts.allocations.get(allocation);
        let known = AllocationState {
            allocation,
            target: &target.cluster,
            schedule,
            pinned: pinned.as_ref(),
            entry: self.facts.entries.get(allocation).and_then(Option::as_ref),
            handover: defined.map_or(Handover::AfterRelease { timeout: None }, |defined| defined.handover),
            deliveries: self.facts.deliveries,
            preserves: self.facts.preserves,
            now: self.facts.now,
        };
        match known.settle() {
            Settled::Unread => Err(Stop::Unread),
            settled => Ok(settled),
        }
    }

    /// The cluster that the template pins `allocation` to.
    fn pinned(&self, allocation: &str) -> Result<Option<ClusterName>, Failure> {
        let key = allocation_annotation(allocation);
        let pointer = || Pointer::of(["metadata", "annotations", &key]);
        let refused = |problem: String| {
            Failure::unprocessable(format!(
                "{}: {problem}; name a cluster, or take the annotation away",
                pointer()
            ))
        };
        let (template, whose) = match &self.request.target.original {
            Some(original) => (original, "request.originalObject"),
            None => (&self.request.object, "request.object"),
        };
        let text = match template.at(&pointer()) {
            Ok(None) => return Ok(None),
            Ok(Some(found)) if found.is_null() => return Ok(None),
            Ok(Some(found)) => read_string(&found).map_err(refused)?,
            Err(error) => return Err(refused(format!("{error} in `{whose}`"))),
        };
        Ok(ClusterName::new(text))
    }
}

impl<'a> actions::Ask<'a> for Context<'_, '_, 'a> {
    type Error = Stop;

    fn hosts(&mut self, allocation: &str) -> Result<bool, Stop> {
        let settled = self.settle(allocation)?;
        Ok(matches!(settled, Settled::In(choice, _) if choice.cluster == self.request.target.cluster))
    }

    fn value(&mut self, templated: &Templated, object: &Draft<'a>) -> Result<Value<'a>, Stop> {
        templated.evaluate(&mut |template| self.evaluate(template, object))
    }

    fn request(&self) -> Request<'_, 'a> {
        self.request
    }

    fn pod_templates(&self) -> &[Pointer] {
        self.facts.pod_templates
    }

    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

fn read<'a>(raw: &Raw<'a>) -> Result<Value<'a>, Failure> {
    raw.to_value()
        .map_err(|error| Failure::unprocessable(format!("request.originalObject: {error}; mend it")))
}

fn read_string(raw: &Raw<'_>) -> Result<String, String> {
    match raw.as_str() {
        Ok(Some(text)) => Ok(text.into_owned()),
        Ok(None) => Err(format!("must be a string, is {}", raw.kind())),
        Err(error) => Err(error.to_string()),
    }
}

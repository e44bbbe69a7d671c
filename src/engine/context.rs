//! What actions can ask for while they are applied: expressions, allocations, facts about the object.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Draft;
use super::draft::ObjectSource;
use super::handover::{AllocationState, Settled};
use super::request::{BINDING_ADVICE, Facts, NO_BINDING, Request, Stop};
use super::templated::Templated;
use super::variables::{Definition, NO_ENTRY};
use crate::domain::{ClusterName, Failure, allocation_annotation};
use crate::expression::{Bindings, Budget, Condition, EvaluateError, Missing, Variable};
use crate::json::{Kind, Pointer, Value};

/// How many bytes the expressions of one request may give together to be written into the object.
const MAX_WRITTEN_BYTES: usize = 1 << 20;

/// What actions get besides the object. It is for one object and one cluster.
pub(super) struct Context<'c, 'a> {
    pub(super) request: Request<'c, 'a>,
    pub(super) facts: Facts<'c>,
    /// The allocations that have been asked for. The first answer counts: an allocation is in one place.
    pub(super) settled: BTreeMap<String, Settled>,
    /// The warnings of the action so far.
    pub(super) warnings: Vec<String>,
    /// Whether an expression has read `original`.
    pub(super) reads_original: bool,
    budget: Budget,
    /// How many bytes expressions have given so far to be written.
    written: usize,
    /// The variables of the policy that is being applied.
    variables: &'c [(String, Definition)],
    /// The object before that policy. Variables are evaluated for it.
    before_policy: Value<'a>,
    /// The variables that have been evaluated.
    values: BTreeMap<String, Value<'a>>,
}

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

impl<'c, 'a> Context<'c, 'a> {
    pub(super) fn new(request: Request<'c, 'a>, facts: Facts<'c>) -> Self {
        Self {
            request,
            facts,
            settled: BTreeMap::new(),
            warnings: Vec::new(),
            reads_original: false,
            budget: Budget::default(),
            written: 0,
            variables: &[],
            before_policy: Value::Null,
            values: BTreeMap::new(),
        }
    }

    /// Begins a policy with these variables.
    pub(super) fn begin(&mut self, variables: &'c [(String, Definition)], draft: &Draft<'a>) {
        self.variables = variables;
        self.before_policy = draft.value().clone();
        self.values.clear();
    }

    /// Adds a warning: `<pointer>: <problem>; <advice>`. Rule and cluster are put in front later.
    pub(super) fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Whether the cluster hosts `allocation`. To ask is to claim it.
    pub(super) fn hosts(&mut self, allocation: &str) -> Result<bool, Stop> {
        let settled = self.settle(allocation)?;
        Ok(matches!(settled, Settled::In(choice, _) if choice.cluster == self.request.target.cluster))
    }

    /// Whether `condition` holds for the object.
    pub(super) fn holds(&mut self, condition: &Condition, draft: &Draft<'a>) -> Result<bool, Stop> {
        let prepared = self.prepare(condition.uses(), draft.value())?;
        condition.holds(&prepared, &mut self.budget).map_err(|error| self.refusal(&error, &prepared))
    }

    /// A value of the policy, with its expressions evaluated for the object.
    pub(super) fn value(&mut self, templated: &Templated, draft: &Draft<'a>) -> Result<Value<'a>, Stop> {
        templated.evaluate(&mut |template| {
            let prepared = self.prepare(template.uses(), draft.value())?;
            let value = template.evaluate(&prepared, &mut self.budget);
            let value = value.map_err(|error| self.refusal(&error, &prepared))?;
            // A piece of the object costs nothing to give, and can be put into the object again and again.
            self.written += value.size_up_to(MAX_WRITTEN_BYTES - self.written);
            if self.written > MAX_WRITTEN_BYTES {
                return Err(Stop::Refused(Failure::unprocessable(format!(
                    "what the expressions give for this object is more than {MAX_WRITTEN_BYTES} bytes together; make them give less"
                ))));
            }
            Ok(value)
        })
    }

    /// The same, for a value that has to be a string. Numbers and booleans are spelled out.
    pub(super) fn text(
        &mut self,
        field: &str,
        templated: &Templated,
        draft: &Draft<'a>,
    ) -> Result<String, Stop> {
        Ok(match self.value(templated, draft)? {
            Value::String(text) => text.into_owned(),
            Value::Number(number) => number.as_str().to_owned(),
            Value::Bool(flag) => flag.to_string(),
            other => return Err(unfit(field, "a string", other.kind()).into()),
        })
    }

    fn prepare(&mut self, uses: &[Variable], object: &Value<'a>) -> Result<Prepared<'a>, Stop> {
        let values = uses.iter().map(|variable| Ok((variable.clone(), self.variable(variable, object)?)));
        values.collect::<Result<_, Stop>>().map(Prepared)
    }

    fn variable(
        &mut self,
        variable: &Variable,
        object: &Value<'a>,
    ) -> Result<Result<Value<'a>, Missing>, Stop> {
        let target = self.request.target;
        let unknown = |problem: &str| Err(Missing::Unknown(problem.to_owned()));
        Ok(match variable {
            Variable::Object => Ok(object.clone()),
            Variable::Original => {
                self.reads_original = true;
                match &target.original {
                    Some(original) => Ok(original.to_value().map_err(|error| {
                        Failure::unprocessable(format!("request.originalObject: {error}; change the object"))
                    })?),
                    None if self.request.is_unbound => {
                        unknown("the Work has no binding, and its template is not known")
                    }
                    None => unknown("the template is not known here"),
                }
            }
            Variable::Replicas => match target.replicas {
                Some(replicas) => Ok(replicas.into()),
                None if self.request.is_unbound => {
                    unknown("the Work has no binding, and the object does not say how many replicas it has")
                }
                None => unknown("the number of replicas in the cluster is not given"),
            },
            Variable::ClusterName => Ok(target.cluster.as_str().to_owned().into()),
            Variable::ClusterLabels
            | Variable::ClusterProvider
            | Variable::ClusterRegion
            | Variable::ClusterZone => self.cluster(variable),
            Variable::BindingReplicas | Variable::BindingClusters => match &target.schedule {
                None if self.request.is_unbound => unknown(NO_BINDING),
                None => unknown("the schedule of the workload is not known"),
                Some(schedule) if *variable == Variable::BindingReplicas => {
                    let replicas = schedule.clusters().iter().map(|entry| entry.replicas);
                    Ok(replicas.fold(0, i64::saturating_add).into())
                }
                Some(schedule) => {
                    let clusters = schedule.clusters().iter().map(|entry| {
                        let name = Value::from(entry.name.as_str().to_owned());
                        Value::Object(
                            [("name", name), ("replicas", entry.replicas.into())].into_iter().collect(),
                        )
                    });
                    Ok(Value::array(clusters.collect()))
                }
            },
            Variable::Allocation(name) => Ok(match self.settle(name)? {
                Settled::In(choice, _) => choice.cluster.as_str().to_owned().into(),
                Settled::Unread | Settled::Nowhere | Settled::Waiting(_) => Value::Null,
            }),
            Variable::Declared(name) => self.declared(name)?,
        })
    }

    /// A property of the cluster.
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

    /// A variable of the policy. It sees the variables before it, and the object before the policy.
    fn declared(&mut self, name: &str) -> Result<Result<Value<'a>, Missing>, Stop> {
        if let Some(value) = self.values.get(name) {
            return Ok(Ok(value.clone()));
        }
        let variables = self.variables;
        let Some((_, definition)) = variables.iter().find(|(declared, _)| declared == name) else {
            return Err(Failure::unprocessable(format!("variables.{name}: is not declared")).into());
        };
        let expression = match definition {
            Definition::Expression(expression) => expression,
            Definition::Table(table) => {
                let cluster = &self.request.target.cluster;
                return Ok(table.get(cluster).cloned().ok_or_else(|| {
                    Missing::Lacking(format!(
                        "its `values` {NO_ENTRY} {:?}; add one, or give a `default`",
                        cluster.as_str()
                    ))
                }));
            }
        };
        let object = self.before_policy.clone();
        let prepared = self.prepare(expression.uses(), &object)?;
        let value = expression.evaluate(&prepared, &mut self.budget).map_err(|error| {
            self.refusal(&error, &prepared).map(|failure| {
                Failure::new(failure.code(), format!("variables.{name}: {}", failure.message()))
            })
        })?;
        self.values.insert(name.to_owned(), value.clone());
        Ok(Ok(value))
    }

    /// The refusal for an expression that has no value.
    fn refusal(&self, error: &EvaluateError, prepared: &Prepared<'_>) -> Stop {
        let message = error.to_string();
        let unknown = prepared.0.iter().find(|(variable, value)| {
            matches!(value, Err(Missing::Unknown(_)))
                && error.undefined() == Some(variable.to_string().as_str())
        });
        Stop::Refused(match unknown {
            None => Failure::unprocessable(message),
            // A cluster can be known whether there is a binding or not.
            Some((variable, _)) if self.request.is_unbound && !variable.is_of_cluster() => {
                Failure::unscheduled(format!("{message}; {BINDING_ADVICE}"))
            }
            // It can become known later: the object and the rule are not wrong.
            Some(_) => Failure::unavailable(message),
        })
    }

    /// Where the allocation is.
    fn settle(&mut self, allocation: &str) -> Result<Settled, Stop> {
        if let Some(settled) = self.settled.get(allocation) {
            return Ok(settled.clone());
        }
        let target = self.request.target;
        let Some(schedule) = &target.schedule else {
            return Err(Stop::Refused(self.request.unscheduled(
                &format!("allocation {allocation:?}"),
                "give `request.targetClusters`, the whole schedule as a list of {name, replicas}, or the binding in --state",
            )));
        };
        let pinned = self.pinned(allocation)?;
        let defined = self.facts.allocations.get(allocation).copied().unwrap_or_default();
        let state = AllocationState {
            allocation,
            target: &target.cluster,
            schedule,
            pinned: pinned.as_ref(),
            entry: self.facts.entries.get(allocation).and_then(Option::as_ref),
            strategy: defined.strategy,
            handover: defined.handover,
            deliveries: self.facts.deliveries,
            preserves: self.facts.preserves,
            now: self.facts.now,
        };
        let settled = state.settle();
        if settled == Settled::Unread {
            return Err(Stop::Unread);
        }
        self.settled.insert(allocation.to_owned(), settled.clone());
        Ok(settled)
    }

    /// The cluster that the template pins `allocation` to.
    fn pinned(&self, allocation: &str) -> Result<Option<ClusterName>, Failure> {
        let place = Pointer::of(["metadata", "annotations", &allocation_annotation(allocation)]);
        let (found, source) = match self.request.target.original {
            Some(original) => (ObjectSource::from(original).at(&place), "request.originalObject"),
            None => (self.request.object.at(&place), "request.object"),
        };
        let problem = match found {
            Ok(None | Some(Value::Null)) => return Ok(None),
            Ok(Some(Value::String(name))) => return Ok(ClusterName::new(name)),
            Ok(Some(other)) => format!("must be a string, is {}", other.kind()),
            Err(error) => format!("{error} in `{source}`"),
        };
        Err(Failure::unprocessable(format!("{place}: {problem}; name a cluster, or remove the annotation")))
    }
}

/// The failure where an expression gives a value of the wrong kind.
pub(super) fn unfit(field: &str, wanted: &str, found: Kind) -> Failure {
    Failure::unprocessable(format!(
        "`{field}` must give {wanted}, and gave {found}; change the expression in the rule"
    ))
}

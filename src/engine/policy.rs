//! A policy as the engine applies it: checked and compiled.

use std::collections::BTreeSet;

use super::actions::Action;
use super::owner::Owner;
use super::selectors::{ResourceSelector, TargetClusters};
use super::variables::Definition;
use crate::expression::{Condition, Expression, Variable};

#[derive(Clone, Debug)]
pub struct Policy {
    pub owner: Owner,
    /// Higher ones apply later, and so override others.
    pub priority: i64,
    /// The policy is for workloads that any of these selects.
    pub selectors: Vec<ResourceSelector>,
    /// Each may read the ones before it.
    pub variables: Vec<(String, Definition)>,
    /// All that match are applied, in this order.
    pub rules: Vec<Rule>,
    /// Whether a rule needs more of the cluster than its name.
    pub needs_cluster: bool,
    /// Whether a rule reads the template.
    pub needs_original: bool,
    /// A digest of the document.
    pub digest: String,
}

#[derive(Clone, Debug)]
pub struct Rule {
    /// Unique in its policy.
    pub name: String,
    pub target: TargetClusters,
    pub when: Option<Condition>,
    pub action: Action,
    pub on_error: OnError,
    /// The allocations that the rule may ask for.
    pub asks: Vec<String>,
}

/// What happens where a rule can't be applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The revision is refused.
    #[default]
    Fail,
    /// The rule is left out.
    Skip,
}

impl Rule {
    /// The expressions of the rule, without those of variables that they read.
    pub fn expressions(&self) -> Vec<Expression> {
        let mut expressions: Vec<Expression> =
            self.when.iter().map(|when| when.expression().clone()).collect();
        for value in self.action.values() {
            value.templates(&mut |template| expressions.extend(template.expressions().cloned()));
        }
        expressions
    }
}

impl Policy {
    /// The variables that the expressions of `rule` read, and those that variables of the policy read for
    /// them.
    pub fn reads(&self, rule: &Rule) -> BTreeSet<Variable> {
        let expressions = rule.expressions();
        self.resolved(expressions.iter().flat_map(Expression::uses).cloned())
    }

    /// These variables, and those that variables of the policy read for them.
    pub fn resolved(&self, uses: impl IntoIterator<Item = Variable>) -> BTreeSet<Variable> {
        let mut reads = BTreeSet::new();
        let mut pending: Vec<Variable> = uses.into_iter().collect();
        while let Some(variable) = pending.pop() {
            if let Variable::Declared(name) = &variable
                && !reads.contains(&variable)
            {
                match self.variable(name) {
                    Some(Definition::Expression(expression)) => pending.extend_from_slice(expression.uses()),
                    Some(Definition::Table(_)) => pending.push(Variable::ClusterName),
                    None => {}
                }
            }
            reads.insert(variable);
        }
        reads
    }

    pub fn variable(&self, name: &str) -> Option<&Definition> {
        self.variables.iter().find(|(declared, _)| declared == name).map(|(_, definition)| definition)
    }
}

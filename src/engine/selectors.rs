//! Which workloads a policy is for, and which clusters a rule is for.

use super::draft::ObjectSource;
use crate::domain::{Cluster, ClusterName, Failure, GroupVersionKind, Workload};
use crate::json::{Pointer, Value};

/// Selects workloads, as Karmada's `ResourceSelector` does: a name makes the label selector irrelevant.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceSelector {
    pub gvk: GroupVersionKind,
    /// `None` for any.
    pub namespace: Option<String>,
    /// `None` for any.
    pub name: Option<String>,
    /// `None` for any.
    pub labels: Option<LabelSelector>,
}

impl ResourceSelector {
    pub(super) fn selects(&self, workload: &Workload, object: &ObjectSource<'_>) -> Result<bool, Failure> {
        if self.gvk != workload.gvk
            || self.namespace.as_ref().is_some_and(|namespace| *namespace != workload.namespace)
        {
            return Ok(false);
        }
        match (&self.name, &self.labels) {
            (Some(name), _) => Ok(*name == workload.name),
            (None, Some(labels)) => labels.matches(object),
            (None, None) => Ok(true),
        }
    }
}

/// A Kubernetes `LabelSelector`. All requirements have to hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelSelector(pub Vec<LabelRequirement>);

#[derive(Clone, Debug, PartialEq)]
pub enum LabelRequirement {
    In(String, Vec<String>),
    /// The label is missing or has none of these values.
    NotIn(String, Vec<String>),
    Exists(String),
    DoesNotExist(String),
}

impl LabelSelector {
    fn matches(&self, object: &ObjectSource<'_>) -> Result<bool, Failure> {
        let place = Pointer::of(["metadata", "labels"]);
        let labels = object
            .at(&place)
            .map_err(|error| Failure::unprocessable(format!("{place}: {error}; change the object")))?;
        Ok(self.holds(|key| labels.as_ref().and_then(|labels| labels.get(key)).and_then(Value::as_str)))
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|requirement| match requirement {
            LabelRequirement::In(key, _)
            | LabelRequirement::NotIn(key, _)
            | LabelRequirement::Exists(key)
            | LabelRequirement::DoesNotExist(key) => key.as_str(),
        })
    }

    /// Whether the labels match. `label` returns the value of a label.
    pub(super) fn holds<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        self.0.iter().all(|requirement| match requirement {
            LabelRequirement::In(key, values) => {
                label(key).is_some_and(|is| values.iter().any(|value| value == is))
            }
            LabelRequirement::NotIn(key, values) => {
                label(key).is_none_or(|is| values.iter().all(|value| value != is))
            }
            LabelRequirement::Exists(key) => label(key).is_some(),
            LabelRequirement::DoesNotExist(key) => label(key).is_none(),
        })
    }
}

/// Which clusters a rule is for: by default all. Every field has to match, as in Karmada's `ClusterAffinity`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetClusters {
    /// All clusters if empty.
    pub names: Vec<ClusterPattern>,
    /// Takes precedence over all other fields.
    pub exclude: Vec<ClusterPattern>,
    pub labels: Option<LabelSelector>,
    pub fields: Vec<FieldRequirement>,
}

/// The name of a cluster, or a pattern in which `*` stands for any text and `?` for any one character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterPattern(pub String);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRequirement {
    pub field: ClusterField,
    /// Whether the field has to be one of the values, or none of them.
    pub is_in: bool,
    pub values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterField {
    /// `spec.provider`
    Provider,
    /// `spec.region`
    Region,
    /// `spec.zones`: all of them have to be in the values, or none.
    Zone,
}

impl TargetClusters {
    /// Whether more than the name of the cluster is needed.
    pub fn needs_cluster(&self) -> bool {
        self.labels.is_some() || !self.fields.is_empty()
    }

    /// Fails if the document of the cluster is needed and not known.
    pub fn includes(&self, name: &ClusterName, known: Option<&Cluster>) -> Result<bool, Failure> {
        let matches = |pattern: &ClusterPattern| pattern.matches(name);
        if self.exclude.iter().any(matches) || !self.names.is_empty() && !self.names.iter().any(matches) {
            return Ok(false);
        }
        if !self.needs_cluster() {
            return Ok(true);
        }
        let cluster = known.ok_or_else(|| {
            Failure::unavailable(format!(
                "the rule selects clusters by labels or fields, and nothing is known about {:?}; give its Cluster document in --state",
                name.as_str()
            ))
        })?;
        let labelled = self
            .labels
            .as_ref()
            .is_none_or(|labels| labels.holds(|key| cluster.labels.get(key).map(String::as_str)));
        Ok(labelled && self.fields.iter().all(|requirement| requirement.holds(cluster)))
    }
}

impl FieldRequirement {
    fn holds(&self, cluster: &Cluster) -> bool {
        let listed = |value: &String| self.values.contains(value);
        match self.field {
            ClusterField::Provider => cluster.provider.as_ref().is_some_and(listed) == self.is_in,
            ClusterField::Region => cluster.region.as_ref().is_some_and(listed) == self.is_in,
            ClusterField::Zone if self.is_in => !cluster.zones.is_empty() && cluster.zones.iter().all(listed),
            ClusterField::Zone => !cluster.zones.iter().any(listed),
        }
    }
}

impl ClusterPattern {
    /// The name, if there is no wildcard.
    pub fn name(&self) -> Option<ClusterName> {
        (!self.0.contains(['*', '?'])).then(|| ClusterName::new(self.0.as_str()))?
    }

    pub fn matches(&self, name: &ClusterName) -> bool {
        let (pattern, text) = (self.0.as_bytes(), name.as_str().as_bytes());
        let (mut at, mut position) = (0, 0);
        // The position of the last star, and the end of what it matches so far.
        let mut star = None;
        while position < text.len() {
            match pattern.get(at) {
                Some(b'*') => {
                    star = Some((at, position));
                    at += 1;
                }
                Some(&byte) if byte == b'?' || byte == text[position] => {
                    at += 1;
                    position += 1;
                }
                _ => match star {
                    Some((star_at, stood)) => {
                        at = star_at + 1;
                        position = stood + 1;
                        star = Some((star_at, position));
                    }
                    None => return false,
                },
            }
        }
        pattern[at..].iter().all(|byte| *byte == b'*')
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn name(text: &str) -> ClusterName {
        ClusterName::new(text).unwrap()
    }

    #[test]
    fn patterns_stand_for_whole_names() {
        for (pattern, text, expected) in [
            ("cluster-x", "cluster-x", true),
            ("cluster-x", "cluster-xy", false),
            ("eu-*", "eu-1", true),
            ("eu-*", "eu-", true),
            ("eu-*", "us-eu-1", false),
            ("*-prod", "eu-prod", true),
            ("*-prod-*", "eu-prod-prod-1", true),
            ("*a*b", "xaxbxb", true),
            ("*a*b", "xaxbx", false),
            ("eu-?", "eu-1", true),
            ("eu-?", "eu-12", false),
            ("*", "anything", true),
            ("**", "a", true),
        ] {
            assert_eq!(ClusterPattern(pattern.to_owned()).matches(&name(text)), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn all_that_is_given_has_to_match() {
        let cluster = Cluster {
            name: name("eu-1"),
            labels: BTreeMap::from([("tier".to_owned(), "gold".to_owned())]),
            provider: Some("aws".to_owned()),
            region: None,
            zones: vec!["a".to_owned(), "b".to_owned()],
        };
        let field = |field, is_in, values: &[&str]| FieldRequirement {
            field,
            is_in,
            values: values.iter().map(|&value| value.to_owned()).collect(),
        };
        let fields = |field| TargetClusters { fields: vec![field], ..TargetClusters::default() };
        let includes = |target: &TargetClusters| target.includes(&cluster.name, Some(&cluster)).unwrap();
        for (requirement, expected) in [
            (field(ClusterField::Provider, true, &["aws", "gcp"]), true),
            (field(ClusterField::Provider, false, &["aws"]), false),
            (field(ClusterField::Region, true, &["eu"]), false),
            (field(ClusterField::Region, false, &["eu"]), true),
            (field(ClusterField::Zone, true, &["a", "b", "c"]), true),
            (field(ClusterField::Zone, true, &["a"]), false),
            (field(ClusterField::Zone, false, &["a"]), false),
            (field(ClusterField::Zone, false, &["c"]), true),
        ] {
            assert_eq!(includes(&fields(requirement.clone())), expected, "{requirement:?}");
        }
        let gold = LabelSelector(vec![LabelRequirement::In("tier".into(), vec!["gold".into()])]);
        let mut target = TargetClusters { labels: Some(gold), ..TargetClusters::default() };
        assert!(includes(&target));
        let unknown = target.includes(&name("us-1"), None).unwrap_err();
        assert!(unknown.message().contains("nothing is known about \"us-1\""), "{unknown}");
        target.names = vec![ClusterPattern("us-*".to_owned())];
        assert!(!includes(&target));
        // By name alone it is clear that the rule is not for it: nothing needs to be known.
        assert!(!target.includes(&name("eu-2"), None).unwrap());
        target.names.push(ClusterPattern("eu-*".to_owned()));
        target.exclude = vec![ClusterPattern("*-1".to_owned())];
        assert!(!includes(&target));
    }
}

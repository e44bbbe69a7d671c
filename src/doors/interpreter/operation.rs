//! The operations of Karmada's interpreter.

/// An operation, by its name on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationName {
    InterpretReplica,
    ReviseReplica,
    /// Proposed in karmada#3436. The validation of Karmada's releases refuses the name.
    ReviseObject,
    InterpretComponent,
    Retain,
    AggregateStatus,
    InterpretStatus,
    InterpretHealth,
    InterpretDependency,
    Prune,
}

impl OperationName {
    const ALL: [Self; 10] = [
        Self::InterpretReplica,
        Self::ReviseReplica,
        Self::ReviseObject,
        Self::InterpretComponent,
        Self::Retain,
        Self::AggregateStatus,
        Self::InterpretStatus,
        Self::InterpretHealth,
        Self::InterpretDependency,
        Self::Prune,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InterpretReplica => "InterpretReplica",
            Self::ReviseReplica => "ReviseReplica",
            Self::ReviseObject => "ReviseObject",
            Self::InterpretComponent => "InterpretComponent",
            Self::Retain => "Retain",
            Self::AggregateStatus => "AggregateStatus",
            Self::InterpretStatus => "InterpretStatus",
            Self::InterpretHealth => "InterpretHealth",
            Self::InterpretDependency => "InterpretDependency",
            Self::Prune => "Prune",
        }
    }

    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.as_str() == name)
    }
}

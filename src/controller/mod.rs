//! What the one elected replica does: it sees to it that the Works that are stored are as the policies say.
pub mod fleet;

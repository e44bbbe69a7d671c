//! The definitions of custom resources: that the files are what the types give, and that the schemas and the reader of policies say the same.

mod files;

//! Tests of the reader and the writer.

mod oracle;
mod read;
mod write;

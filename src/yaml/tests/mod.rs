//! The reader against another one's answers, the reader by itself, and the writer against the reader.

mod oracle;
mod read;
mod write;

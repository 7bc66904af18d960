//! Where a prompt comes from: what is piped in ([`stdin`]), and what its `@path`s bring along ([`references`]).

mod at_path;
pub(crate) mod references;
pub(crate) mod stdin;

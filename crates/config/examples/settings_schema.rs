//! Prints the JSON schema of settings files: `docs/generated/settings.schema.json`.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

fn main() {
    println!("{:#}", pollux_config::schema::json_schema());
}

//! Writes the schema of the contract's messages to schema/: cargo run --bin schema

use cosmwasm_schema::write_api;
use {{crate_name}}::{ExecuteMsg, InstantiateMsg, QueryMsg};

fn main() {
    write_api! { instantiate: InstantiateMsg, execute: ExecuteMsg, query: QueryMsg }
}

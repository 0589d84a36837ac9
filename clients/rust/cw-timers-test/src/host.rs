//! What the end of a block needs of an app of cw-multi-test, whatever its modules are.

use cosmwasm_std::{
    from_json, to_json_vec, Addr, AnyMsg, Api, BankMsg, Binary, BlockInfo, Coin, CosmosMsg, CustomMsg, CustomQuery,
    Storage, Uint128, WasmMsg,
};
use cw_multi_test::error::AnyResult;
use cw_multi_test::{
    App, AppResponse, Bank, Distribution, Executor, Gov, Ibc, Module, Staking, Stargate, SudoMsg, Wasm, WasmSudo,
};
use cw_timers::proto::{Any, Json, Message, MsgScheduleTimerResponse};
use serde::de::DeserializeOwned;
use serde::Deserialize;

/// An app of cw-multi-test. It is implemented for all of them.
pub trait Host {
    /// The block that is open.
    fn block(&self) -> BlockInfo;
    /// Begins a block.
    fn begin(&mut self, block: BlockInfo);
    /// The app's storage.
    fn storage(&self) -> &dyn Storage;
    /// The app's storage.
    fn storage_mut(&mut self) -> &mut dyn Storage;
    /// The app's API.
    fn api(&self) -> &dyn Api;
    /// What an address has of a denom.
    fn balance(&self, address: &Addr, denom: &str) -> Uint128;
    /// Transfers.
    fn send(&mut self, from: &Addr, to: &Addr, coin: Coin) -> AnyResult<()>;
    /// Burns.
    fn burn(&mut self, from: &Addr, coin: Coin) -> AnyResult<()>;
    /// Calls a contract's `sudo`.
    fn call(&mut self, contract: &Addr, msg: Binary) -> AnyResult<AppResponse>;
    /// Runs messages, all or none.
    fn run(&mut self, sender: &Addr, messages: &[Any]) -> AnyResult<Vec<AppResponse>>;
    /// Whether there is such a contract, and its admin.
    fn contract(&self, address: &Addr) -> Option<Option<Addr>>;
}

impl<BankT, ApiT, StorageT, CustomT, WasmT, StakingT, DistrT, IbcT, GovT, StargateT> Host
    for App<BankT, ApiT, StorageT, CustomT, WasmT, StakingT, DistrT, IbcT, GovT, StargateT>
where
    CustomT: Module,
    CustomT::ExecT: CustomMsg + DeserializeOwned + 'static,
    CustomT::QueryT: CustomQuery + DeserializeOwned + 'static,
    WasmT: Wasm<CustomT::ExecT, CustomT::QueryT>,
    BankT: Bank,
    ApiT: Api,
    StorageT: Storage,
    StakingT: Staking,
    DistrT: Distribution,
    IbcT: Ibc,
    GovT: Gov,
    StargateT: Stargate,
{
    fn block(&self) -> BlockInfo {
        self.block_info()
    }

    fn begin(&mut self, block: BlockInfo) {
        self.set_block(block);
    }

    fn storage(&self) -> &dyn Storage {
        let storage: &StorageT = App::storage(self);
        storage
    }

    fn storage_mut(&mut self) -> &mut dyn Storage {
        let storage: &mut StorageT = App::storage_mut(self);
        storage
    }

    fn api(&self) -> &dyn Api {
        let api: &ApiT = App::api(self);
        api
    }

    fn balance(&self, address: &Addr, denom: &str) -> Uint128 {
        self.wrap().query_balance(address, denom).expect("a balance").amount
    }

    fn send(&mut self, from: &Addr, to: &Addr, coin: Coin) -> AnyResult<()> {
        let msg = BankMsg::Send { to_address: to.to_string(), amount: vec![coin] };
        self.execute(from.clone(), msg.into()).map(drop)
    }

    fn burn(&mut self, from: &Addr, coin: Coin) -> AnyResult<()> {
        self.execute(from.clone(), BankMsg::Burn { amount: vec![coin] }.into()).map(drop)
    }

    fn call(&mut self, contract: &Addr, message: Binary) -> AnyResult<AppResponse> {
        self.sudo(SudoMsg::Wasm(WasmSudo { contract_addr: contract.clone(), message }))
    }

    fn run(&mut self, sender: &Addr, messages: &[Any]) -> AnyResult<Vec<AppResponse>> {
        let messages = messages.iter().map(to_cosmos_msg).collect();
        self.execute_multi(sender.clone(), messages)
    }

    fn contract(&self, address: &Addr) -> Option<Option<Addr>> {
        self.wrap().query_wasm_contract_info(address).ok().map(|info| info.admin)
    }
}

#[derive(Deserialize)]
struct SendJson {
    from_address: String,
    to_address: String,
    amount: Vec<Coin>,
}

#[derive(Deserialize)]
struct ExecuteJson {
    sender: String,
    contract: String,
    msg: Json,
    funds: Vec<Coin>,
}

/// A message that was stated in JSON, encoded as the chain encodes it.
pub(crate) fn encode(any: Any) -> AnyResult<Any> {
    let Some(json) = &any.json else { return Ok(any) };
    let text = to_json_vec(json)?;
    match any.type_url.as_str() {
        "/cosmos.bank.v1beta1.MsgSend" => {
            let m: SendJson = from_json(text)?;
            Ok(Any::send(m.from_address, m.to_address, &m.amount))
        }
        "/cosmwasm.wasm.v1.MsgExecuteContract" => {
            let m: ExecuteJson = from_json(text)?;
            Ok(Any::execute(m.sender, m.contract, &m.msg, &m.funds)?)
        }
        url => panic!("cw-timers-test reads bank sends and calls of contracts in JSON; not {url}"),
    }
}

/// The text in the first field of an encoded message.
pub(crate) fn first_text(message: &[u8]) -> Option<String> {
    // A message with one text in its first field reads that of any message.
    MsgScheduleTimerResponse::decode(message).ok().map(|m| m.id)
}

/// The coins that a message states at top level.
pub(crate) fn coins_of(any: &Any) -> Vec<Coin> {
    match any.type_url.as_str() {
        "/cosmos.bank.v1beta1.MsgSend" => any.to_send().map_or_else(Vec::new, |(_, coins)| coins),
        "/cosmwasm.wasm.v1.MsgExecuteContract" => any.to_execute().map_or_else(Vec::new, |(_, _, coins)| coins),
        _ => Vec::new(),
    }
}

/// The message that an `Any` holds, as cw-multi-test has it.
fn to_cosmos_msg<T>(any: &Any) -> CosmosMsg<T> {
    let bank = |(to_address, amount)| CosmosMsg::Bank(BankMsg::Send { to_address, amount });
    let wasm = |(contract_addr, msg, funds)| CosmosMsg::Wasm(WasmMsg::Execute { contract_addr, msg, funds });
    match any.type_url.as_str() {
        "/cosmos.bank.v1beta1.MsgSend" => any.to_send().map(bank),
        "/cosmwasm.wasm.v1.MsgExecuteContract" => any.to_execute().map(wasm),
        url if url.starts_with("/timers.v1.Msg") => {
            Some(CosmosMsg::Any(AnyMsg { type_url: any.type_url.clone(), value: any.value.clone() }))
        }
        url => panic!(
            "cw-timers-test runs bank sends, calls of contracts and the module's own messages in a timer; not {url}"
        ),
    }
    .unwrap_or_else(|| panic!("{} can't be decoded", any.type_url))
}

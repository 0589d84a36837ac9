use std::cell::{Ref, RefCell};
use std::rc::Rc;

use cosmwasm_std::{
    from_json, to_json_binary, Addr, AnyMsg, Api, Binary, BlockInfo, ContractInfoResponse, CustomMsg, CustomQuery,
    Empty, GrpcQuery, MsgResponse, Querier, QueryRequest, Storage, WasmQuery,
};
use cw_multi_test::error::{AnyError, AnyResult};
use cw_multi_test::{
    App, AppBuilder, AppResponse, BankKeeper, CosmosRouter, DistributionKeeper, FailingModule, GovFailingModule,
    IbcFailingModule, MockApiBech32, Module, StakeKeeper, Stargate, WasmKeeper,
};
use cw_timers::proto::{
    Message, MsgCancelTimer, MsgCancelTimerResponse, MsgExtendTimer, MsgPauseTimer, MsgPauseTimerResponse,
    MsgResumeTimer, MsgRunTimer, MsgScheduleTimer, MsgScheduleTimerResponse, MsgSetAgent, MsgSetAgentResponse,
    MsgSkipTimer, MsgUpdateTimer, TimerInfo, WatchKey,
};
use cw_timers::{Request, TimerId, TimersCall, TimersError, TimersMsg, TimersQuery, TimersRequest};
use serde::de::DeserializeOwned;

use crate::config::Config;
use crate::host::{encode, Host};
use crate::keeper::{Actor, Grants, Keeper};
use crate::lane::{Block, Firing, Lane, Usage};
use crate::query::View;
use crate::store::{self, Books, Moment, Record};

type UsageFn = Rc<dyn Fn(&Firing<'_>) -> Usage>;
type ReadingFn = Rc<dyn Fn(&WatchKey, Option<&[u8]>) -> u64>;

struct Shared {
    config: Config,
    next_config: Option<Config>,
    grants: Grants,
    usage: UsageFn,
    reading: ReadingFn,
    /// Whether the end of a block runs.
    ending: bool,
}

/// The end of a block, for as long as it runs.
struct Ending<'a>(&'a Timers);

impl<'a> Ending<'a> {
    fn of(timers: &'a Timers) -> Self {
        timers.0.borrow_mut().ending = true;
        Ending(timers)
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0 .0.borrow_mut().ending = false;
    }
}

/// The module. Its clones are the same module: one goes into the app, another stays with the test.
///
/// What timers there are lies in the app's storage, so that a transaction that fails undoes what it scheduled. The config,
/// the allowances and what handlers use belong to the test, and are not undone.
#[derive(Clone)]
pub struct Timers(Rc<RefCell<Shared>>);

/// An app whose contracts speak protobuf: `Response<Empty>`.
pub type TimersApp = App<
    BankKeeper,
    MockApiBech32,
    cosmwasm_std::testing::MockStorage,
    FailingModule<Empty, Empty, Empty>,
    WasmKeeper<Empty, Empty>,
    StakeKeeper,
    DistributionKeeper,
    IbcFailingModule,
    GovFailingModule,
    Timers,
>;

/// An app whose contracts speak JSON: `Response<TimersMsg>`, `Deps<TimersQuery>`.
pub type JsonApp = App<
    BankKeeper,
    MockApiBech32,
    cosmwasm_std::testing::MockStorage,
    Timers,
    WasmKeeper<TimersMsg, TimersQuery>,
    StakeKeeper,
    DistributionKeeper,
    IbcFailingModule,
    GovFailingModule,
    Timers,
>;

/// The prefix of addresses in the apps that this crate makes.
const PREFIX: &str = "timer";

impl Default for Timers {
    fn default() -> Self {
        Timers::new(Config::default())
    }
}

impl Timers {
    /// With this config. Panics if it contradicts itself.
    pub fn new(config: Config) -> Self {
        config.validate().expect("a valid config");
        let usage: UsageFn = Rc::new(|_| Usage { cycles: 100_000, cells: 500 });
        // The SDK's gas of one read: of the key, and of the value.
        let reading: ReadingFn =
            Rc::new(|key, value| 1_000 + 3 * (key.prefix.len() + value.map_or(0, <[u8]>::len)) as u64);
        let (next_config, grants) = (None, Grants::new());
        Timers(Rc::new(RefCell::new(Shared { config, next_config, grants, usage, reading, ending: false })))
    }

    /// An app with this module, at height 1, whose contracts speak protobuf.
    pub fn app(&self) -> TimersApp {
        let mut app = AppBuilder::new()
            .with_api(MockApiBech32::new(PREFIX))
            .with_stargate(self.clone())
            .build(cw_multi_test::no_init);
        app.update_block(|block| block.height = 1);
        app
    }

    /// An app with this module, at height 1, whose contracts speak JSON. It takes protobuf too, as the chain does.
    pub fn json_app(&self) -> JsonApp {
        let mut app = AppBuilder::new_custom()
            .with_api(MockApiBech32::new(PREFIX))
            .with_custom(self.clone())
            .with_stargate(self.clone())
            .build(cw_multi_test::no_init);
        app.update_block(|block| block.height = 1);
        app
    }

    /// The config in force.
    pub fn config(&self) -> Ref<'_, Config> {
        Ref::map(self.0.borrow(), |shared| &shared.config)
    }

    /// Changes the config from the next block on, as governance does. Several changes of one block add up.
    pub fn change_config(&self, change: impl FnOnce(&mut Config)) -> Result<(), TimersError> {
        let mut shared = self.0.borrow_mut();
        let mut next = shared.next_config.clone().unwrap_or_else(|| shared.config.clone());
        change(&mut next);
        next.validate()?;
        if next.fee_denom != shared.config.fee_denom {
            return Err(TimersError::InvalidConfig);
        }
        shared.next_config = Some(next);
        Ok(())
    }

    /// Says what handlers use, in addition to the cycles that every fire counts before its handler. By default each uses
    /// 100,000 cycles and 500 cells, about what a contract that is not pinned uses to read, write and schedule.
    pub fn set_usage(&self, usage: impl Fn(&Firing<'_>) -> Usage + 'static) {
        self.0.borrow_mut().usage = Rc::new(usage);
    }

    /// Says what reading a condition of [`only_if`](cw_timers::Timer::only_if) takes, by its key and the value that is
    /// there. By default that is the SDK's gas: 1,000 cycles, and 3 for each byte of both.
    pub fn set_reading(&self, reading: impl Fn(&WatchKey, Option<&[u8]>) -> u64 + 'static) {
        self.0.borrow_mut().reading = Rc::new(reading);
    }

    /// Grants a fee allowance for the module's messages, without a limit.
    pub fn grant(&self, granter: &Addr, grantee: &Addr) {
        self.0.borrow_mut().grants.insert((granter.to_string(), grantee.to_string()));
    }

    /// Revokes an allowance.
    pub fn revoke(&self, granter: &Addr, grantee: &Addr) {
        self.0.borrow_mut().grants.remove(&(granter.to_string(), grantee.to_string()));
    }

    /// Ends the app's block, in which the test's transactions have run: what is due fires. Then the next block begins, 5
    /// seconds later.
    pub fn next_block<H: Host>(&self, app: &mut H) -> Block {
        let (config, grants, usage, reading) = {
            let shared = self.0.borrow();
            (shared.config.clone(), shared.grants.clone(), shared.usage.clone(), shared.reading.clone())
        };
        let done = {
            let _ending = Ending::of(self);
            Lane::new(app, &config, &grants, &*usage, &*reading).run()
        };
        let mut block = app.block();
        block.height += 1;
        block.time = block.time.plus_seconds(5);
        app.begin(block);
        let mut shared = self.0.borrow_mut();
        if let Some(next) = shared.next_config.take() {
            shared.config = next;
        }
        done
    }

    /// Ends so many blocks, and returns what they did.
    pub fn blocks<H: Host>(&self, app: &mut H, blocks: u64) -> Vec<Block> {
        (0..blocks).map(|_| self.next_block(app)).collect()
    }

    /// Ends all blocks up to this height and including it. Panics if it is not at least that of the app's block.
    pub fn run_to<H: Host>(&self, app: &mut H, height: u64) -> Vec<Block> {
        let now = app.block().height;
        assert!(height >= now, "the height is {now}, and can't go back to {height}");
        self.blocks(app, height - now + 1)
    }

    /// All live timers, by due height.
    pub fn all<H: Host>(&self, app: &H) -> Vec<TimerInfo> {
        Record::all(app.storage()).into_iter().map(|record| record.info.to_info()).collect()
    }

    /// How many timers are live, and how many of them are due and wait for room, as of the last block that ended.
    pub fn count<H: Host>(&self, app: &H) -> (usize, usize) {
        let all = Record::all(app.storage());
        let last = Books::load(app.storage()).last();
        // What comes after it is no earlier.
        let next = Moment { height: last.height + 1, ..last };
        (all.len(), all.iter().filter(|r| r.ready_at(last) && !r.expired_at(next)).count())
    }

    /// Cancels any timer, as the authority does. Whether there was anything to cancel.
    pub fn sys_cancel<H: Host>(&self, app: &mut H, actor: &Addr, id: &TimerId) -> bool {
        match Record::named(app.storage(), actor.as_str(), id.as_str()) {
            Ok(record) => {
                record.remove(app.storage_mut());
                true
            }
            Err(_) => false,
        }
    }

    /// Sets any timer's last height, as the authority does, and returns what was set.
    pub fn sys_extend<H: Host>(&self, app: &mut H, actor: &Addr, id: &TimerId, expires_at: u64) -> AnyResult<u64> {
        let record = Record::named(app.storage(), actor.as_str(), id.as_str())?;
        let now = Moment::of(&app.block());
        if record.expired_at(now) {
            return Err(TimersError::TimerExpired.into());
        }
        let shared = self.0.borrow();
        // The record is changed through the storage alone; nothing asks the API.
        let api = cosmwasm_std::testing::MockApi::default();
        let mut keeper = Keeper {
            api: &api,
            storage: app.storage_mut(),
            height: now.height,
            time: now.time,
            in_fire: false,
            config: &shared.config,
            grants: &shared.grants,
            actor: Actor::default(),
        };
        Ok(keeper.set_expiry(record, expires_at, 0, false)?.expires_at)
    }

    fn handle<ExecC, QueryC>(
        &self,
        (api, storage, block): (&dyn Api, &mut dyn Storage, &BlockInfo),
        router: &dyn CosmosRouter<ExecC = ExecC, QueryC = QueryC>,
        sender: Addr,
        call: TimersCall,
    ) -> AnyResult<AppResponse>
    where
        ExecC: CustomMsg + DeserializeOwned + 'static,
        QueryC: CustomQuery + DeserializeOwned + 'static,
    {
        let (stated, own) = match &call {
            TimersCall::Schedule(m) => (&m.actor, &m.sender),
            TimersCall::Update(m) => (&m.actor, &m.sender),
            TimersCall::Extend(m) => (&m.actor, &m.sender),
            TimersCall::Cancel(m) => (&m.actor, &m.sender),
            TimersCall::Pause(m) => (&m.actor, &m.sender),
            TimersCall::Resume(m) => (&m.actor, &m.sender),
            TimersCall::Skip(m) => (&m.actor, &m.sender),
            TimersCall::Run(m) => (&m.actor, &m.sender),
            TimersCall::SetAgent(m) => (&m.sender, &m.sender),
            other => panic!("cw-timers-test does not know the message {other:?}"),
        };
        if !own.is_empty() && *own != sender.as_str() {
            return Err(AnyError::msg(format!("the message is {own}'s, and {sender} sends it")));
        }
        let actor = if stated.is_empty() { sender.to_string() } else { stated.clone() };
        let info = WasmQuery::ContractInfo { contract_addr: actor };
        let info = router.query(api, storage, block, QueryRequest::Wasm(info));
        let actor = match info.ok().map(|answer| from_json::<ContractInfoResponse>(&answer)) {
            Some(Ok(info)) => Actor { is_contract: true, admin: info.admin.map(Addr::into_string) },
            _ => Actor::default(),
        };
        let shared = self.0.borrow();
        let mut keeper = Keeper {
            api,
            storage,
            height: block.height,
            time: Moment::of(block).time,
            in_fire: shared.ending,
            config: &shared.config,
            grants: &shared.grants,
            actor,
        };
        match call {
            TimersCall::Schedule(msg) => {
                let id = keeper.schedule(&sender, *msg)?;
                Ok(answer(&MsgScheduleTimerResponse::with(|r| r.id = id)))
            }
            TimersCall::Update(msg) => Ok(answer(&keeper.update(&sender, *msg)?)),
            TimersCall::Extend(msg) => Ok(answer(&keeper.extend(&sender, msg)?)),
            TimersCall::Cancel(msg) => {
                keeper.cancel(&sender, &msg.actor, (&msg.id, &msg.name))?;
                Ok(answer(&MsgCancelTimerResponse::default()))
            }
            TimersCall::Pause(msg) => {
                keeper.pause(&sender, &msg.actor, (&msg.id, &msg.name))?;
                Ok(answer(&MsgPauseTimerResponse::default()))
            }
            TimersCall::Resume(msg) => Ok(answer(&keeper.resume(&sender, &msg)?)),
            TimersCall::Skip(msg) => Ok(answer(&keeper.skip(&sender, &msg)?)),
            TimersCall::Run(msg) => Ok(answer(&keeper.run(&sender, &msg)?)),
            TimersCall::SetAgent(msg) => {
                store::set_agent(keeper.storage, sender.as_str(), &msg.agent);
                Ok(answer(&MsgSetAgentResponse::default()))
            }
            other => panic!("cw-timers-test does not know the message {other:?}"),
        }
    }

    fn view<T>(&self, storage: &dyn Storage, block: &BlockInfo, ask: impl FnOnce(View<'_>) -> T) -> T {
        let shared = self.0.borrow();
        ask(View {
            storage,
            height: block.height,
            time: Moment::of(block).time,
            config: &shared.config,
            next_config: shared.next_config.as_ref(),
        })
    }
}

fn answer<M: Message>(response: &M) -> AppResponse {
    let value = response.encode();
    AppResponse {
        events: Vec::new(),
        data: Some(value.clone()),
        msg_responses: vec![MsgResponse { type_url: format!("/{}", M::NAME), value }],
    }
}

impl Stargate for Timers {
    fn execute_any<ExecC, QueryC>(
        &self,
        api: &dyn Api,
        storage: &mut dyn Storage,
        router: &dyn CosmosRouter<ExecC = ExecC, QueryC = QueryC>,
        block: &BlockInfo,
        sender: Addr,
        msg: AnyMsg,
    ) -> AnyResult<AppResponse>
    where
        ExecC: CustomMsg + DeserializeOwned + 'static,
        QueryC: CustomQuery + DeserializeOwned + 'static,
    {
        let bytes = msg.value.as_slice();
        let call = match msg.type_url.as_str() {
            "/timers.v1.MsgScheduleTimer" => TimersCall::Schedule(Box::new(MsgScheduleTimer::decode(bytes)?)),
            "/timers.v1.MsgUpdateTimer" => TimersCall::Update(Box::new(MsgUpdateTimer::decode(bytes)?)),
            "/timers.v1.MsgExtendTimer" => TimersCall::Extend(MsgExtendTimer::decode(bytes)?),
            "/timers.v1.MsgCancelTimer" => TimersCall::Cancel(MsgCancelTimer::decode(bytes)?),
            "/timers.v1.MsgPauseTimer" => TimersCall::Pause(MsgPauseTimer::decode(bytes)?),
            "/timers.v1.MsgResumeTimer" => TimersCall::Resume(MsgResumeTimer::decode(bytes)?),
            "/timers.v1.MsgSkipTimer" => TimersCall::Skip(MsgSkipTimer::decode(bytes)?),
            "/timers.v1.MsgRunTimer" => TimersCall::Run(MsgRunTimer::decode(bytes)?),
            "/timers.v1.MsgSetAgent" => TimersCall::SetAgent(MsgSetAgent::decode(bytes)?),
            other => panic!("cw-timers-test knows the messages of contracts to the module, and not {other}"),
        };
        self.handle((api, storage, block), router, sender, call)
    }

    fn query_grpc(
        &self,
        _api: &dyn Api,
        storage: &dyn Storage,
        _querier: &dyn Querier,
        block: &BlockInfo,
        GrpcQuery { path, data }: GrpcQuery,
    ) -> AnyResult<Binary> {
        fn decoded<Q: Request>(data: &[u8]) -> AnyResult<TimersRequest> {
            Ok(Q::decode(data)?.into_json())
        }
        use cw_timers::proto::*;
        let request = match path.as_str() {
            QueryTimerRequest::PATH => decoded::<QueryTimerRequest>(&data)?,
            QueryTimersByActorRequest::PATH => decoded::<QueryTimersByActorRequest>(&data)?,
            QueryDeliveriesRequest::PATH => decoded::<QueryDeliveriesRequest>(&data)?,
            QueryAgentRequest::PATH => decoded::<QueryAgentRequest>(&data)?,
            QueryLaneRequest::PATH => decoded::<QueryLaneRequest>(&data)?,
            QueryEstimateRequest::PATH => decoded::<QueryEstimateRequest>(&data)?,
            QueryParamsRequest::PATH => decoded::<QueryParamsRequest>(&data)?,
            QueryOccurrencesRequest::PATH => decoded::<QueryOccurrencesRequest>(&data)?,
            other => return Err(AnyError::msg(format!("'{other}' path is not allowed from the contract"))),
        };
        self.view(storage, block, |view| match request {
            TimersRequest::Timer(q) => Ok(view.timer(q)?.encode()),
            TimersRequest::TimersByActor(q) => Ok(view.timers_by_actor(q)?.encode()),
            TimersRequest::Deliveries(q) => Ok(view.deliveries(q)?.encode()),
            TimersRequest::Agent(q) => Ok(view.agent(&q.actor).encode()),
            TimersRequest::Lane(_) => Ok(view.lane().encode()),
            TimersRequest::Estimate(q) => Ok(view.estimate(q)?.encode()),
            TimersRequest::Params(_) => Ok(view.params().encode()),
            TimersRequest::Occurrences(q) => Ok(view.occurrences(q)?.encode()),
            other => panic!("cw-timers-test does not know the query {other:?}"),
        })
    }
}

impl Module for Timers {
    type ExecT = TimersMsg;
    type QueryT = TimersQuery;
    type SudoT = Empty;

    fn execute<ExecC, QueryC>(
        &self,
        api: &dyn Api,
        storage: &mut dyn Storage,
        router: &dyn CosmosRouter<ExecC = ExecC, QueryC = QueryC>,
        block: &BlockInfo,
        sender: Addr,
        TimersMsg::Timers(call): TimersMsg,
    ) -> AnyResult<AppResponse>
    where
        ExecC: CustomMsg + DeserializeOwned + 'static,
        QueryC: CustomQuery + DeserializeOwned + 'static,
    {
        // As on the wire: what JSON says, and no more.
        let mut call = from_json(to_json_binary(&call)?)?;
        let spec = match &mut call {
            TimersCall::Schedule(msg) => msg.spec.as_mut(),
            TimersCall::Update(msg) => msg.spec.as_mut(),
            _ => None,
        };
        if let Some(call) = spec.and_then(|spec| spec.call.as_mut()) {
            call.messages = std::mem::take(&mut call.messages).into_iter().map(encode).collect::<AnyResult<_>>()?;
        }
        self.handle((api, storage, block), router, sender, call)
    }

    fn query(
        &self,
        _api: &dyn Api,
        storage: &dyn Storage,
        _querier: &dyn Querier,
        block: &BlockInfo,
        TimersQuery::Timers(request): TimersQuery,
    ) -> AnyResult<Binary> {
        self.view(storage, block, |view| match request {
            TimersRequest::Timer(q) => Ok(to_json_binary(&view.timer(q)?)?),
            TimersRequest::TimersByActor(q) => Ok(to_json_binary(&view.timers_by_actor(q)?)?),
            TimersRequest::Deliveries(q) => Ok(to_json_binary(&view.deliveries(q)?)?),
            TimersRequest::Agent(q) => Ok(to_json_binary(&view.agent(&q.actor))?),
            TimersRequest::Lane(_) => Ok(to_json_binary(&view.lane())?),
            TimersRequest::Estimate(q) => Ok(to_json_binary(&view.estimate(q)?)?),
            TimersRequest::Params(_) => Ok(to_json_binary(&view.params())?),
            TimersRequest::Occurrences(q) => Ok(to_json_binary(&view.occurrences(q)?)?),
            other => panic!("cw-timers-test does not know the query {other:?}"),
        })
    }

    fn sudo<ExecC, QueryC>(
        &self,
        _api: &dyn Api,
        _storage: &mut dyn Storage,
        _router: &dyn CosmosRouter<ExecC = ExecC, QueryC = QueryC>,
        _block: &BlockInfo,
        _msg: Empty,
    ) -> AnyResult<AppResponse>
    where
        ExecC: CustomMsg + DeserializeOwned + 'static,
        QueryC: CustomQuery + DeserializeOwned + 'static,
    {
        Err(AnyError::msg("the module has no privileged message: see Timers::change_config"))
    }
}

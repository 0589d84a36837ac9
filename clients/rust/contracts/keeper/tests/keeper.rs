//! A vault that must be tended, and a keeper that does it.

use cosmwasm_std::{coins, to_json_binary, Addr, Binary, Empty};
use cw_multi_test::{BankSudo, ContractWrapper, Executor, SudoMsg as AppSudo};
use cw_timers::TimerId;
use cw_timers_test::{Timers, TimersApp};
use timers_keeper::{execute, instantiate, query, reply, sudo, ExecuteMsg, InstantiateMsg, Job, QueryMsg, When};
use timers_vault as vault;

struct World {
    timers: Timers,
    app: TimersApp,
    vault: Addr,
    keeper: Addr,
    owner: Addr,
}

fn world() -> World {
    let timers = Timers::default();
    let mut app = timers.app();
    let owner = app.api().addr_make("owner");
    let vaults = app.store_code(Box::new(ContractWrapper::new(vault::execute, vault::instantiate, vault::query)));
    let vault = app.instantiate_contract(vaults, owner.clone(), &Empty {}, &[], "vault", None).unwrap();
    let code =
        app.store_code(Box::new(ContractWrapper::new(execute, instantiate, query).with_reply(reply).with_sudo(sudo)));
    let keeper = app.instantiate_contract(code, owner.clone(), &InstantiateMsg {}, &[], "keeper", None).unwrap();
    let mint = BankSudo::Mint { to_address: keeper.to_string(), amount: coins(100_000, "utmr") };
    app.sudo(AppSudo::Bank(mint)).unwrap();
    World { timers, app, vault, keeper, owner }
}

impl World {
    fn keep(&mut self, when: When, max_charge: Option<u128>) -> TimerId {
        let msg = ExecuteMsg::Keep {
            contract: self.vault.to_string(),
            msg: to_json_binary(&vault::ExecuteMsg::Refill {}).unwrap(),
            when,
            gas_limit: 400_000,
            max_charge: max_charge.map(Into::into),
        };
        let response = self.app.execute_contract(self.owner.clone(), self.keeper.clone(), &msg, &[]).unwrap();
        let named = response.events.iter().flat_map(|e| &e.attributes).find(|a| a.key == "timer").unwrap();
        TimerId::new(&named.value).unwrap()
    }

    fn set(&mut self, level: u64) {
        let msg = vault::ExecuteMsg::Set { level };
        self.app.execute_contract(self.owner.clone(), self.vault.clone(), &msg, &[]).unwrap();
    }

    fn level(&self) -> u64 {
        self.app.wrap().query_wasm_smart(&self.vault, &Empty {}).unwrap()
    }

    fn job(&self, timer: &TimerId) -> Job {
        self.app.wrap().query_wasm_smart(&self.keeper, &QueryMsg::Job { timer: timer.clone() }).unwrap()
    }
}

#[test]
fn it_calls_every_so_many_blocks_and_counts_refusals() {
    let mut world = world();
    let id = world.keep(When::Every { blocks: 5 }, None);
    world.set(3);
    let blocks = world.timers.run_to(&mut world.app, 16);
    assert!(blocks.iter().flat_map(|b| &b.fires).all(|f| f.success));
    assert_eq!(world.level(), 1_000);
    let job = world.job(&id);
    assert_eq!((job.done, job.refused), (1, 2));
}

#[test]
fn it_calls_when_a_value_falls_below_a_bound() {
    let mut world = world();
    let key = Binary::from(vault::LEVEL.as_slice());
    let id = world.keep(When::Below { key, bound: 100u128.into(), cooldown: 1 }, None);
    world.timers.next_block(&mut world.app);
    world.set(100);
    assert!(world.timers.next_block(&mut world.app).fires.is_empty());
    world.set(99);
    let block = world.timers.next_block(&mut world.app);
    assert_eq!((block.only_fire().unwrap().late, world.level()), (0, 1_000), "in the same block");
    world.timers.blocks(&mut world.app, 5);
    world.set(5);
    world.timers.next_block(&mut world.app);
    assert_eq!((world.level(), world.job(&id).done), (1_000, 2));
}

#[test]
fn it_pays_no_more_than_its_owner_says() {
    let mut world = world();
    // 400 + 150 are needed.
    let id = world.keep(When::Every { blocks: 1 }, Some(549));
    world.set(3);
    assert!(world.timers.run_to(&mut world.app, 5).iter().all(|b| b.fires.is_empty()));
    let drop = ExecuteMsg::Drop { timer: id };
    let stranger = world.app.api().addr_make("stranger");
    world.app.execute_contract(stranger, world.keeper.clone(), &drop, &[]).unwrap_err();
    world.app.execute_contract(world.owner.clone(), world.keeper.clone(), &drop, &[]).unwrap();
    world.keep(When::Every { blocks: 1 }, Some(550));
    world.timers.run_to(&mut world.app, 7);
    assert_eq!(world.level(), 1_000);
}

#[test]
fn its_owner_resumes_a_job_that_could_not_be_paid() {
    let mut world = world();
    let id = world.keep(When::Every { blocks: 3 }, None);
    world.set(3);
    let withdraw = ExecuteMsg::Withdraw { amount: coins(99_900, "utmr") };
    world.app.execute_contract(world.owner.clone(), world.keeper.clone(), &withdraw, &[]).unwrap();
    let block = world.timers.run_to(&mut world.app, 4).pop().unwrap();
    assert_eq!((block.fires.len(), block.on_hold.len()), (0, 1));
    world.app.send_tokens(world.owner.clone(), world.keeper.clone(), &coins(9_900, "utmr")).unwrap();
    assert!(world.timers.run_to(&mut world.app, 9).iter().all(|b| b.fires.is_empty()));
    let resume = ExecuteMsg::Resume { timer: id.clone() };
    let stranger = world.app.api().addr_make("stranger");
    world.app.execute_contract(stranger, world.keeper.clone(), &resume, &[]).unwrap_err();
    world.app.execute_contract(world.owner.clone(), world.keeper.clone(), &resume, &[]).unwrap();
    world.timers.run_to(&mut world.app, 11).pop().unwrap().only_fire().unwrap();
    assert_eq!((world.level(), world.job(&id).done), (1_000, 1));
}

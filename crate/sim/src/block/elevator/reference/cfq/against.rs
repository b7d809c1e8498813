//! The simulator's CFQ against the reference: the same random lives, the same answers.

use super::cast::{Cast, Roles, cast};
use super::tests::kernel;
use super::vectors::CASES;
use super::{Cfq as PlainCfq, Kernel, Patches, Tunables};
use crate::block::elevator::cfq::{Cfq, CfqTunables};
use crate::block::elevator::reference::driver::{Action, Subject, actions, compare, machine};
use crate::block::elevator::reference::fast::Fast;
use crate::block::elevator::reference::plain::Plain;
use crate::engine::Clock;
use crate::kernel::Policy;
use crate::scenario::FileSystemKind;
use proptest::prelude::*;

/// A release's name in scenarios, and the patches' names. `None` if the patches do not go together
/// or not on this release.
fn policy(kernel: Kernel, patches: Patches) -> Option<Policy> {
    let release = match kernel {
        Kernel::V30 => "2.6.31",
        Kernel::V32Rc1 => "2.6.32-rc1",
        Kernel::V32Rc3 => "2.6.32-rc3",
        Kernel::V32Rc5 => "2.6.32-rc5",
        Kernel::V32 => "2.6.32",
        Kernel::For33 => "for-2.6.33",
        Kernel::V33 => "2.6.33",
        Kernel::V34 => "2.6.35",
        Kernel::V36 => "2.6.36",
        Kernel::V37 => "2.6.37",
        Kernel::V38 => "2.6.38",
    };
    let both = patches.noidle_leaves_sync_tree && patches.always_try_to_idle;
    let names: Vec<String> = [
        (patches.only_8e55063, "8e55063"),
        (patches.revert_8e55063, "revert-8e55063"),
        (patches.revert_c04645e592d, "revert-c04645e"),
        (patches.rq_noidle_pair, "rq-noidle-pair"),
        (both, "749ef9f"),
        (patches.noidle_leaves_sync_tree && !both, "noidle-tree"),
        (patches.async_ramp_up, "async-ramp-up"),
    ]
    .into_iter()
    .filter(|(applied, _)| *applied)
    .map(|(_, name)| name.to_owned())
    .collect();
    let possible = !patches.always_try_to_idle || both;
    let policy = Policy::new(release, &names, FileSystemKind::Ext4).ok()?;
    (possible && names.len() <= 1).then_some(policy)
}

fn tunables(tunables: Tunables) -> CfqTunables {
    CfqTunables {
        quantum: tunables.quantum,
        fifo_expire_jiffies: tunables.fifo_expire,
        back_seek_max_sectors: tunables.back_seek_max_kib * 2,
        back_seek_penalty: tunables.back_seek_penalty,
        slice_jiffies: tunables.slice,
        slice_async_rq: tunables.slice_async_rq,
        slice_idle_jiffies: tunables.slice_idle,
        group_idle_jiffies: tunables.group_idle,
        low_latency: tunables.low_latency,
    }
}

fn product(kernel: Kernel, patches: Patches, tuned: Tunables) -> Cfq {
    let policy = policy(kernel, patches).expect("the patches fit the release");
    Cfq::new(policy.cfq, tunables(tuned), &Clock::new(tuned.hz as u32, false))
}

/// An io context that has exited does not come back.
fn without_ghosts(actions: Vec<Action>, roles: &Roles) -> Vec<Action> {
    let io_context = |process: u8| roles[usize::from(process)].2;
    let mut gone = Vec::new();
    let lives = |action: &Action| match action {
        Action::Submit { process, .. } => !gone.contains(&io_context(*process)),
        Action::Exit(process) => {
            gone.push(io_context(*process));
            true
        }
        _ => true,
    };
    actions.into_iter().filter(lives).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    /// Every release, every patch that fits it, any tunables: the same requests in the same order at
    /// the same jiffies, the same queue served, the same idle timer.
    #[test]
    fn cfq_agrees_with_its_reference(
        (kernel, patches, tuned) in kernel().prop_filter("patches do not fit", |(kernel, patches, _)| {
            policy(*kernel, *patches).is_some()
        }),
        mut machine in machine(),
        actions in actions(300),
        roles in cast(),
    ) {
        let actions = without_ghosts(actions, &roles);
        machine.start_jiffies = Clock::new(tuned.hz as u32, false).jiffies(0);
        let mut fast = Fast::new(product(kernel, patches, tuned), machine.device);
        let mut plain = Plain::new(PlainCfq::new(kernel, patches, tuned), machine.device);
        let (mut one, mut other) = (Cast::new(&mut fast, roles), Cast::new(&mut plain, roles));
        let outcome = compare(machine, &mut one, &mut other, &actions);
        prop_assert!(outcome.is_ok(), "{:?}\n{}", outcome, decisions(&fast, &plain));
    }
}

/// The last decisions of both, for the message.
fn decisions(fast: &Fast<Cfq>, plain: &Plain<PlainCfq>) -> String {
    const LAST: usize = 12;
    let events = fast.recorder.events();
    let mut lines = vec!["the simulator's last events:".to_owned()];
    for event in &events[events.len().saturating_sub(LAST)..] {
        lines.push(format!("{} {:?}", event.time_ns / 1_000_000, event.kind));
    }
    lines.push("the reference's last decisions:".to_owned());
    let log = &plain.rules.log;
    lines.extend(log[log.len().saturating_sub(LAST)..].iter().map(|entry| format!("{entry:?}")));
    lines.join("\n")
}

/// Section 10 against the simulator's CFQ.
#[test]
fn the_simulators_cfq_passes_every_vector() {
    let make = |kernel, patches, tuned, device| -> Box<dyn Subject> {
        Box::new(Fast::new(product(kernel, patches, tuned), device))
    };
    for (name, case) in CASES {
        println!("{name}");
        case(&make);
    }
}

//! The state of the model, and what each action does to it.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use super::scripts::{Expected, Held, Mode, admit, grant};
use crate::Role;
use crate::changes::{
    BaseValue, LogState, LogValue, Plan, Progress, PublicationContext, Readiness, Since, answer,
    decide, is_behind, judge,
};
use crate::lead::{Standing, role};
use crate::snapshots::{
    Choice, FoundTimes, Outcome, Position, Purpose, ReadTimes, VersionOrder, choose,
};
use frontend_map_catalog::changes::log::{
    Applied, Change, ChangeLog, Cursor, Entry, Filter, Kind, Origin, Part, Since as From,
};

const INSTANCES: usize = 3;
const UID: &str = "a";
const LEASE: &str = "lease";

/// How often each event may still happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RemainingEvents {
    /// Edits in the CMS.
    pub(super) edits: u8,
    /// Redis loses all data.
    pub(super) flushes: u8,
    /// Redis loses the last publication: a replica takes over.
    pub(super) failovers: u8,
    /// The lease expires although its holder runs.
    pub(super) expiries: u8,
    /// A process is stopped and goes on later.
    pub(super) pauses: u8,
    /// A process is killed, and another one starts in its place.
    pub(super) restarts: u8,
    /// The answer to a publication is lost.
    pub(super) lost: u8,
}

impl RemainingEvents {
    pub(super) const NONE: Self =
        Self { edits: 0, flushes: 0, failovers: 0, expiries: 0, pauses: 0, restarts: 0, lost: 0 };
}

/// A safeguard of the protocol, without which a property does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Safeguard {
    /// The script of a publication compares the lease.
    Lease,
    /// It compares the version that the publisher knows.
    Version,
    /// Epochs grow also after a flush.
    Epochs,
    /// An older version is not adopted.
    Order,
    /// A version of another leader is not adopted if that had read less.
    Freshness,
    /// Changes continue from the version that the log has, else the log begins again.
    Base,
    /// Readers that read all pages wait until the instance has adopted what the log has.
    Wait,
}

/// The properties that were violated on the way to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Violations(u8);

impl Violations {
    const NONE: Self = Self(0);
    pub(super) const BACKWARD: Self = Self(1);
    pub(super) const TWO_LEADERS: Self = Self(2);
    pub(super) const LOST: Self = Self(4);
    pub(super) const INVENTED: Self = Self(8);

    pub(super) fn contains(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn add(&mut self, other: Self, is: bool) {
        self.0 |= if is { other.0 } else { 0 };
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Action {
    Edit,
    Flush,
    Failover,
    Expire,
    /// Of an instance: a heartbeat.
    Beat(usize),
    /// It takes over as the new leader.
    TakeOver(usize),
    /// It walks the CMS as the leader.
    Walk(usize),
    /// It finds that another version than its own is published, or that the log lacks it, and publishes
    /// its own again.
    Repair(usize),
    /// It prepares a publication and sends it.
    Send(usize),
    /// Redis runs the script that it has sent.
    Arrive(usize),
    /// Redis runs it, and the answer is lost.
    ArriveUnanswered(usize),
    /// It adopts what is published.
    Adopt(usize),
    /// It reads the change log.
    ReadLog(usize),
    /// The reader asks it.
    Ask(usize),
    Pause(usize),
    Resume(usize),
    Restart(usize),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ModelState {
    cms: u8,
    redis: Redis,
    /// Redis before the last publication.
    replica: Option<Box<Redis>>,
    instances: Vec<Instance>,
    reader: Option<Reader>,
    has_reader: bool,
    remaining: RemainingEvents,
    /// How many epochs were given out, which is the clock of Redis.
    clock: u64,
    /// How many logs have begun.
    logs: u64,
    incarnation: u8,
    last_write: Option<Held<u64>>,
    pub(super) violations: Violations,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Redis {
    lease: Option<Held<u64>>,
    epochs: u64,
    pointer: Option<Version>,
    log: Option<Log>,
}

/// A published version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Version {
    position: Position,
    list: List,
    /// The time of its publication.
    published: u8,
}

/// A list: all edits up to `content`, as it was read then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct List {
    content: u8,
}

impl List {
    fn read_times(self) -> ReadTimes {
        let (hash, read) = (self.content.into(), instant(self.content));
        ReadTimes { hash, begun: read, as_of: read }
    }
}

/// The instant of an edit.
fn instant(edit: u8) -> Instant {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    *BEGIN + Duration::from_mins(edit.into())
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Log {
    id: u64,
    base: Option<Position>,
    /// The content of the list at the base.
    content: Option<u8>,
    steps: Vec<Step>,
}

/// A change of the log: of this content into that one, by this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Step {
    from: u8,
    to: u8,
    by: Position,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Instance {
    is_paused: bool,
    incarnation: u8,
    known_epoch: u64,
    epoch: Option<u64>,
    ready: u64,
    /// The position of the pointer that was read last.
    at: Option<Position>,
    version: Option<Version>,
    largest: u64,
    /// What it serves.
    list: Option<List>,
    /// Whether a publication is requested, and whether also of the same list.
    wants: Option<bool>,
    sent: Option<Box<Sent>>,
    outcome: Option<Outcome>,
    log: Option<LogReplica>,
    settled: Option<(Position, u8)>,
    /// Distinguishes processes: one that starts in place of another has another number.
    id: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Sent {
    expected: Expected<Option<Held<u64>>, Option<Position>, LogFields>,
    version: Version,
    append: Append,
}

/// The identity, the end and the base of the log, as far as the script compares them.
type LogFields = (Option<u64>, Option<Option<usize>>, Option<Option<Position>>);

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Append {
    Nothing,
    Restart,
    Step(Option<Step>),
}

/// The log as an instance knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct LogReplica {
    id: u64,
    steps: Vec<Step>,
    base: Option<Position>,
    incarnation: u8,
}

impl LogReplica {
    /// Whether it was read of this log in this session.
    fn is(&self, log: &Log, incarnation: u8) -> bool {
        (self.id, self.base, self.incarnation) == (log.id, log.base, incarnation)
            && self.steps == log.steps
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Reader {
    cursor: (u64, u64),
    content: u8,
    /// Whether its content has come by a change.
    is_changed: bool,
}

impl ModelState {
    /// The first instance leads, and all serve what it has published; with `reader`, the reader knows it.
    pub(super) fn new(remaining: RemainingEvents, reader: bool) -> Self {
        let position = Position { epoch: 1, version: 1 };
        let list = List { content: 1 };
        let version = Version { position, list, published: 1 };
        let lease = Held { holder: 1, epoch: 1 };
        let log = Log { id: 1, base: Some(position), content: Some(1), steps: Vec::new() };
        let instance = |id| Instance {
            id,
            known_epoch: 1,
            at: Some(position),
            version: Some(version),
            largest: 1,
            list: Some(list),
            log: Some(LogReplica {
                id: 1,
                steps: Vec::new(),
                base: Some(position),
                incarnation: 0,
            }),
            settled: Some((position, 1)),
            ..Instance::default()
        };
        let mut instances: Vec<Instance> = (1..=INSTANCES as u64).map(instance).collect();
        (instances[0].epoch, instances[0].ready) = (Some(1), 1);
        let (pointer, lease, log) = (Some(version), Some(lease), Some(log));
        let redis = Redis { lease, epochs: 1, pointer, log };
        Self {
            cms: 1,
            redis,
            replica: None,
            instances,
            reader: None,
            has_reader: reader,
            remaining,
            clock: 1,
            logs: 1,
            incarnation: 0,
            last_write: Some(Held { holder: 1, epoch: 1 }),
            violations: Violations::NONE,
        }
        .canonical()
    }

    pub(super) fn all_serve(&self, content: u8) -> bool {
        self.instances.iter().all(|one| one.list.is_some_and(|list| list.content == content))
    }

    pub(super) fn reader_has(&self, content: u8) -> bool {
        self.reader.is_some_and(|reader| reader.is_changed && reader.content == content)
    }

    /// This state with its instances in a fixed order, because nothing depends on the order.
    pub(super) fn canonical(mut self) -> Self {
        self.instances.sort_unstable();
        let ids: Vec<u64> = self.instances.iter().map(|one| one.id).collect();
        let new = |id: u64| (1..).zip(&ids).find(|(_, old)| **old == id).map_or(0, |(new, _)| new);
        let rename = |held: &mut Option<Held<u64>>| {
            if let Some(held) = held {
                held.holder = new(held.holder);
            }
        };
        rename(&mut self.redis.lease);
        rename(&mut self.last_write);
        if let Some(replica) = &mut self.replica {
            rename(&mut replica.lease);
        }
        for instance in &mut self.instances {
            instance.id = new(instance.id);
            if let Some(sent) = &mut instance.sent {
                rename(&mut sent.expected.lease);
            }
        }
        self
    }

    pub(super) fn actions(&self, actions: &mut Vec<Action>) {
        if self.violations != Violations::NONE {
            return;
        }
        let remaining = self.remaining;
        let global = [
            (remaining.edits, Action::Edit),
            (remaining.flushes, Action::Flush),
            (remaining.failovers, Action::Failover),
            (remaining.expiries, Action::Expire),
        ];
        actions.extend(
            global.into_iter().filter(|(remaining, _)| *remaining > 0).map(|(_, action)| action),
        );
        for (at, instance) in self.instances.iter().enumerate() {
            if remaining.restarts > 0 {
                actions.push(Action::Restart(at));
            }
            if instance.sent.is_some() && instance.outcome.is_none() {
                actions.push(Action::Arrive(at));
                if remaining.lost > 0 {
                    actions.push(Action::ArriveUnanswered(at));
                }
            }
            if instance.is_paused {
                actions.push(Action::Resume(at));
                continue;
            }
            if remaining.pauses > 0 {
                actions.push(Action::Pause(at));
            }
            actions.extend([
                Action::Beat(at),
                Action::TakeOver(at),
                Action::Walk(at),
                Action::Repair(at),
                Action::Send(at),
                Action::Adopt(at),
            ]);
            if self.has_reader {
                actions.extend([Action::ReadLog(at), Action::Ask(at)]);
            }
        }
    }

    /// Returns whether the action is possible and changes the state.
    pub(super) fn run(&mut self, action: Action, without: Option<Safeguard>) -> bool {
        match action {
            Action::Edit => {
                self.remaining.edits -= 1;
                self.cms += 1;
            }
            Action::Flush => {
                self.remaining.flushes -= 1;
                self.redis = Redis::default();
                self.replica = None;
                self.incarnation += 1;
                if without == Some(Safeguard::Epochs) {
                    self.clock = 0;
                }
            }
            Action::Failover => {
                let Some(replica) = self.replica.take() else { return false };
                self.remaining.failovers -= 1;
                self.redis = *replica;
            }
            Action::Expire => {
                let Some(lease) = self.redis.lease.take() else { return false };
                self.remaining.expiries -= 1;
                // By its own clock, the holder has noticed it before.
                let holder = self.instances.iter_mut().find(|one| one.id == lease.holder);
                if let Some(holder) = holder {
                    holder.epoch = None;
                }
            }
            Action::Beat(at) => return self.beat(at, without),
            Action::TakeOver(at) => return self.take_over(at, without),
            Action::Walk(at) => return self.walk(at),
            Action::Repair(at) => return self.repair(at),
            Action::Send(at) => return self.send(at, without),
            Action::Arrive(at) => self.arrive(at, true, without),
            Action::ArriveUnanswered(at) => {
                self.remaining.lost -= 1;
                self.arrive(at, false, without);
            }
            Action::Adopt(at) => return self.adopt(at, without),
            Action::ReadLog(at) => {
                let before = (self.instances[at].log.clone(), self.logs);
                self.read_log(at);
                return before != (self.instances[at].log.clone(), self.logs);
            }
            Action::Ask(at) => return self.ask(at, without),
            Action::Pause(at) => {
                self.remaining.pauses -= 1;
                self.instances[at].is_paused = true;
                // The lease of a process that is paused for seconds expires.
                if self.redis.lease.is_some_and(|lease| lease.holder == self.instances[at].id) {
                    self.redis.lease = None;
                }
                self.instances[at].epoch = None;
            }
            Action::Resume(at) => {
                self.instances[at].is_paused = false;
                self.answered(at);
            }
            Action::Restart(at) => {
                self.remaining.restarts -= 1;
                let id = INSTANCES as u64 + 1;
                self.instances[at] = Instance { id, ..Instance::default() };
            }
        }
        true
    }

    /// The times of the version that an instance has read.
    fn times(&self, at: usize, is_new: bool, without: Option<Safeguard>) -> Option<FoundTimes> {
        let Instance { version, settled, .. } = self.instances[at];
        let Version { position, list, published } = version?;
        let served =
            settled.map(|(position, content)| VersionOrder { position, hash: content.into() });
        let is_timed = without != Some(Safeguard::Freshness);
        Some(FoundTimes {
            epoch: position.epoch,
            begun: instant(list.content),
            as_of: instant(if is_timed { list.content } else { u8::MAX }),
            published: instant(published),
            is_new,
            served,
        })
    }

    fn role(&self, at: usize) -> Role {
        let Instance { epoch, ready, .. } = self.instances[at];
        role(Standing { is_alone: false, epoch, ready })
    }

    fn beat(&mut self, at: usize, without: Option<Safeguard>) -> bool {
        let instance = &mut self.instances[at];
        let before = (self.redis.clone(), instance.clone());
        let known = if without == Some(Safeguard::Epochs) { 0 } else { instance.known_epoch };
        let count = self.redis.epochs;
        let now = if without == Some(Safeguard::Epochs) { 0 } else { self.clock + 1 };
        let held = grant(self.redis.lease, instance.id, known, &mut self.redis.epochs, now);
        if self.redis.epochs != count {
            self.clock += 1;
        }
        self.redis.lease = Some(held);
        instance.known_epoch = instance.known_epoch.max(held.epoch);
        instance.epoch = (held.holder == instance.id).then_some(held.epoch);
        instance.incarnation = self.incarnation;
        before.0 != self.redis || before.1 != *instance
    }

    /// Reads the published version. Returns whether another one is known now.
    fn read_version(&mut self, at: usize, purpose: Purpose, without: Option<Safeguard>) -> bool {
        let instance = &mut self.instances[at];
        let Some(found) = self.redis.pointer else {
            (instance.at, instance.version) = (None, None);
            return false;
        };
        instance.largest = instance.largest.max(found.position.version);
        let order = |version: Version| VersionOrder {
            position: version.position,
            hash: version.list.content.into(),
        };
        let known = instance.version.map(order);
        let choice = match choose(known.as_ref(), &order(found), purpose) {
            Choice::Ignore if without == Some(Safeguard::Order) => Choice::Read,
            choice => choice,
        };
        instance.at = Some(found.position);
        if choice == Choice::Read {
            instance.version = Some(found);
        }
        choice == Choice::Read
    }

    /// Serves the version that was read last.
    fn serve(&mut self, at: usize) {
        let instance = &mut self.instances[at];
        let Some(Version { position, list, .. }) = instance.version else { return };
        let is_older = instance.list.is_some_and(|own| own.content > list.content);
        self.violations.add(Violations::BACKWARD, is_older);
        instance.list = Some(list);
        instance.settled = Some((position, list.content));
        instance.wants = None;
    }

    fn take_over(&mut self, at: usize, without: Option<Safeguard>) -> bool {
        let Instance { epoch, ready, ref sent, .. } = self.instances[at];
        let Some(epoch) = epoch.filter(|epoch| *epoch != ready && sent.is_none()) else {
            return false;
        };
        let is_new = self.read_version(at, Purpose::Lead, without);
        let own = self.instances[at].list.map(List::read_times);
        let found = self.times(at, is_new, without);
        if found.is_some_and(|found| found.is_wanted_by_leader(own)) {
            self.serve(at);
        }
        let instance = &mut self.instances[at];
        instance.ready = epoch;
        instance.wants = instance.list.map(|_| instance.wants.unwrap_or(false));
        true
    }

    fn walk(&mut self, at: usize) -> bool {
        let cms = self.cms;
        let leads = matches!(self.role(at), Role::Leader(_));
        let instance = &mut self.instances[at];
        if !leads || instance.list.is_some_and(|own| own.content == cms) {
            return false;
        }
        instance.list = Some(List { content: cms });
        instance.wants.get_or_insert(false);
        true
    }

    fn repair(&mut self, at: usize) -> bool {
        let found = self.redis.pointer.map(|pointer| pointer.position);
        let leads = matches!(self.role(at), Role::Leader(_));
        let lacks_base = self.redis.log.as_ref().is_some_and(|log| log.base.is_none());
        let instance = &mut self.instances[at];
        let is_other = (instance.at != found || lacks_base) && instance.settled.is_some();
        if !leads || !is_other || instance.sent.is_some() || instance.wants == Some(true) {
            return false;
        }
        instance.wants = Some(true);
        true
    }

    fn send(&mut self, at: usize, without: Option<Safeguard>) -> bool {
        let (role, log, cms) = (self.role(at), self.log_state(at), self.cms);
        let instance = &mut self.instances[at];
        let (Some(wants_base), Some(list), None) = (instance.wants, instance.list, &instance.sent)
        else {
            return false;
        };
        let Role::Leader(epoch) = role else {
            instance.wants = None;
            return true;
        };
        let before = instance.version;
        instance.wants = None;
        if !wants_base && before.is_some_and(|before| before.list == list) {
            return true;
        }
        let position = Position { epoch, version: instance.largest + 1 };
        let known = before.map(|before| before.position.to_string());
        let context = PublicationContext {
            uid: UID,
            lease: LEASE,
            before: known.as_deref(),
            read: self.redis.log.as_ref().and_then(|log| {
                let log_replica =
                    instance.log.as_ref().filter(|log_replica| log_replica.id == log.id)?;
                Some(log_replica.steps.len() as u64)
            }),
        };
        let mut plan = decide(&context, log);
        if let (Plan::Restart(_), Some(log), Some(Safeguard::Base)) =
            (&plan, &self.redis.log, without)
        {
            let (log, steps) = (log.id, log.steps.len() as u64);
            let since = Since::Published;
            plan = Plan::Append { log, last: steps, since };
        }
        let append = match plan {
            _ if !self.has_reader => Append::Nothing,
            Plan::Nothing => Append::Nothing,
            Plan::Restart(_) => Append::Restart,
            Plan::Append { since, .. } => {
                let from = match (since, before) {
                    (Since::Published, Some(before)) => before.list.content,
                    (Since::NoPages, _) => 0,
                    _ => instance.settled.map_or(list.content, |(_, content)| content),
                };
                let step = Step { from, to: list.content, by: position };
                Append::Step(Some(step).filter(|step| step.from != step.to))
            }
        };
        let lease = Some(Held { holder: instance.id, epoch });
        let log = log_fields(self.redis.log.as_ref(), &append);
        let expected = Expected { lease, at: instance.at, log };
        // The time is that of the preparation.
        let version = Version { position, list, published: cms };
        instance.sent = Some(Box::new(Sent { expected, version, append }));
        true
    }

    /// The log as [`decide`] gets it.
    fn log_state(&self, at: usize) -> LogState {
        let Some(log) = &self.redis.log else {
            let was_there = self.instances[at].log.is_some();
            return LogState::Missing(if was_there {
                "Redis has lost it"
            } else {
                "there is none"
            });
        };
        let value = LogValue { log: log.id, types: vec![UID.to_owned()], lease: LEASE.to_owned() };
        let base = log.base.map(|at| BaseValue { log: log.id, position: at.to_string() });
        LogState::Usable { log: value, last: log.steps.len() as u64, base }
    }

    fn arrive(&mut self, at: usize, is_answered: bool, without: Option<Safeguard>) {
        let sent = self.instances[at].sent.clone().expect("it arrives only once it is sent");
        let expected = &sent.expected;
        let mut now = Expected {
            lease: self.redis.lease,
            at: self.redis.pointer.map(|pointer| pointer.position),
            log: log_fields(self.redis.log.as_ref(), &sent.append),
        };
        match without {
            Some(Safeguard::Lease) => now.lease = expected.lease,
            Some(Safeguard::Version) => now.at = expected.at,
            _ => {}
        }
        let outcome = admit(&now, expected);
        if outcome == Outcome::Published {
            self.publish(at, &sent);
        }
        let instance = &mut self.instances[at];
        if is_answered {
            instance.outcome = Some(outcome);
            if !instance.is_paused {
                self.answered(at);
            }
        } else {
            // The publication is requested again.
            instance.sent = None;
            instance.wants.get_or_insert(false);
        }
    }

    fn publish(&mut self, at: usize, Sent { version, append, .. }: &Sent) {
        if self.remaining.failovers > 0 {
            self.replica = Some(Box::new(self.redis.clone()));
        }
        let write = Held { holder: self.instances[at].id, epoch: version.position.epoch };
        let is_late = self.last_write.is_some_and(|last| {
            write.epoch < last.epoch || (write.epoch == last.epoch && write.holder != last.holder)
        });
        let is_foreign = self.redis.lease.is_some_and(|lease| lease.holder != write.holder);
        self.violations.add(Violations::TWO_LEADERS, is_late || is_foreign);
        let is_older = self.redis.pointer.is_some_and(|last| version.position <= last.position);
        self.violations.add(Violations::BACKWARD, is_older);
        self.last_write = Some(write);
        self.redis.pointer = Some(*version);
        let (base, content) = (Some(version.position), Some(version.list.content));
        match append {
            Append::Nothing => {}
            Append::Restart => {
                self.logs += 1;
                self.redis.log = Some(Log { id: self.logs, base, content, steps: Vec::new() });
            }
            Append::Step(step) => {
                let Some(log) = &mut self.redis.log else { return };
                let is_invented = step
                    .is_some_and(|step| log.content.is_some_and(|content| content != step.from))
                    || (step.is_none() && log.content.is_some_and(|known| Some(known) != content));
                self.violations.add(Violations::INVENTED, is_invented);
                log.steps.extend(*step);
                (log.base, log.content) = (base, content);
            }
        }
    }

    fn answered(&mut self, at: usize) {
        let Some(outcome) = self.instances[at].outcome.take() else { return };
        let instance = &mut self.instances[at];
        let sent = instance.sent.take().expect("its answer has come");
        match outcome {
            Outcome::Published => {
                let Version { position, list, .. } = sent.version;
                instance.largest = instance.largest.max(position.version);
                (instance.at, instance.version) = (Some(position), Some(sent.version));
                instance.settled = Some((position, list.content));
            }
            Outcome::OtherVersion => {
                let found = self.redis.pointer;
                let version = found.map_or(0, |found| found.position.version);
                instance.largest = instance.largest.max(version);
                (instance.at, instance.version) = (found.map(|found| found.position), None);
                instance.wants = Some(true);
            }
            Outcome::OtherChanges | Outcome::Expired => instance.wants = Some(true),
            Outcome::NotHolder => {}
        }
    }

    fn adopt(&mut self, at: usize, without: Option<Safeguard>) -> bool {
        let instance = &self.instances[at];
        if instance.epoch.is_some() || instance.sent.is_some() {
            return false;
        }
        let before = instance.clone();
        let is_new = self.read_version(at, Purpose::Follow, without);
        let Instance { list, version, .. } = self.instances[at];
        let is_same = version.is_some_and(|found| list == Some(found.list));
        let found = self.times(at, is_new, without);
        let own = list.map(List::read_times);
        if is_same || found.is_some_and(|found| found.is_wanted_by_follower(own)) {
            self.serve(at);
        }
        before != self.instances[at]
    }

    fn read_log(&mut self, at: usize) {
        loop {
            let incarnation = self.instances[at].incarnation;
            let Some(found) = self.redis.log.clone() else {
                self.begin_log();
                continue;
            };
            if self.instances[at].log.as_ref().is_some_and(|known| known.is(&found, incarnation)) {
                return;
            }
            let (log, known) = self.change_log(at);
            let tail = known.and_then(|known| {
                let last = known.steps.len().checked_sub(1)?;
                (known.id == found.id).then(|| (known.steps.get(last), found.steps.get(last)))
            });
            let differs = tail.is_some_and(|(own, other)| other.is_some() && own != other);
            let last = found.steps.len() as u64;
            let before = log.follow(UID, found.id, 0);
            let parts = found.steps.iter().skip(usize::try_from(before).unwrap_or(usize::MAX));
            let parts: Vec<Step> = parts.copied().collect();
            let mut progress = judge(before, last, parts.is_empty());
            if progress == Progress::More {
                for (step, sequence) in parts.iter().zip(before + 1..) {
                    assert_eq!(log.apply(UID, part(found.id, sequence, *step)), Applied::Appended);
                }
                progress = judge(log.present(UID).sequence, last, false);
            }
            if differs || matches!(progress, Progress::Unusable(_)) {
                self.begin_log();
                continue;
            }
            let Log { id, base, steps, .. } = found;
            self.instances[at].log = Some(LogReplica { id, steps, base, incarnation });
            return;
        }
    }

    fn begin_log(&mut self) {
        self.logs += 1;
        self.redis.log = Some(Log { id: self.logs, base: None, content: None, steps: Vec::new() });
    }

    /// The log of an instance.
    fn change_log(&self, at: usize) -> (ChangeLog, Option<&LogReplica>) {
        let log = ChangeLog::default();
        let log_replica = self.instances[at].log.as_ref();
        if let Some(LogReplica { id, steps, .. }) = log_replica {
            log.follow(UID, *id, 0);
            for (step, sequence) in steps.iter().zip(1..) {
                log.apply(UID, part(*id, sequence, *step));
            }
        }
        (log, log_replica)
    }

    fn ask(&mut self, at: usize, without: Option<Safeguard>) -> bool {
        let before = (self.clone_known(at), self.reader);
        let Some(list) = self.instances[at].list else { return false };
        let cursor = self.reader.map(|reader| {
            let (log, sequence) = reader.cursor;
            Cursor { log, sequence }
        });
        let (log, log_replica) = self.change_log(at);
        let is_read = log_replica
            .is_some_and(|log_replica| log_replica.incarnation == self.instances[at].incarnation);
        let is_unknown = cursor.is_some_and(|cursor| log.waiting(UID, cursor).is_none());
        if is_unknown || !is_read {
            self.read_log(at);
        }
        let (log, _) = self.change_log(at);
        let reads_pages = cursor.is_none_or(|cursor| log.waiting(UID, cursor).is_none());
        let Instance { settled, log: ref log_replica, .. } = self.instances[at];
        let base = log_replica.as_ref().and_then(|log_replica| log_replica.base);
        let is_behind = without != Some(Safeguard::Wait)
            && is_behind(settled.map(|(position, _)| position), base);
        if answer(reads_pages, is_behind) == Readiness::NotYet {
            return before != (self.clone_known(at), self.reader);
        }
        let mut steps = Vec::new();
        let filter = Filter { with_unlisted: true, kinds: Kind::ALL };
        let read = log.read(UID, cursor.map(From::Cursor), usize::MAX, filter, |change| {
            steps.push((content(change.from), content(Some(change.path))));
        });
        let cursor = (read.cursor.log, read.cursor.sequence);
        let mut reader = match self.reader {
            Some(reader) if !read.reset => Reader { cursor, ..reader },
            _ => Reader { cursor, content: list.content, is_changed: false },
        };
        for (from, to) in steps {
            self.violations.add(Violations::LOST, from > reader.content);
            self.violations.add(Violations::INVENTED, to > self.cms || from >= to);
            reader.content = reader.content.max(to);
            reader.is_changed = true;
        }
        // At the end of the log, it has all that the log has.
        if let Some(log) = &self.redis.log
            && (log.id, log.steps.len() as u64) == cursor
        {
            self.violations.add(Violations::LOST, log.content > Some(reader.content));
        }
        self.reader = Some(reader);
        before != (self.clone_known(at), self.reader)
    }

    fn clone_known(&self, at: usize) -> (Option<LogReplica>, u64) {
        (self.instances[at].log.clone(), self.logs)
    }
}

fn log_fields(log: Option<&Log>, append: &Append) -> Option<LogFields> {
    let mode = match append {
        Append::Nothing => Mode::Nothing,
        Append::Restart => Mode::Restart,
        Append::Step(step) => Mode::Append { has_changes: step.is_some() },
    };
    let (id, end) = (log.map(|log| log.id), log.map(|log| log.steps.len()));
    mode.compared(id, end, log.and_then(|log| log.base))
}

/// A step as the log has it.
fn part(log: u64, first: u64, step: Step) -> Part {
    let (path, from) = (format!("/{}", step.to), format!("/{}", step.from));
    let change = Change {
        kind: Kind::Moved,
        uid: UID,
        document_id: "d",
        locale: "en",
        path: &path,
        from: Some(&from),
        at: 0,
        was_listed: true,
        is_listed: true,
    };
    let origin = Origin { uid: String::new(), snapshot_id: String::new(), position: String::new() };
    let entries = vec![Entry::new(&change)];
    Part { log, first, origin, entries }
}

fn content(path: Option<&str>) -> u8 {
    path.and_then(|path| path.strip_prefix('/')?.parse().ok()).expect("`part` has written it")
}

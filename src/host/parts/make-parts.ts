import { ActiveRuns } from '@sluice/agent';
import { type Journal, memoryJournal, memoryStore } from '@sluice/journal';
import { eventIdOf, randomId } from '@sluice/journal/internal';
import { ExtensionSet } from '@sluice/sdk/extension';
import {
  type Clock,
  createKernel,
  definedFields,
  getOrMake,
  type Kernel,
  type KernelOptions,
  kernelError,
  type Logger,
  oneLine,
  silentLogger,
  systemClock,
} from 'sluice-kernel/internal';
import { hostError } from '../errors.js';
import { approvalCommands } from '../inquiries/approval-commands.js';
import { PersistedApprovals } from '../inquiries/persisted-approvals.js';
import { Questions } from '../inquiries/questions.js';
import { newBacklog } from '../lanes/backlog.js';
import { ReloadGate } from '../lanes/gate.js';
import { Lanes } from '../lanes/lanes.js';
import { MessageBatches } from '../lanes/message-batches.js';
import { Room } from '../lanes/room.js';
import { Shares, shareOf } from '../lanes/shares.js';
import { Slots } from '../lanes/slots.js';
import { Outbox } from '../outbox/outbox.js';
import { Accounts } from '../provided/accounts.js';
import { builtInCommands, type ChatCommand } from '../provided/chat-commands.js';
import { PendingStarts } from '../provided/pending-starts.js';
import type { HostPlugin, PluginHost, PluginOffer } from '../provided/plugins.js';
import { rolesOf } from '../provided/roles.js';
import { Routes } from '../provided/routes.js';
import { Tools } from '../provided/tools.js';
import { Texts } from '../texts/texts.js';
import { keepTimeline } from '../timeline/keep-timeline.js';
import { type TimelineRecorder, timelineRecorder } from '../timeline/timeline-recorder.js';
import { Histories } from '../transcript/histories.js';
import { checkHistoryBounds } from '../transcript/history.js';
import { ActiveStreams } from './active-streams.js';
import { ClaimedProvisions } from './claimed-provisions.js';
import { newCounts } from './counts.js';
import { extensionData } from './extension-data.js';
import type { GivenOptions } from './given-options.js';
import { onceAMinute } from './once-a-minute.js';
import { type AgentDefinition, longestJoinWithinMs, usualSendMs } from './options.js';
import type { HostParts } from './parts.js';
import { Troubles } from './troubles.js';

/** Updates that are taken in in one turn of the event loop: each is decoded, and some are written down. */
const arrivalsPerTurn = 64;

/**
 * Makes what a host's steps share, and checks its options.
 *
 * @param signal aborts when the host may not wait any longer.
 * @throws SluiceError as `createHost` says.
 */
export function partsOf(options: GivenOptions, signal: AbortSignal): HostParts {
  const { logger = silentLogger, clock = systemClock, onAmbiguousSend, lanes } = options;
  const { opened, maxAttempts = 3, lastAttemptAfterMs = 1_000 } = options.journal;
  const journal = opened ?? memoryJournal({ clock, acknowledge: 'ended' });
  const { maxRunning = 64, capacity = 100, total = 10_000 } = lanes;
  checkJournal(journal);
  checkHistoryBounds(options.session?.history ?? {});
  const offers = agentsOf(options);
  const { agents } = offers;
  const mayDefer = journal.acknowledge === 'persisted';
  const gate = new ReloadGate(clock, { suspends: mayDefer });
  const running = new Slots(maxRunning);
  const { store = opened?.store ?? memoryStore() } = options;
  const { timeline = ownTimeline(options, clock, logger) } = options;
  const kernel = kernelOf(options, timeline, { clock, logger });
  timeline.attach(kernel);
  const brought = broughtBy(options, kernel, {
    clock,
    keyValues: journal.keyValues,
    eventIdOf,
  });
  const channels = [...options.channels, ...brought.flatMap(({ offer }) => offer.channels)];
  noneTwice('duplicate-channel', channels);
  const kept = { keyValues: journal.keyValues, clock, logger, timeline };
  const approvals = new PersistedApprovals(kept, journal.ownership);
  const texts = new Texts(options);
  const ownCommands = [
    ...builtInCommands(texts),
    ...approvalCommands(approvals, texts, clock),
    ...(options.commands ?? []),
  ];
  const counts = newCounts();
  const extensions =
    options.extensions instanceof ExtensionSet
      ? options.extensions
      : new ExtensionSet(kernel, { logger, clock });
  return {
    ...offers,
    kernel,
    clock,
    logger,
    store,
    histories: new Histories(store, options.session?.history),
    journal,
    outbox: new Outbox(journal, logger),
    timeline,
    sendEnds: { sent: 0, cancelled: 0, failed: 0 },
    sendTimeoutMs: options.budgets.sendTimeoutMs ?? usualSendMs,
    ...definedFields({ onAmbiguousSend }),
    active: new Set(),
    backlog: newBacklog({ clock, maxAttempts, lastAttemptAfterMs, mayDefer }),
    counts,
    troubles: new Troubles({ kernel, logger, journal, counts, extensions, agents, channels }),
    texts,
    mayReplyToCancel: onceAMinute(clock),
    channels,
    commands: commandsOf(ownCommands, brought),
    accounts: new Accounts(),
    pendingStarts: new PendingStarts(),
    extensions,
    claimed: new ClaimedProvisions(),
    routes: new Routes(brought.map(({ offer }) => offer.routes)),
    tools: new Tools(
      logger,
      brought.map(({ offer }) => offer),
    ),
    extensionData: extensionData(journal, { clock, stateDir: options.stateDir }),
    roles: rolesOf(options.roles),
    questions: new Questions(kept, journal.ownership),
    approvals,
    gate,
    streams: new ActiveStreams(),
    arrivals: new Slots(Number.POSITIVE_INFINITY, arrivalsPerTurn),
    running,
    shares: new Shares(maxRunning),
    agentSlots: agentSlots(agents, maxRunning),
    room: new Room({
      ...{ laneCapacity: capacity, capacity: total, holdsUpdates: !mayDefer },
      whenFull: lanes.whenFull,
    }),
    sendLanes: new Lanes(gate),
    batches: batchesOf(options, clock),
    turns: new ActiveRuns(),
    newId: options.newId ?? randomId,
    signal,
    suspension: undefined, // the parts of a message have one: a field that is there is dear to nobody
    fenced: new WeakMap(),
    options,
  };
}

/** The agents that the options offer, with their providers. */
function agentsOf(options: GivenOptions) {
  const { agents: listed = [], providers: others = [] } = options; // JavaScript may leave them out
  const [first] = listed;
  if (first === undefined) throw hostError('no-agent', {});
  const { defaultAgent: defaultAgentId = first.id } = options;
  const agents = new Map(listed.map((agent) => [agent.id, agent]));
  if (!agents.has(defaultAgentId) && options.extensions === undefined)
    throw hostError('unknown-agent', { what: defaultAgentId });
  noneTwice('duplicate-agent', listed);
  for (const { id, provider, model = provider.models[0] ?? '' } of listed)
    if (!provider.models.includes(model))
      throw hostError('no-model', { what: id, model, offered: provider.models.join(', ') });
  const all = [...listed.map(({ provider }) => provider), ...others];
  const providers = [...new Map(all.map((provider) => [provider.id, provider])).values()];
  return { agents, defaultAgentId, providers };
}

/** Makes the host's own kernel, unless one is given. */
function kernelOf(options: GivenOptions, timeline: TimelineRecorder, own: KernelOptions): Kernel {
  const { kernel = {}, grants, leastPrivilege, overrides, audit, quarantine } = options;
  if ('dispatch' in kernel) return kernel;
  const settings = {
    grants,
    leastPrivilege,
    overrides,
    audit,
    quarantine: quarantine || undefined,
  };
  const tap = [timeline.kernelOptions().tap ?? [], kernel.tap ?? []].flat(2);
  return createKernel({ ...own, ...definedFields(settings), ...kernel, tap });
}

/** The things that the plugins bring. */
function broughtBy({ plugins = [] }: GivenOptions, kernel: Kernel, lent: PluginHost) {
  const foreign = plugins.find((plugin) => plugin.kernel !== kernel);
  if (foreign !== undefined) throw hostError('foreign-plugin', { what: foreign.pluginId });
  return plugins.map((plugin) => ({ offer: plugin.provide(lent), logger: plugin.logger }));
}

/** Nothing if no message waits for others. @throws SluiceError `bad-option`. */
function batchesOf({ ingress = {} }: GivenOptions, clock: Clock): MessageBatches | undefined {
  const { joinWithinMs = {} } = ingress;
  for (const [at, ms] of Object.entries(joinWithinMs))
    if (!(ms >= 0 && ms <= longestJoinWithinMs)) {
      const problem = `joinWithinMs of "${at}" is ${oneLine(ms)}: write milliseconds from 0 to ${longestJoinWithinMs}`;
      throw kernelError('bad-option', { option: 'ingress', problem });
    }
  const isOn = Object.values(joinWithinMs).some((ms) => ms > 0);
  return isOn ? new MessageBatches(clock, joinWithinMs) : undefined;
}

/** The commands by their names. A name stays with the host's own command or the first plugin's, and the plugin of another is told. */
function commandsOf(
  own: readonly ChatCommand[],
  brought: readonly (Pick<HostPlugin, 'logger'> & {
    readonly offer: Pick<PluginOffer, 'commands'>;
  })[],
): Map<string, ChatCommand> {
  const all = new Map(own.map((command) => [command.name, command]));
  for (const { offer, logger } of brought)
    for (const command of offer.commands)
      if (all.has(command.name))
        logger.warn(`command "${command.name}" is left out: another has that name`);
      else all.set(command.name, command);
  return all;
}

/** Says how many turns of each agent run at once: as its definition says, and no more than its share beside other agents. */
function agentSlots(agents: HostParts['agents'], maxRunningOfAll: number): HostParts['agentSlots'] {
  const all = new WeakMap<AgentDefinition, Slots>();
  return (agent) => {
    const { maxRunning = agents.size > 1 ? shareOf(maxRunningOfAll) : undefined } = agent;
    return maxRunning === undefined
      ? undefined
      : getOrMake(all, agent, () => new Slots(maxRunning));
  };
}

/** A journal of the caller may be older than its type, or plain JavaScript. */
function checkJournal({ acknowledge, ownership }: Journal): void {
  const given: unknown = acknowledge;
  const { partitionCount } = Object(ownership) as { readonly partitionCount?: unknown };
  const isKnown = given === 'persisted' || given === 'ended';
  if (isKnown && typeof partitionCount === 'number') return;
  const problem = isKnown
    ? 'its ownership has no partitionCount: say how many partitions the lanes have, and which of them its host handles'
    : `its acknowledge is ${oneLine(given)}: set it to "persisted" if another host can read the journal later, else to "ended"`;
  throw kernelError('bad-option', { option: 'journal', problem });
}

/** Records entries in the given journal. A given kernel has a tap of its own: its owner gives a recorder, too, to get entries. */
function ownTimeline(
  { journal: { opened, dispatches = true, ...kept }, kernel = {} }: GivenOptions,
  clock: Clock,
  logger: Logger,
): TimelineRecorder {
  const timeline = timelineRecorder({ clock, logger });
  if (opened !== undefined && dispatches !== false && !('dispatch' in kernel))
    timeline.listen(keepTimeline(opened, dispatches === true ? kept : dispatches));
  return timeline;
}

function noneTwice(
  code: 'duplicate-agent' | 'duplicate-channel',
  named: readonly { readonly id: string }[],
): void {
  const seen = new Set<string>();
  for (const { id } of named) {
    if (seen.has(id)) throw hostError(code, { what: id });
    seen.add(id);
  }
}

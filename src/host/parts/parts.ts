import type { ActiveRuns, Approvals } from '@sluice/agent';
import type { Fence, Journal, Store } from '@sluice/journal';
import type { ExtensionSet } from '@sluice/sdk/extension';
import type { Clock, Kernel, Logger, StopSignal } from 'sluice-kernel/internal';
import type { PersistedApprovals } from '../inquiries/persisted-approvals.js';
import type { Questions } from '../inquiries/questions.js';
import type { Backlog } from '../lanes/backlog.js';
import type { ReloadGate } from '../lanes/gate.js';
import type { Lanes } from '../lanes/lanes.js';
import type { MessageBatches } from '../lanes/message-batches.js';
import type { Room } from '../lanes/room.js';
import type { Shares } from '../lanes/shares.js';
import type { Slots } from '../lanes/slots.js';
import type { Suspension } from '../lanes/suspension.js';
import type { Outbox } from '../outbox/outbox.js';
import type { Accounts } from '../provided/accounts.js';
import type { PendingStarts } from '../provided/pending-starts.js';
import type { RolesOf } from '../provided/roles.js';
import type { Texts } from '../texts/texts.js';
import type { TimelineRecorder } from '../timeline/timeline-recorder.js';
import type { Histories } from '../transcript/histories.js';
import type { ActiveStreams } from './active-streams.js';
import type { ClaimedProvisions, Offers } from './claimed-provisions.js';
import type { Counts, SendEnds } from './counts.js';
import type { ExtensionData } from './extension-data.js';
import type { GivenOptions } from './given-options.js';
import type { AgentDefinition, HostProgram } from './options.js';
import type { Troubles } from './troubles.js';

/** The services that a send uses. `deliverStream` has these alone, and no host. */
export interface SendParts {
  readonly kernel: Kernel;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly accounts: Accounts;
  /** Keeps each step of a send in the journal, under `fence`. */
  readonly outbox: Outbox;
  /** The right to write for the partition that the work is of. */
  readonly fence: Fence;
  /** The conversations in which a reply grows now. */
  readonly streams: ActiveStreams;
  readonly sendEnds: SendEnds;
  /** Hears each entry of a message's timeline. */
  readonly timeline: TimelineRecorder;
  /** Milliseconds that one call of a channel may take. */
  readonly sendTimeoutMs: number;
  readonly onAmbiguousSend?: HostProgram['onAmbiguousSend'];
  /** Asks humans what vetoes ask about a message; without it, such a message is cancelled. */
  readonly asking?: Approvals | undefined;
  /** Of the message that it belongs to; absent if it belongs to none. */
  readonly suspension?: Suspension | undefined;
  /** Aborts when nobody may wait for it any longer; absent if there is no host. */
  readonly signal?: StopSignal;
  /** Resolves when the turn that says something is kept so far, before a channel has it; to the reason if it is not. Nothing if it is. */
  readonly turnPersisted?: (() => Promise<string | undefined> | undefined) | undefined;
}

/** The owners of updates, from their arrival to their turn. */
interface Intake {
  readonly journal: Journal;
  /** The event ids of the updates that run or wait in a lane. */
  readonly active: Set<string>;
  /** The updates that wait in the journal. */
  readonly backlog: Backlog;
  /** The gate that each message passes, so that extensions can be replaced between two of them. */
  readonly gate: ReloadGate;
  /** Updates that come in are taken a few at a time, so that a crowd does not block the event loop. */
  readonly arrivals: Slots;
  /** The messages that run at once. */
  readonly running: Slots;
  /** The parts of those places that senders may have. */
  readonly shares: Shares;
  /** The updates that take room here. */
  readonly room: Room;
  /** One lane an address, of sends that no turn makes: what is first is sent first. */
  readonly sendLanes: Lanes;
  /** The messages that wait for others to join them; absent if none does. */
  readonly batches: MessageBatches | undefined;
  /** The questions of extensions that are open. */
  readonly questions: Questions;
  /** The questions to humans of messages that have not ended. */
  readonly approvals: PersistedApprovals;
}

/** The owners of sessions and their turns. */
interface Turns {
  readonly store: Store;
  /** The parts of transcripts that agents get. */
  readonly histories: Histories;
  /** The agent that answers by default. An extension may provide it. */
  readonly defaultAgentId: string;
  /** Of each agent that has a limit of its own, or is one of several. */
  readonly agentSlots: (agent: AgentDefinition) => Slots | undefined;
  /** The turns that run now, with the sends that belong to them. */
  readonly turns: ActiveRuns;
  readonly newId: (kind: 'session' | 'run') => string;
  /** Lets one reply to a cancel out a minute, for a conversation and a code. */
  readonly mayReplyToCancel: (conversationAndCode: string) => boolean;
}

/** The owners of what a host has of its extensions, and of its operator. */
interface Registry extends Offers {
  readonly extensions: ExtensionSet;
  readonly claimed: ClaimedProvisions;
  /** The stores and folders of the extensions. */
  readonly extensionData: ExtensionData;
  readonly pendingStarts: PendingStarts;
  /** Finds the roles that the operator gives to a sender. */
  readonly roles: RolesOf;
}

/** The owners of a host's state, as the steps of a message get them. `createHost` makes them once. */
export interface HostParts extends Omit<SendParts, 'fence'>, Intake, Turns, Registry {
  readonly counts: Counts;
  /** The sentences that people get. */
  readonly texts: Texts;
  /** All that an operator should look at. */
  readonly troubles: Troubles;
  /** Aborted when the host may not wait any longer; of `FencedParts` also when the fence is lost. */
  readonly signal: StopSignal;
  /** The services for work under a fence, by its signal. */
  readonly fenced: WeakMap<AbortSignal, FencedParts>;
  readonly options: GivenOptions;
}

/** The services of one piece of work that writes. It ends when its fence is lost, as at the end of the host. */
export interface FencedParts extends HostParts, Pick<SendParts, 'fence'> {}

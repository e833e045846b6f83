import type { PayloadOf } from 'sluice-kernel';
import { payloadFields, recordOf, same, shown } from '../facts/field-table.js';
import type { Announcement } from '../facts/legacy-bus.js';
import { refsOf } from '../facts/refs.js';
import { copyFiles } from './bootstrap-files.js';
import type { InternalHookEvent } from './event.js';
import { type ContextTable, hookRow, type InternalHookRow, sessionKeyOf, sink } from './row.js';
import { messageRows } from './rows-message.js';

type Received = PayloadOf<'command.received'>;

const sources: readonly unknown[] = ['chat', 'native', 'cli', 'rpc'] satisfies Received['source'][];

/**
 * Finds the source of a command. The legacy event has only the surface in `commandSource`; an event of this bridge has
 * `source` beside it. A client's call names itself `gateway:...`. A command without a source is a chat line.
 */
function sourceOf({ source, commandSource }: Record<string, unknown>): unknown {
  if (sources.includes(source)) return source;
  if (typeof commandSource !== 'string') return 'chat';
  if (commandSource.startsWith('gateway:')) return 'rpc';
  return sources.includes(commandSource) ? commandSource : 'chat';
}

const toldTable = {
  ...same('sessionEntry', 'senderId'),
  commandSource: {
    to: 'surface',
    show: ({ surface, channel, source }) => surface ?? channel ?? source,
  },
  source: shown('source'),
} satisfies ContextTable<Received>;

const resetTable = {
  ...same('previousSessionEntry', 'workspaceDir'),
  cfg: 'config',
} satisfies ContextTable<Received>;

const wholeTable = { ...toldTable, ...resetTable, ...same('sessionId') };

function commandSteps(event: InternalHookEvent): Announcement[] {
  const { action, context } = event;
  const source = sourceOf(context);
  const sessionId = context.sessionId ?? idOf(context.sessionEntry);
  const shared = {
    ...payloadFields<Record<string, unknown>>(wholeTable, { ...context, sessionId }),
    ...sessionKeyOf(event),
  };
  const given = refsOf(shared);
  const received: Announcement = {
    family: 'command.received',
    payload: { ...shared, name: action, args: [], source },
    given,
  };
  if (source !== 'rpc' || action === 'stop') return [received];
  // The client's call resets a session without before_reset; in a chat that hook tells of the reset.
  return [received, { family: 'session.resetting', payload: { ...shared, reason: action }, given }];
}

function idOf(entry: unknown): unknown {
  return typeof entry === 'object' && entry !== null && 'sessionId' in entry
    ? entry.sessionId
    : undefined;
}

const command = (action: 'new' | 'reset' | 'stop', why: string): InternalHookRow =>
  hookRow({
    type: 'command',
    action,
    awaited: true,
    source: commandSteps,
    sinks: [
      sink('command.received', 'augmenter', (payload) => {
        if (payload.name !== action) return undefined;
        const table = { ...toldTable, ...(action === 'stop' ? same('sessionId') : resetTable) };
        return {
          sessionKey: payload.targetSessionKey ?? payload.sessionKey ?? '',
          context: recordOf<Record<string, unknown>>(table, payload),
        };
      }),
    ],
    why,
  });

const resets =
  'Messages become replies. Where the command is a client’s call, session.resetting follows, since before_reset does not fire there; in a chat before_reset tells of the reset.';

/** The keys of commands. Other chat commands fire none. */
const commandRows: readonly InternalHookRow[] = [
  command('new', resets),
  command('reset', resets),
  command('stop', 'Messages become replies, which the legacy caller does not send.'),
];

type Compaction = PayloadOf<'compaction.before'> | PayloadOf<'compaction.after'>;

/** The legacy events write -1 for a count that their source does not know. */
const countOf = <const To extends string>(to: To) => ({
  to,
  read: (count: unknown) => (count === -1 ? undefined : count),
  show: (payload: { readonly [Name in To]?: unknown }) => payload[to],
});

const compactionTable = {
  ...same('sessionId'),
  missingSessionKey: {
    to: 'isSessionKeyMissing',
    show: ({ isSessionKeyMissing, sessionKey }: Compaction) =>
      isSessionKeyMissing ?? sessionKey === undefined,
  },
  messageCount: countOf('messageCount'),
  tokenCount: countOf('tokenCount'),
};

const why =
  'The same compaction as the plugin hook and the agent event: one canonical event. The legacy bus is told of manual compactions only; here also of those that another source dispatches.';

/** Without a session key the legacy event's is the session's id, and says so. */
const compactionRow = <F extends 'compaction.before' | 'compaction.after'>(
  action: string,
  family: F,
  table: ContextTable<PayloadOf<F>>,
) =>
  hookRow({
    type: 'session',
    action,
    awaited: true,
    source: (event) => {
      const isMissing = event.context.missingSessionKey === true;
      const fields = payloadFields(table, event.context);
      const payload = { ...fields, ...(isMissing ? {} : sessionKeyOf(event)) };
      return [{ family, payload, given: refsOf(payload) }];
    },
    sinks: [
      sink(family, 'observer', (payload) => ({
        sessionKey: payload.sessionKey ?? payload.sessionId ?? '',
        context: recordOf(table, payload),
      })),
    ],
    why,
  });

/** The keys of sessions. */
const sessionRows = [
  compactionRow('compact:before', 'compaction.before', {
    ...compactionTable,
    ...same('tokenCountOriginal'),
    messageCountOriginal: countOf('messageCountOriginal'),
  }),
  compactionRow('compact:after', 'compaction.after', {
    ...compactionTable,
    ...same('tokensBefore', 'tokensAfter', 'firstKeptEntryId'),
    compactedCount: countOf('compactedCount'),
    summaryLength: 'summaryLengthChars',
  }),
];

const bootstrapTable = {
  ...same('workspaceDir', 'sessionKey', 'sessionId', 'agentId'),
  cfg: 'config',
};

const bootstrap = hookRow({
  type: 'agent',
  action: 'bootstrap',
  awaited: true,
  ownEventOnly: true,
  sinks: [
    sink('agent.prompt.building', 'mutator', (payload) => {
      const { sessionKey, sessionId, bootstrapFiles = [] } = payload;
      const told = recordOf<Record<string, unknown>>(bootstrapTable, payload);
      return {
        sessionKey: sessionKey ?? sessionId ?? 'unknown',
        context: { ...told, bootstrapFiles: copyFiles(bootstrapFiles) },
      };
    }),
  ],
  why: 'A trigger is not dispatched: the legacy run dispatches agent.prompt.building a moment later through before_prompt_build, and every handler there would run twice. In a host of this project its handlers run in that dispatch.',
});

const startupTable = { cfg: 'config', deps: 'dependencies', ...same('workspaceDir') };

const startup = hookRow({
  type: 'gateway',
  action: 'startup',
  awaited: false,
  ownEventOnly: true,
  source: ({ context }) => [
    {
      family: 'gateway.started',
      payload: payloadFields<Record<string, unknown>>(startupTable, context),
    },
  ],
  sinks: [
    sink('gateway.started', 'observer', (payload) => ({
      sessionKey: 'gateway:startup',
      context: recordOf<Record<string, unknown>>(startupTable, payload),
    })),
  ],
  why: 'The same start as the plugin hook gateway_start: one canonical event. Its handlers need the configuration, which that hook does not have, and so wait for their own event.',
});

/** Every key that the legacy system fires on its internal hook bus, as data (seed 004, bridge requirement). */
export const internalHookRows: readonly InternalHookRow[] = [
  ...commandRows,
  ...sessionRows,
  bootstrap,
  startup,
  ...messageRows,
];

/** The row of an event, or nothing if the pipeline has no family for it. */
export function rowOf(type: string, action: string): InternalHookRow | undefined {
  return internalHookRows.find((row) => row.type === type && row.action === action);
}

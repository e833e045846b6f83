import type { PayloadOf } from 'sluice-kernel';
import { payloadFields, recordOf, same, shown } from '../facts/field-table.js';
import type { Announcement } from '../facts/legacy-bus.js';
import { refsOf } from '../facts/refs.js';
import type { InternalHookEvent } from './event.js';
import { type ContextTable, hookRow, type InternalHookRow, sessionKeyOf, sink } from './row.js';

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
export const commandRows: readonly InternalHookRow[] = [
  command('new', resets),
  command('reset', resets),
  command('stop', 'Messages become replies, which the legacy caller does not send.'),
];

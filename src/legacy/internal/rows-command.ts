import { definedFields, type PayloadOf } from '../../kernel/index.js';
import type { InternalHookEvent } from './event.js';
import { type InternalHookRow, type SourceStep, sink } from './row.js';

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

function commandSteps({ action, sessionKey, context }: InternalHookEvent): SourceStep[] {
  const { sessionEntry, previousSessionEntry, senderId, workspaceDir } = context;
  const source = sourceOf(context);
  const shared = definedFields({
    surface: context.commandSource,
    senderId,
    workspaceDir,
    sessionEntry,
    previousSessionEntry,
    config: context.cfg,
    sessionKey: sessionKey === '' ? undefined : sessionKey,
    sessionId: context.sessionId ?? idOf(sessionEntry),
  });
  const given = typeof shared.sessionId === 'string' ? { sessionId: shared.sessionId } : {};
  const received: SourceStep = {
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

function command(action: 'new' | 'reset' | 'stop', why: string): InternalHookRow {
  return {
    type: 'command',
    action,
    awaited: true,
    source: commandSteps,
    sinks: [
      sink('command.received', 'augmenter', (payload) => {
        if (payload.name !== action) return undefined;
        const { sessionEntry, senderId, source, surface, channel } = payload;
        const told = {
          sessionEntry,
          commandSource: surface ?? channel ?? source,
          source,
          senderId,
        };
        const { previousSessionEntry, workspaceDir, config: cfg, sessionId } = payload;
        return {
          sessionKey: payload.targetSessionKey ?? payload.sessionKey ?? '',
          context:
            action === 'stop'
              ? { ...told, sessionId }
              : { ...told, previousSessionEntry, workspaceDir, cfg },
        };
      }),
    ],
    coverage: 'reply',
    status: 'bridged',
    why,
  };
}

const resets =
  'Messages become replies. Where the command is a client’s call, session.resetting follows, since before_reset does not fire there; in a chat before_reset tells of the reset.';

/** The keys of commands. Other chat commands fire none. */
export const commandRows: readonly InternalHookRow[] = [
  command('new', resets),
  command('reset', resets),
  command('stop', 'Messages become replies, which the legacy caller does not send.'),
];

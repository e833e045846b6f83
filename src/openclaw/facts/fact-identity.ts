import type { PayloadOf } from 'sluice-kernel';
import type { FactIdentity } from './same-fact.js';

/** The families whose facts more than one legacy bus tells of. */
export type SharedFactFamily =
  | 'ingress.normalized'
  | 'egress.sent'
  | 'egress.failed'
  | 'compaction.before'
  | 'compaction.after'
  | 'gateway.started';

/**
 * Finds the subject of a fact in the canonical payload of a bus. It uses only the fields that every bus fills: a received
 * message by channel, account, conversation and message id, or if it has none by sender, text and time; a sent one
 * by its place and text, since the plugin hook names no message; a compaction by its session and run, and by nothing
 * where the hook names neither; a gateway's start by being one.
 *
 * @example
 * sameFact(kernel).announce('plugin-hooks', factOf('ingress.normalized', payload), () => kernel.dispatch(...));
 */
export function factOf<F extends SharedFactFamily>(
  family: F,
  payload: PayloadOf<F>,
): FactIdentity<F> {
  return { family, names: namesOf[family](payload) };
}

/** Returns whether more than one legacy bus announces the facts of a family. */
export function isSharedFact(family: string): family is SharedFactFamily {
  return Object.hasOwn(namesOf, family);
}

const namesOf: { readonly [F in SharedFactFamily]: (payload: PayloadOf<F>) => readonly string[] } =
  {
    'ingress.normalized': ({ messageId, from, content, sentAtMs, ...message }) => {
      const place = [message.channel, message.accountId, message.conversationId];
      return [
        messageId === undefined
          ? joined('text', ...place, from, content, sentAtMs)
          : joined('id', ...place, messageId),
      ];
    },
    'egress.sent': sent,
    'egress.failed': sent,
    'compaction.before': compaction,
    'compaction.after': compaction,
    'gateway.started': () => ['gateway'],
  };

function sent(send: PayloadOf<'egress.sent'> | PayloadOf<'egress.failed'>): readonly string[] {
  const { channel, accountId, conversationId, to, content } = send;
  return [joined(channel, accountId, conversationId, to, content)];
}

function compaction(
  payload: PayloadOf<'compaction.before'> | PayloadOf<'compaction.after'>,
): readonly string[] {
  const { sessionKey, sessionId, runId } = payload;
  const ids = { sessionKey, sessionId, runId };
  return Object.entries(ids).flatMap(([name, id]) => (id === undefined ? [] : [joined(name, id)]));
}

/** One text of several values, such that different values never give the same text. */
function joined(...values: readonly (string | number | undefined)[]): string {
  return JSON.stringify(values.map((value) => value ?? null));
}

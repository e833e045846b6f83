import type { Trail } from '../../agent/index.js';
import type { SubagentAnswer } from '../../stream/index.js';
import { addressOf, type Reply, replyTo } from '../egress/reply.js';
import type { SendReport } from '../journal/message-end.js';
import type { HostParts } from '../parts/parts.js';
import type { RoutedMessage } from '../session/routing.js';
import { mayStream } from '../streaming/may-stream.js';
import { StreamedReply } from '../streaming/streamed-reply.js';
import { deliverTo } from './subagent-delivery.js';

/** A reply that is shown while it grows. Ended by `finish` or `withdraw`, once. */
export interface GrowingReply {
  /** Shows what it is now: all of it, not what was added. */
  show(text: string): void;
  /** Sends it as it is in the end. */
  finish(reply: Reply): Promise<SendReport>;
  /** Takes back what was shown. @returns how it ended, where it had begun. */
  withdraw(why: 'aborted' | 'withdrawn'): Promise<SendReport | undefined>;
}

/** The sink of the replies of a turn. */
export interface ReplySink {
  /** Sends a reply whole. */
  send(reply: Reply): Promise<readonly SendReport[]>;
  /** Tells whether a reply may be seen before it is whole. */
  mayGrow(): boolean;
  /** Begins a reply that is shown while it grows, once `after` has settled. */
  grow(kind: 'block' | 'reasoning', after: Promise<unknown>): GrowingReply;
  /** The sink for what is said of the answers of subagents, which may go somewhere else. */
  delivering(answers: readonly SubagentAnswer[]): ReplySink;
}

/** Sends what a turn says back to where its message came from. */
export function replySink(
  parts: HostParts,
  trail: Trail,
  message: RoutedMessage,
  run: Pick<Reply, 'agentId' | 'sessionKey' | 'sessionId' | 'runId'>,
  signal: AbortSignal,
): ReplySink {
  const address = Object.freeze({ ...addressOf(message), ...run });
  const sink: ReplySink = {
    send: async (reply) => [await replyTo(parts, trail, message, { ...run, ...reply }, signal)],
    delivering: (answers) => ({
      ...sink,
      mayGrow: () => false, // who decides where it goes is asked when it is whole
      send: deliverTo(parts, trail, message, answers, signal, run),
    }),
    mayGrow: () =>
      !signal.aborted &&
      mayStream(parts, { ...address, kind: 'block' }) &&
      // what is out already is not shown again: whether it is, its whole text tells (durability §7.4)
      !parts.outbox.hasSentBefore(trail.correlationId),
    grow: (kind, after) => {
      const stream = new StreamedReply({
        parts,
        trail,
        message: { ...address, kind },
        signal,
        after,
      });
      const startedAtMs = parts.clock.now();
      return {
        show: (text) =>
          stream.show(
            kind === 'block'
              ? { phase: 'content', content: text }
              : {
                  phase: 'thinking',
                  thinking: text,
                  thinkingElapsedMs: Math.max(0, parts.clock.now() - startedAtMs),
                },
          ),
        finish: (reply) => stream.finish({ ...address, ...reply }),
        withdraw: (why) => stream.withdraw(why),
      };
    },
  };
  return sink;
}

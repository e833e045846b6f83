import type { ChannelInbox, ChannelPlugin, SendResult } from '../../src/sdk/channel/index.js';

/** A channel that a soak talks through: it makes its messages up, and fails in the ways that providers do. */
export interface SoakChannel extends ChannelPlugin {
  /** Hands the next message over; resolves when the host has room for more. */
  say(content: string, conversation: string): Promise<void>;
  /** Ends the intake. */
  end(): void;
  /** Messages that were handed over, and texts that a provider got. */
  readonly counts: { said: number; delivered: number };
}

/** How often a send goes wrong: of a thousand. */
const perThousand = { rejected: 5, retried: 10, ambiguous: 5, thrown: 3 };

/** Makes a channel whose provider has `latencyMs`. @param random a number from 0 to 1, the same for the same seed. */
export function soakChannel(id: string, latencyMs: number, random: () => number): SoakChannel {
  let inbox: ChannelInbox | undefined;
  const counts = { said: 0, delivered: 0 };
  const answer = (): SendResult => {
    const at = random() * 1_000;
    let edge = perThousand.rejected;
    if (at < edge) return { status: 'rejected', reason: 'the provider does not like it' };
    edge += perThousand.retried;
    if (at < edge) return { status: 'retry-after', retryAfterMs: 5, reason: 'too many' };
    edge += perThousand.ambiguous;
    if (at < edge) return { status: 'ambiguous', reason: 'no answer' };
    edge += perThousand.thrown;
    if (at < edge) throw new Error('the connection is gone');
    counts.delivered++;
    return { status: 'sent', receipt: { messageId: `${id}-${counts.delivered}` } };
  };
  return {
    id,
    counts,
    accounts: ['default'],
    capabilities: {},
    resendPolicy: { ambiguous: 'fail', maxAttempts: 3, maxWaitMs: 1_000 },
    startAccount: async (_accountId, given) => {
      inbox = given;
    },
    stopIntake: async () => undefined,
    stopAccount: async () => undefined,
    decodeIngress: (raw, accountId) => {
      const { content, from } = raw as { readonly content: string; readonly from: string }; // `say` made it
      if (content === 'noise') return { kind: 'undecodable', problem: 'noise' };
      return {
        kind: 'message',
        message: { channel: id, accountId, from, content, attachments: [], metadata: {} },
      };
    },
    send: async (permit) => {
      permit.take();
      await new Promise((resolve) => setTimeout(resolve, latencyMs * random()));
      return answer();
    },
    say: async (content, conversation) => {
      counts.said++;
      const from = `${id}:${conversation}`;
      await inbox?.receive({ raw: { content, from }, updateId: `${id}-${counts.said}` });
    },
    end: () => inbox?.ended({ reason: 'the soak is over' }),
  };
}

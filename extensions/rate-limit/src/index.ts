import { allow, type Call, cancel, defineExtension } from 'sluice';
import { type Arrival, type Bucket, countIn, waitMs } from './bucket.js';
import { config } from './config.js';
import { inTurn } from './in-turn.js';
import { type AppliedLimit, limitsOf } from './limits.js';

/** Milliseconds that a bucket is kept when it is full again: a message may wait so long between its time and its judgement. */
const graceMs = 60_000;

/** A limit that has no token for a message, and the milliseconds until it has one. */
interface Refusal extends AppliedLimit {
  readonly retryAfterMs: number;
}

/** Limits how many messages a sender and a conversation may bring. The README has the settings. */
export default defineExtension({
  id: 'rate-limit',
  manifest: { version: '0.2.0', sluice: '~0.2.0', grants: ['veto:routing.resolving'] },
  config,
  setup(api, { reply: given, exemptRoles, failClosed, ...limits }) {
    const turns = inTurn();
    const sayTo = api.texts({ 'too-many': 'Too many messages at once. Please wait a little.' });

    const isExempt = ({ principal }: Call<'routing.resolving'>): boolean =>
      principal !== undefined &&
      (principal.roles.some((role) => exemptRoles.includes(role)) ||
        (principal.isOwner && exemptRoles.includes('owner')));

    /** Takes a token of each limit, or of none. While it looks, nobody else of this host takes one of the same buckets. */
    const judge = async (
      [first, ...others]: readonly AppliedLimit[],
      arrival: Arrival,
    ): Promise<Refusal | undefined> => {
      if (first === undefined) return undefined;
      const { key, limit } = first;
      return turns(key, async () => {
        const retryAfterMs = waitMs(await api.store.get<Bucket>(key), limit, arrival);
        if (retryAfterMs > 0) return { ...first, retryAfterMs };
        const refusal = await judge(others, arrival);
        if (refusal === undefined)
          await api.store.update<Bucket>(key, (bucket) => countIn(bucket, limit, arrival), {
            ttlMs: limit.windowMs + graceMs,
          });
        return refusal;
      });
    };

    api.veto('routing.resolving', 'limit', { failClosed }, async (call) => {
      if (call.pass !== 'first' || isExempt(call)) return allow(); // a message counts once
      // the event's own time: what is replayed tomorrow is judged as it was today
      const { correlationId: messageId, occurredAt: atMs } = call.event;
      const refusal = await judge(limitsOf(call, limits), { messageId, atMs });
      if (refusal === undefined) return allow();
      const { name, limit, retryAfterMs } = refusal;
      const reason = {
        text: `${name}: at most ${limit.count} in ${limit.windowMs} ms; the next in ${retryAfterMs} ms`,
        details: { limit: name, ...limit, retryAfterMs },
      };
      const reply = given ?? sayTo(call.payload.message)('too-many');
      return reply === false
        ? cancel('rate-limited', reason)
        : cancel('rate-limited', { ...reason, reply });
    });
  },
});

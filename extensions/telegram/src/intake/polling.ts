import type { Update } from 'grammy/types';
import { pause } from 'sluice/chat';
import type { ApiAnswer, BotApi } from '../api/bot-api.js';
import { isUpdate, wantedUpdates } from '../ingress/decode.js';
import { chatOf } from '../ingress/place.js';
import type { Intake, IntakeParts } from './intake.js';
import { PendingUpdates } from './pending-updates.js';

/** Seconds that Telegram waits for an update before it answers that there is none. */
const longPollS = 30;
/** Milliseconds between two questions where the answer comes at once and brings nothing new: what is unfinished, say. */
const busyPollMs = 500;
/** Updates that are asked for at once; the most that Telegram gives. */
const batch = 100;
/** Milliseconds before what the host could not take in is asked for again. */
const refusedMs = 1_000;
const firstBackoffMs = 1_000;
const longestBackoffMs = 30_000;
/** Conflicts in a row after which another poller, or a webhook, is taken to be there for good. */
const patience = 5;

/** The parts that polling works with. */
interface PollingParts extends IntakeParts {
  readonly api: BotApi;
}

/**
 * Asks Telegram for updates, over and over, in an order of its own: the offset, which is what confirms updates, goes
 * past one only when it is done with. Until then Telegram gives it again, and it is dropped. Telegram gives the oldest 100
 * and no others: where it gives so many, those that are too many of one chat, or too old, are passed over, so that others
 * come.
 */
export function startPolling({ api, clock, log, sink }: PollingParts): Intake {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pending = new PendingUpdates();
  let confirmed: number | undefined;
  let backoffMs = 0;
  let conflicts = 0;

  const ask = async (timeoutS: number): Promise<ApiAnswer<Update[]>> => {
    const { offset } = pending;
    const from = offset !== undefined && { offset };
    const wanted = { ...from, limit: batch, timeout: timeoutS, allowed_updates: wantedUpdates };
    const timeoutMs = (timeoutS + 15) * 1_000;
    const answer = await api.call('getUpdates', wanted, { signal, timeoutMs });
    if (answer.status !== 'done') return answer;
    // what stands between may answer in Telegram's place
    if (!Array.isArray(answer.result))
      return { status: 'unknown', reason: 'the answer is no list of updates' };
    if (answer.result.length > 0 && !answer.result.some(isUpdate))
      return { status: 'unknown', reason: 'nothing in the answer is an update' };
    confirmed = offset;
    return answer;
  };

  /**
   * Takes them side by side, so that none waits for another.
   *
   * @returns how many of them are new, and whether some could not be taken in.
   */
  const takeAll = async (updates: readonly unknown[]) => {
    const readable = updates.filter(isUpdate).toSorted((a, b) => a.update_id - b.update_id);
    if (readable.length < updates.length) log.warn('Telegram sent what is no update');
    // what comes when it has been stopped comes again
    const isNew = (update: Update): boolean =>
      !signal.aborted && pending.take(update.update_id, clock.monotonicMs());
    const taken = await Promise.all(
      readable.filter(isNew).map(async (update) => {
        const how = await sink.take(update);
        if (how === 'refused') pending.refuse(update.update_id);
        return how;
      }),
    );
    return { count: taken.length, isRefused: taken.includes('refused') };
  };

  /** Goes past updates of a whole batch that are not done with: what is behind them would never come. */
  const passOver = (updates: readonly unknown[]): boolean => {
    const given = updates.filter(isUpdate).map((one) => ({ id: one.update_id, chat: chatOf(one) }));
    const passed = pending.makeRoom(given, clock.monotonicMs());
    if (passed === 0) return false;
    log.warn(
      `${passed} updates of Telegram are confirmed before they are answered, so that others come: they are lost if the host ends now; a journal would keep them`,
      { passed },
    );
    return true;
  };

  /** Waits until an update is done with, and no longer than this. */
  const changeWithin = async (timeoutMs: number): Promise<void> => {
    const done = new AbortController();
    const either = AbortSignal.any([signal, done.signal]);
    await Promise.race([pause(clock, timeoutMs, either), pending.change()]);
    done.abort(); // so that nothing of the pause stays behind
  };

  /** @returns whether to go on, after the wait that the answer asks for. */
  const bear = async (
    answer: Exclude<ApiAnswer<unknown>, { status: 'done' }>,
  ): Promise<boolean> => {
    const { reason } = answer;
    const code = answer.status === 'refused' ? answer.code : 0;
    if (code === 401 || code === 404) {
      sink.ended(`Telegram refuses the bot's token (${code})`, reason);
      return false;
    }
    conflicts = code === 409 ? conflicts + 1 : 0;
    if (conflicts >= patience) {
      sink.ended(`the bot is used elsewhere, too (${code})`, reason);
      return false;
    }
    backoffMs = Math.min(longestBackoffMs, backoffMs === 0 ? firstBackoffMs : backoffMs * 2);
    const asked = answer.status === 'refused' ? (answer.retryAfterMs ?? 0) : 0;
    const waitMs = Math.max(backoffMs, asked);
    log.warn(`no updates from Telegram; asked again in ${waitMs} ms`, { code, detail: reason });
    await pause(clock, waitMs, signal);
    return true;
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const askedAtMs = clock.monotonicMs();
      const answer = await ask(pending.isHeld ? 0 : longPollS);
      if (signal.aborted) return;
      if (answer.status !== 'done') {
        if (!(await bear(answer))) return;
        continue;
      }
      backoffMs = 0;
      conflicts = 0;
      const { count, isRefused } = await takeAll(answer.result);
      // an answer that brings nothing new at once would come again at once, and for ever
      const cameAtOnce = clock.monotonicMs() - askedAtMs < busyPollMs;
      const hasRoom = answer.result.length >= batch && passOver(answer.result);
      if (isRefused) await pause(clock, refusedMs, signal);
      else if (count === 0 && !hasRoom && (pending.isHeld || cameAtOnce))
        await changeWithin(busyPollMs);
    }
  };
  // Nobody waits for it: what it has taken may wait for room behind a turn that does not end.
  run().catch((error: unknown) => {
    sink.ended('polling failed', api.redact(String(error)));
  });

  return {
    stop: async () => {
      stopping.abort();
    },
    finish: (updateId) => pending.finish(updateId),
    close: async () => {
      stopping.abort();
      const { offset } = pending;
      if (offset === undefined || offset === confirmed) return;
      const payload = { offset, limit: 1, timeout: 0 };
      const answer = await api.call('getUpdates', payload, { timeoutMs: 5_000 });
      if (answer.status !== 'done')
        log.warn('Telegram does not know what was handled last', { detail: answer.reason });
    },
  };
}

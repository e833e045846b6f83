import type { Update } from 'grammy/types';
import pLimit from 'p-limit';
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
export function startPolling(parts: PollingParts): Intake {
  const poller = new Poller(parts);
  // Nobody waits for it: what it has taken may wait for room behind a turn that does not end.
  poller.run().catch((error: unknown) => {
    parts.sink.ended('polling failed', parts.api.redact(String(error)));
  });
  return poller;
}

class Poller implements Intake {
  readonly #parts: PollingParts;
  readonly #stopping = new AbortController();
  readonly #signal = this.#stopping.signal;
  readonly #pending = new PendingUpdates();
  #confirmed: number | undefined;
  #backoffMs = 0;
  #conflicts = 0;

  constructor(parts: PollingParts) {
    this.#parts = parts;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
  }

  finish(updateId: number): void {
    this.#pending.finish(updateId);
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    const { offset } = this.#pending;
    if (offset === undefined || offset === this.#confirmed) return;
    const { api, log } = this.#parts;
    const payload = { offset, limit: 1, timeout: 0 };
    const answer = await api.call('getUpdates', payload, { timeoutMs: 5_000 });
    if (answer.status !== 'done')
      log.warn('Telegram does not know what was handled last', { detail: answer.reason });
  }

  async #ask(timeoutS: number): Promise<ApiAnswer<Update[]>> {
    const { offset } = this.#pending;
    const from = offset !== undefined && { offset };
    const wanted = { ...from, limit: batch, timeout: timeoutS, allowed_updates: wantedUpdates };
    const timeoutMs = (timeoutS + 15) * 1_000;
    const answer = await this.#parts.api.call('getUpdates', wanted, {
      signal: this.#signal,
      timeoutMs,
    });
    if (answer.status !== 'done') return answer;
    // what stands between may answer in Telegram's place
    if (!Array.isArray(answer.result))
      return { status: 'unknown', reason: 'the answer is no list of updates' };
    if (answer.result.length > 0 && !answer.result.some(isUpdate))
      return { status: 'unknown', reason: 'nothing in the answer is an update' };
    this.#confirmed = offset;
    return answer;
  }

  /**
   * Takes them side by side, so that none of a whole batch waits for another.
   *
   * @returns how many of them are new, and whether some could not be taken in.
   */
  async #takeAll(updates: readonly unknown[]) {
    const readable = updates.filter(isUpdate).toSorted((a, b) => a.update_id - b.update_id);
    if (readable.length < updates.length) this.#parts.log.warn('Telegram sent what is no update');
    // what comes when it has been stopped comes again
    const isNew = (update: Update): boolean =>
      !this.#signal.aborted &&
      this.#pending.take(update.update_id, this.#parts.clock.monotonicMs());
    const taken = await pLimit(batch).map(readable.filter(isNew), async (update) => {
      const how = await this.#parts.sink.take(update);
      if (how === 'refused') this.#pending.refuse(update.update_id);
      return how;
    });
    return { count: taken.length, isRefused: taken.includes('refused') };
  }

  /** Goes past updates of a whole batch that are not done with: what is behind them would never come. */
  #passOver(updates: readonly unknown[]): boolean {
    const given = updates.filter(isUpdate).map((one) => ({ id: one.update_id, chat: chatOf(one) }));
    const passed = this.#pending.makeRoom(given, this.#parts.clock.monotonicMs());
    if (passed === 0) return false;
    this.#parts.log.warn(
      `${passed} updates of Telegram are confirmed before they are answered, so that others come: they are lost if the host ends now; a journal would keep them`,
      { passed },
    );
    return true;
  }

  /** Waits until an update is done with, and no longer than this. */
  async #changeWithin(timeoutMs: number): Promise<void> {
    const done = new AbortController();
    const either = AbortSignal.any([this.#signal, done.signal]);
    await Promise.race([pause(this.#parts.clock, timeoutMs, either), this.#pending.change()]);
    done.abort(); // so that nothing of the pause stays behind
  }

  /** @returns whether to go on, after the wait that the answer asks for. */
  async #bear(answer: Exclude<ApiAnswer<unknown>, { status: 'done' }>): Promise<boolean> {
    const { reason } = answer;
    const code = answer.status === 'refused' ? answer.code : 0;
    if (code === 401 || code === 404) {
      this.#parts.sink.ended(`Telegram refuses the bot's token (${code})`, reason);
      return false;
    }
    this.#conflicts = code === 409 ? this.#conflicts + 1 : 0;
    if (this.#conflicts >= patience) {
      this.#parts.sink.ended(`the bot is used elsewhere, too (${code})`, reason);
      return false;
    }
    this.#backoffMs = Math.min(
      longestBackoffMs,
      this.#backoffMs === 0 ? firstBackoffMs : this.#backoffMs * 2,
    );
    const asked = answer.status === 'refused' ? (answer.retryAfterMs ?? 0) : 0;
    const waitMs = Math.max(this.#backoffMs, asked);
    this.#parts.log.warn(`no updates from Telegram; asked again in ${waitMs} ms`, {
      code,
      detail: reason,
    });
    await pause(this.#parts.clock, waitMs, this.#signal);
    return true;
  }

  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      const askedAtMs = this.#parts.clock.monotonicMs();
      const answer = await this.#ask(this.#pending.isHeld ? 0 : longPollS);
      if (this.#signal.aborted) return;
      if (answer.status !== 'done') {
        if (!(await this.#bear(answer))) return;
        continue;
      }
      this.#backoffMs = 0;
      this.#conflicts = 0;
      const { count, isRefused } = await this.#takeAll(answer.result);
      // an answer that brings nothing new at once would come again at once, and for ever
      const cameAtOnce = this.#parts.clock.monotonicMs() - askedAtMs < busyPollMs;
      const hasRoom = answer.result.length >= batch && this.#passOver(answer.result);
      if (isRefused) await pause(this.#parts.clock, refusedMs, this.#signal);
      else if (count === 0 && !hasRoom && (this.#pending.isHeld || cameAtOnce))
        await this.#changeWithin(busyPollMs);
    }
  }
}

import type { Fence, Journal, SendEndRecord, SendRecord, SendReport } from '@sluice/journal';
import { isRefusedForGood, logJournalFailure, patiently } from '@sluice/journal/internal';
import pLimit from 'p-limit';
import {
  type Clock,
  definedFields,
  isSluiceError,
  type Logger,
  type Outcome,
  oneLine,
  type PayloadOf,
  type StopSignal,
} from 'sluice-kernel/internal';
import type { Suspension } from '../lanes/suspension.js';
import { boundedJson } from '../timeline/bounded-json.js';
import {
  fingerprintOf,
  maxBodyLength,
  mayBeOut,
  numberOf,
  reportOfRecord,
  type Said,
  sendIdOf,
  withWords,
} from './report-of-record.js';

/** The sends of one message that is being handled. */
interface Sends {
  /** The number of the last that was prepared. */
  count: number;
  /** The sends that went out, or may have, when the message was handled before. Each is taken once. */
  readonly before: SendRecord[];
  /** The reply to a cancel that it had then, whatever its end. */
  readonly cancelReply: SendRecord | undefined;
}

/** The fence that a send is made under, and the message that a failure of the journal suspends. If there is none, the send waits. */
interface By {
  readonly fence: Fence;
  readonly suspension?: Suspension | undefined;
  readonly clock?: Clock;
  readonly signal?: StopSignal;
}

interface End {
  readonly fence: Fence;
  readonly end: SendEndRecord;
  /** The id of the message that it belongs to. */
  readonly correlationId: string;
  /** The host writes it as soon as it can. */
  readonly isOwed: boolean;
  /** Nobody knows whether the journal has the send. */
  readonly isDoubtful: boolean;
  isWriting: boolean;
}

type Prepared = Outcome<'egress.preparing'>;
type Payload = PayloadOf<'egress.preparing'>;
const maxNoteLength = 16 * 1024;

/**
 * Keeps a host's sends in its journal (durability §3), if the journal outlives the host: nobody else needs them
 * (durability §6.8). Its promises do not reject: a write that failed is a reason in one line, and the send does not go out. If the journal
 * failed it, the message is suspended; a send of no message waits for the journal.
 */
export class Outbox {
  readonly #journal: Journal;
  readonly #logger: Logger;
  readonly #messages = new Map<string, Sends>();
  /** The sends that were persisted here and have not ended, with their fences. */
  readonly #open = new Map<string, Fence>();
  /** The sends that have ended and whose ends are yet to be persisted. */
  readonly #owed = new Map<string, End>();

  constructor(journal: Journal, logger: Logger) {
    this.#journal = journal;
    this.#logger = logger;
  }

  /** A message begins to be handled. Its earlier sends are not said again. */
  open(correlationId: string, earlier: readonly SendRecord[]): Disposable {
    if (this.#journal.acknowledge === 'ended') return { [Symbol.dispose]: () => undefined };
    // a send of an extension upon this message is none of its replies
    const before = earlier.filter((one) => mayBeOut(one) && one.kind !== 'unprompted');
    // not their number: one that could not be persisted has left a gap
    const count = earlier.reduce((most, { sendId }) => Math.max(most, numberOf(sendId)), 0);
    const cancelReply = earlier.find(({ kind }) => kind === 'cancel-reply');
    this.#messages.set(correlationId, { count, before, cancelReply });
    return { [Symbol.dispose]: () => this.#messages.delete(correlationId) };
  }

  /** Returns whether anything of a message may be out from before: then its words are compared before they are shown. */
  hasSentBefore(correlationId: string | undefined): boolean {
    return (this.#messages.get(correlationId ?? '')?.before.length ?? 0) > 0;
  }

  /** How the same words went out, or may have, when the message was handled before. Each answers once. */
  takeSentBefore(correlationId: string | undefined, said: Said): SendReport | undefined {
    const before = this.#messages.get(correlationId ?? '')?.before ?? [];
    const at = before.findIndex(({ fingerprint }) => fingerprint === fingerprintOf(said));
    const [record] = at === -1 ? [] : before.splice(at, 1);
    return record && reportOfRecord(record);
  }

  /** How the reply to a cancel of a message ended when the message was handled before; nothing if it had none. */
  cancelReplyOf(correlationId: string): SendReport | undefined {
    const record = this.#messages.get(correlationId)?.cancelReply;
    return record && reportOfRecord(record);
  }

  /** The id of the next send of a message; nothing if no message is being handled. */
  nextId(correlationId: string | undefined, openedBy: string | undefined): string | undefined {
    if (openedBy !== undefined) return finalIdOf(openedBy); // the end of a stream: no send of its own
    const message = this.#messages.get(correlationId ?? '');
    return message && `${correlationId}.${++message.count}`;
  }

  /**
   * Keeps a send that was judged, whatever the verdict. The final of a stream takes the place of what opened it.
   *
   * @param how.kind what it is of its message, where its payload says another: the final of a stream.
   * @param how.isSending no handler runs before its channel has it: the same write keeps that it goes there.
   */
  prepare(
    by: By,
    {
      event,
      payload,
      selection,
    }: Pick<Prepared, 'event' | 'payload'> & {
      readonly selection: Prepared['selection'] | undefined;
    },
    { kind = event.payload.kind, isSending }: { kind?: Payload['kind']; isSending: boolean },
  ): Promise<string | undefined> | undefined {
    if (this.#journal.acknowledge === 'ended') return undefined;
    const { eventId, correlationId } = event;
    const { accounts: _, ...emitted } = event.payload;
    return this.#write(by, emitted.openedBy ?? eventId, async (sendId) => {
      const body = boundedJson(emitted, { maxLength: maxBodyLength });
      if (!('json' in body)) return `the journal cannot keep it: ${body.problem}`;
      const { channel, accountId } = { ...payload, ...selection?.target };
      const fingerprint = fingerprintOf(emitted);
      const address = { channel, accountId };
      const said = definedFields({ sendId, kind, fingerprint, ...address, body: body.json });
      this.#open.set(sendId, by.fence);
      const owner = correlationId === eventId ? {} : { correlationId };
      try {
        if (emitted.openedBy !== undefined) await this.#journal.final(by.fence, said, isSending);
        else await this.#journal.prepare(by.fence, { ...said, ...owner }, isSending);
      } catch (error) {
        if (!isSluiceError(error, 'journal-state')) this.#open.delete(sendId); // a try before may have kept it
        throw error;
      }
      return undefined;
    });
  }

  /** Keeps the note of what is shown of it at its provider: plain data of its channel. */
  noteShown(by: By, prepared: Prepared, shown: unknown): Promise<string | undefined> {
    return this.#write(by, sendIdOf(prepared), async (id) => {
      const noted = boundedJson(shown, { maxLength: maxNoteLength });
      if (!('json' in noted))
        return `the journal cannot keep what is shown of it: ${noted.problem}`;
      await this.#journal.shown(by.fence, id, noted.json);
      return undefined;
    });
  }

  /** Returns whether this host may delete the preview of a send: true unless another host owns the partition. */
  async mayTakeBack({ fence, suspension }: By, sendId: string): Promise<boolean> {
    if (this.#journal.acknowledge === 'ended') return true;
    if (suspension?.isSuspended) return false; // whoever claims its message finds the note
    try {
      await this.#journal.shown(fence, sendId);
      return true;
    } catch (error) {
      const isLost = fence.signal.aborted || isSluiceError(error, 'journal-lost');
      if (isLost || suspension?.by(error)) return false;
      const hasEnded = isSluiceError(error, 'journal-state'); // here: nobody else ends what it shows
      return hasEnded || fence.epoch === 0; // then no other host can take the journal over
    }
  }

  /** Its channel is about to have it. */
  sending(by: By, prepared: Prepared): Promise<string | undefined> {
    return this.#write(by, sendIdOf(prepared), (id) => this.#journal.sending(by.fence, id));
  }

  /** Its channel says that nothing of it is out. */
  unsent(by: By, prepared: Prepared): Promise<string | undefined> {
    return this.#write(by, sendIdOf(prepared), (id) => this.#journal.unsent(by.fence, id));
  }

  /**
   * It has come to its end. If the journal cannot keep that, `persistSent` tries again.
   *
   * @param how.isHeard somebody may act on the end: it is persisted before. Otherwise the end of a message that is being handled
   *   is persisted with what the message does next, at the latest with its own end.
   * @param how.isDoubtful nobody knows whether the journal has the send: its end goes where there is none.
   */
  end(
    { fence, suspension }: By,
    prepared: Prepared,
    end: SendEndRecord,
    { isHeard, isDoubtful }: { readonly isHeard: boolean; readonly isDoubtful: boolean },
  ): Promise<void> | undefined {
    if (this.#journal.acknowledge === 'ended') return undefined;
    const { correlationId } = prepared.event;
    // what is not out is left to who has the partition, unless its message is claimed again here
    const isOwed = end.state === 'sent' || suspension?.isSuspended === true;
    const about = { correlationId, isOwed, isDoubtful, isWriting: false };
    const ended = { fence, end: withWords(prepared, end), ...about };
    const persisted = this.#end(sendIdOf(prepared), ended);
    return isHeard || !this.#messages.has(correlationId) ? persisted : undefined;
  }

  /** Returns whether a send may be left to the next host. */
  get mayDefer(): boolean {
    return this.#journal.acknowledge === 'persisted';
  }

  /** Returns whether this host brings a send to its end. */
  isOpenHere(sendId: string): boolean {
    return this.#open.get(sendId)?.signal.aborted === false || this.#owed.has(sendId);
  }

  /** Returns whether the ends of sends could not be persisted yet. */
  get isOwing(): boolean {
    return [...this.#owed.values()].some(({ isWriting }) => !isWriting);
  }

  /**
   * Returns whether the end of a send of this message is yet to be persisted. Until then the message is not claimed again: the
   * journal does not know that the send went out.
   */
  owes(correlationId: string): boolean {
    return [...this.#owed.values()].some((end) => end.correlationId === correlationId);
  }

  /**
   * Keeps the ends that sends came to while the journal failed. An end that still cannot be persisted is tried again at
   * the next call; one that the journal refuses for good is not (durability §6.7). Never rejects.
   */
  async persistSent(): Promise<void> {
    const left = [...this.#owed].filter(([, { isWriting }]) => !isWriting);
    await pLimit(8).map(left, ([id, end]) => this.#end(id, end));
  }

  async #end(id: string, ended: End): Promise<void> {
    const { fence, end, isOwed } = ended;
    this.#open.delete(id);
    await this.#write({}, id, async () => {
      ended.isWriting = true;
      if (isOwed) this.#owed.set(id, ended);
      try {
        const now = isOwed ? this.#journal.ownership.fenceOf(fence.partition) : fence;
        await this.#journal.endSend(now?.epoch === fence.epoch ? now : fence, id, end);
        this.#owed.delete(id);
      } catch (error) {
        const isLost = this.#journal.ownership.epochOf(fence.partition) !== fence.epoch; // who has its partition now finds it as `sending`
        if (isLost || isRefusedForGood(error)) this.#owed.delete(id);
        if (ended.isDoubtful && isSluiceError(error, 'journal-state')) return; // it has not
        throw error;
      } finally {
        ended.isWriting = false;
      }
    });
  }

  /** @param write resolves to the reason why the send cannot be persisted, if there is one. */
  async #write(
    { suspension, clock, signal }: Omit<By, 'fence'>,
    id: string,
    write: (id: string) => Promise<unknown>,
  ): Promise<string | undefined> {
    if (this.#journal.acknowledge === 'ended') return undefined;
    const again = (isAgain: boolean) =>
      write(id).catch((error: unknown) => {
        if (isAgain && isSluiceError(error, 'journal-state')) return; // a try before had no answer
        throw error;
      });
    const mayWait = suspension === undefined && clock !== undefined && signal !== undefined;
    try {
      const problem = await (mayWait ? patiently(clock, signal, again) : write(id));
      return typeof problem === 'string' ? problem : undefined;
    } catch (error) {
      suspension?.by(error);
      logJournalFailure(this.#logger, 'the journal could not keep a send', { sendId: id, error });
      return `the journal could not keep it: ${oneLine(error)}`;
    }
  }
}

/** The id under which the final of a stream is judged, and its idempotency key. */
export function finalIdOf(openedBy: string): string {
  return `${openedBy}-final`;
}

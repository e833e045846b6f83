import { type Clock, definedFields } from 'sluice-kernel/internal';
import { journalError } from './errors.js';
import { checkedFence, type Fence } from './fence.js';
import { type Journal, openSends, type SendRecord, type SendState } from './journal.js';
import type { Scrub } from './privacy/scrub.js';

/** The part of a row that decides whether a change is allowed. */
export interface Standing<State extends string> {
  readonly state: State;
  readonly attempts: number;
}

/** New values of some fields of a record. */
export type FieldChanges<Record> = {
  readonly [Field in keyof Record]?: Record[Field] | undefined;
};

/** The rows of one kind in a store. `Row` is a row as the store reads it. */
export interface ChangeableRows<Record, Row> {
  find(id: string): Row | undefined;
  /** The body of a row that was just found. It is asked for only if texts are scrubbed. */
  bodyOf(row: Row): string | undefined;
  /** Adds a record with the next number. @returns the row that has its id already: then nothing is added. */
  add(record: Omit<Record, 'seq'>): Row | undefined;
  /** Gives some fields of a row that was just found new values. A field that becomes `undefined` goes. */
  change(row: Row, fields: FieldChanges<Record>): void;
}

/** The cause of a send that failed because its host stopped before its channel had it: nothing of it is out. */
export const leftBehind = 'left-behind';

type Changes<Name extends keyof Journal> = {
  readonly [Each in Name]: (
    ...given: Parameters<Extract<Journal[Each], (...all: never[]) => unknown>>
  ) => void;
};

/** The transitions of sends, as `journalChanges` has them. */
export function sendChanges<Send extends Standing<SendState>>(
  sends: ChangeableRows<SendRecord, Send>,
  clock: Clock,
  scrub?: Scrub,
): Changes<'prepare' | 'final' | 'sending' | 'unsent' | 'shown' | 'endSend'> {
  const send = (fence: Fence, id: string, from: readonly SendState[], wanted: string): Send => {
    checkedFence(fence);
    return inState({ what: 'send', id, wanted }, sends.find(id), from);
  };
  return {
    prepare: (fence, given, isSending = false) => {
      const { slot } = checkedFence(fence);
      const { sendId: id } = given;
      const own = definedFields({ slot });
      const judgement = judged(isSending, 0);
      const known = sends.add(Object.assign({ preparedAtMs: clock.now() }, own, judgement, given));
      if (known === undefined) return;
      const { state } = known;
      throw journalError('journal-state', { what: 'send', id, wanted: 'prepared', state });
    },
    final: (fence, { sendId, kind, fingerprint, channel, accountId, body }, isSending = false) => {
      const was = send(fence, sendId, ['prepared'], 'made final');
      const said = { kind, fingerprint, channel, accountId, body };
      sends.change(was, { ...judged(isSending, was.attempts), ...said });
    },
    sending: (fence, sendId) => {
      const was = send(fence, sendId, openSends, 'sent');
      sends.change(was, judged(true, was.attempts));
    },
    unsent: (fence, sendId) => {
      sends.change(send(fence, sendId, ['sending'], 'released'), { state: 'prepared' });
    },
    shown: (fence, sendId, shown) => {
      const was = send(fence, sendId, openSends, 'shown');
      if (shown !== undefined) sends.change(was, { shown });
    },
    endSend: (fence, sendId, { state, providerMessageId, cause, reason, body }) => {
      const was = send(fence, sendId, openSends, state);
      const said = scrub === undefined ? body : scrub(body ?? sends.bodyOf(was) ?? '');
      const end = {
        state,
        providerMessageId,
        cause,
        reason: reason && (scrub?.(reason) ?? reason),
        endedAtMs: clock.now(),
      };
      sends.change(was, said === undefined ? end : { ...end, body: said });
    },
  };
}

/** The state of a send that was judged: with one more attempt, if it goes to its channel with the same write. */
function judged(isSending: boolean, attempts: number): Standing<SendState> {
  return isSending ? { state: 'sending', attempts: attempts + 1 } : { state: 'prepared', attempts };
}

/** @throws SluiceError `journal-state` if the row is in none of these states, or not there. */
export function inState<State extends string, Row extends Standing<State>>(
  change: { readonly what: 'update' | 'send'; readonly id: string; readonly wanted: string },
  row: Row | undefined,
  from: readonly State[],
): Row {
  if (row !== undefined && from.includes(row.state)) return row;
  throw journalError('journal-state', { ...change, state: row?.state ?? 'not known' });
}

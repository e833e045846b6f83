import type { KeyValues } from '@sluice/sdk/extension';
import type { Fence, UpdateFence } from '../fence.js';
import type { JournalTransaction } from '../journal-changes.js';
import type { Scrub } from '../privacy/scrub.js';
import type { SessionRecord } from '../store.js';

/** Runs a change with the next write that somebody waits for, before it. */
type Later = (
  run: (at: Pick<JournalTransaction, 'sessions'>) => void | Promise<void>,
) => Promise<void>;

/** The namespace of what is to be scrubbed: by update the session of its turn, and the size of the transcript before. */
const namespace = '/scrub';

/**
 * The transcripts of open messages. A turn that is cut off goes on with its words as they were, and with the arguments of its calls:
 * they are scrubbed by the write that ends their message, also if another host makes it (durability §13.2).
 */
export function openTranscripts(later: Later, values: KeyValues, scrub: Scrub) {
  const begun = new Map<string, string>();
  const keep = (eventId: string, value: { readonly body: string } | undefined): void =>
    void values.write(namespace, eventId, value, { mayWait: true }).catch(() => undefined); // the message fails with it
  return {
    /** A session is saved: perhaps because a turn of an open message begins. */
    saving({ sessionId, lastTurn }: SessionRecord, { eventId }: Partial<UpdateFence>): void {
      if (eventId === undefined || lastTurn?.correlationId !== eventId) return;
      const body = JSON.stringify([sessionId, lastTurn.before.messages]);
      if (begun.get(eventId) !== body) keep(eventId, { body });
      begun.set(eventId, body);
    },
    /** @returns a message as it is written: as it is if its turn needs it. */
    adding(
      sessionId: string,
      body: string,
      { eventId = '' }: Fence & Partial<UpdateFence>,
    ): string {
      const [open] = JSON.parse(begun.get(eventId) ?? '[]');
      return open === sessionId ? body : scrub(body);
    },
    /** An update ends by the next write. */
    async ending(eventId: string): Promise<void> {
      const body = begun.get(eventId) ?? (await values.get(namespace, eventId))?.body;
      if (body === undefined) return;
      const [sessionId, before] = JSON.parse(body);
      keep(eventId, undefined);
      later(({ sessions }) => sessions.scrub(String(sessionId), Number(before), scrub)).then(
        () => begun.delete(eventId),
        () => undefined, // the next try to end it scrubs them
      );
    },
  };
}

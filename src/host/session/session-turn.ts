import type { UpdateRecord } from '@sluice/journal';
import { isOneOf, mayPass, openUpdates } from '@sluice/journal/internal';
import { pause } from 'sluice-kernel/internal';
import type { Place } from '../lanes/slots.js';
import type { FencedParts } from '../parts/parts.js';

/** The namespace in which hosts keep whose turn it is in a session. It has no bound, so no two turns share a row. */
const namespace = '/session-turns';

/** Milliseconds between two looks of a turn that waits. */
const lookEveryMs = 100;

/** The update whose turn runs, by the epoch in which it was begun, and those that wait for it. */
interface Turns {
  readonly holder?: { readonly eventId: string; readonly epoch: number };
  readonly waiting: readonly { readonly eventId: string; readonly seq: number }[];
}

/**
 * Waits for the turn of an update in a session that other hosts may have turns in, too: of those that wait, the one with the lowest
 * number is next. The turn of an update that has ended counts no more, whatever became of its host (durability §12.8).
 *
 * @param place is left while it waits.
 * @returns gives the turn back. If the fence is lost meanwhile, it is none.
 * @throws as the journal does.
 */
export async function sessionTurn(
  parts: FencedParts,
  place: Place,
  { eventId, sessionKey }: { readonly eventId: string; readonly sessionKey: string },
): Promise<Disposable> {
  const { journal, fence, clock, signal, logger } = parts;
  const holder = { eventId, epoch: fence.epoch };
  const read = async () => {
    const persisted = await journal.keyValues.get(namespace, sessionKey);
    const turns: Turns = persisted === undefined ? { waiting: [] } : JSON.parse(persisted.body); // as it was written
    return { turns, expected: persisted?.version ?? null };
  };
  const write = async (turns: Turns, expected: string | null): Promise<boolean> => {
    const isEmpty = turns.holder === undefined && turns.waiting.length === 0;
    const value = isEmpty ? undefined : { body: JSON.stringify(turns) };
    const { status } = await journal.keyValues.write(namespace, sessionKey, value, { expected });
    return status === 'written';
  };
  const recordOf = async (id: string): Promise<UpdateRecord | undefined> =>
    (await journal.updates({ eventId: id, withoutBody: true }))[0];
  const isOpen = async (id: string): Promise<boolean> =>
    isOneOf(openUpdates, (await recordOf(id))?.state ?? '');

  /** @returns whether it has its turn now; if not, it waits, as the journal knows. */
  const take = async (): Promise<boolean> => {
    for (;;) {
      const { turns, expected } = await read();
      const { seq = 0 } = (await recordOf(eventId)) ?? {};
      const others = turns.waiting.filter((one) => one.eventId !== eventId);
      const other = turns.holder?.eventId === eventId ? undefined : turns.holder;
      const isHeld = other !== undefined && (await isOpen(other.eventId));
      const ended = new Set<string>();
      let isNext = !isHeld;
      for (const one of others) {
        if (!isNext || one.seq > seq) break;
        if (await isOpen(one.eventId)) isNext = false;
        else ended.add(one.eventId);
      }
      if (!isNext && others.length < turns.waiting.length) return false; // it is known to wait
      const waiting = others.filter((one) => !ended.has(one.eventId));
      if (!isNext) waiting.push({ eventId, seq });
      waiting.sort((one, two) => one.seq - two.seq);
      const next = isNext ? { holder, waiting } : { ...(isHeld && { holder: other }), waiting };
      if (await write(next, expected)) return isNext;
    }
  };

  const own = JSON.stringify({ holder, waiting: [] });
  /** As a rule nobody waits for it: then it goes with the end of the update, by one write. */
  const releaseTurn = async (): Promise<void> => {
    const given = { expected: { body: own }, signal: fence.signal, mayWait: true };
    const { status } = await journal.keyValues.write(namespace, sessionKey, undefined, given);
    while (status !== 'written') {
      const { turns, expected } = await read();
      const { holder: now, waiting } = turns;
      if (now?.eventId !== eventId || now.epoch !== fence.epoch) return;
      if (await write({ waiting }, expected)) return;
    }
  };

  /** Tries to have its turn. A journal that is away for a while makes it wait. */
  const tried = async (how = take): Promise<boolean> => {
    try {
      return await how();
    } catch (error) {
      if (!mayPass(error)) throw error;
      logger.debug('a turn in a session waits: the journal could not be used', { eventId, error });
      return false;
    }
  };

  const atOnce = () => write({ holder, waiting: [] }, null); // as a rule nobody has it
  let hasTurn = (await tried(atOnce)) || (await tried());
  if (!hasTurn) {
    place.leave();
    do await pause(clock, lookEveryMs, signal);
    while (!signal.aborted && !(hasTurn = await tried()));
    await place.enter();
  }
  if (!hasTurn) {
    place.defer?.(); // it was stopped before its turn had come
    signal.throwIfAborted();
  }
  return {
    [Symbol.dispose]: () => {
      // a message that is lost here goes on elsewhere, or when a person has answered: before those that wait
      if (hasTurn && parts.suspension?.isSuspended !== true && !fence.signal.aborted)
        void releaseTurn().catch((error: unknown) => {
          logger.debug('a turn in a session ends with its message', { sessionKey, error });
        });
    },
  };
}

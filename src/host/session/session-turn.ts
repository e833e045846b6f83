import type { UpdateRecord } from '@sluice/journal';
import { isOneOf, mayPass, openUpdates } from '@sluice/journal/internal';
import { hasFields, WorkItems } from '@sluice/sdk/extension/internal';
import { nodeSignal } from '@sluice/sdk/stream/internal';
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

const isTurns = hasFields<Turns>({ waiting: 'object' });

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
  const at = { namespace, key: sessionKey };
  const items = new WorkItems(journal.keyValues, { isItem: isTurns });
  const recordOf = async (id: string): Promise<UpdateRecord | undefined> =>
    (await journal.updates({ eventId: id, withoutBody: true }))[0];
  const isOpen = async (id: string): Promise<boolean> =>
    isOneOf(openUpdates, (await recordOf(id))?.state ?? '');

  /** @returns whether it has its turn now; if not, it waits, as the journal knows. */
  const take = async (): Promise<boolean> => {
    let isNext = false;
    await items.change(at, async (turns = { waiting: [] }) => {
      const { seq = 0 } = (await recordOf(eventId)) ?? {};
      const others = turns.waiting.filter((one) => one.eventId !== eventId);
      const other = turns.holder?.eventId === eventId ? undefined : turns.holder;
      const isHeld = other !== undefined && (await isOpen(other.eventId));
      const ended = new Set<string>();
      isNext = !isHeld;
      for (const one of others) {
        // the holder goes on: it may have the places that the others wait for
        if (!isNext || one.seq > seq || turns.holder?.eventId === eventId) break;
        if (await isOpen(one.eventId)) isNext = false;
        else ended.add(one.eventId);
      }
      if (!isNext && others.length < turns.waiting.length) return undefined; // it is known to wait
      const waiting = others.filter((one) => !ended.has(one.eventId));
      if (!isNext) waiting.push({ eventId, seq });
      waiting.sort((one, two) => one.seq - two.seq);
      return isNext ? { holder, waiting } : { ...(isHeld && { holder: other }), waiting };
    });
    return isNext;
  };

  const own: Turns = { holder, waiting: [] };
  /** As a rule nobody waits for it: then it goes with the end of the update, by one write. */
  const releaseTurn = async (): Promise<void> => {
    const ending = { ...at, signal: fence.signal, mayWait: true };
    if ((await items.write(ending, undefined, own)) === 'written') return;
    await items.change(at, (now) => {
      if (now?.holder?.eventId !== eventId || now.holder.epoch !== fence.epoch) return undefined;
      return now.waiting.length === 0 ? null : { waiting: now.waiting };
    });
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

  const atOnce = async () => (await items.write(at, own, null)) === 'written'; // as a rule nobody has it
  let hasTurn = (await tried(atOnce)) || (await tried());
  if (!hasTurn) {
    place.leave();
    do await pause(clock, lookEveryMs, signal);
    while (!signal.aborted && !(hasTurn = await tried()));
    await place.enter();
  }
  if (!hasTurn) {
    place.defer?.(); // it was stopped before its turn had come
    nodeSignal(signal).throwIfAborted();
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

import type { UpdateRecord } from '@sluice/journal';
import { isOneOf, mayPass, openUpdates, patiently } from '@sluice/journal/internal';
import { hasFields, WorkItems } from '@sluice/sdk/extension/internal';
import { pause } from 'sluice-kernel/internal';
import type { SharedTurn, SharedTurns } from '../lanes/parked-turns.js';
import type { HostParts } from '../parts/parts.js';

/** The namespace in which hosts keep whose turn it is in a session. It has no bound, so no two turns share a row. */
const namespace = '/session-turns';

/** Milliseconds between two looks of a turn that waits. */
const lookEveryMs = 100;

/** The update whose turn runs, by the epoch in which it was begun, and those that wait for it: one of each host, as a rule. */
interface Turns {
  readonly holder?: { readonly eventId: string; readonly epoch: number };
  readonly waiting: readonly { readonly eventId: string; readonly seq: number }[];
}

const isTurns = hasFields<Turns>({ waiting: 'object' });

/** The row of a session whose turn it is, if nobody waits for it. */
const rowOf = ({ eventId, fence: { epoch } }: SharedTurn): Turns => ({
  ...{ holder: { eventId, epoch }, waiting: [] },
});

const inOrder = (waiting: Turns['waiting']): Turns['waiting'] =>
  waiting.toSorted((one, two) => one.seq - two.seq);

/**
 * The turns of sessions that other hosts may have turns in, too: of the updates that wait, the one with the lowest number is next. The
 * turn of an update that has ended counts no more, whatever became of its host (durability §12.8).
 */
export function sharedTurns({ journal, clock, logger, backlog, signal }: HostParts): SharedTurns {
  const items = new WorkItems(journal.keyValues, { isItem: isTurns });
  /** Updates whose session is being given back. One that is begun again takes it after that: its row would be the same. */
  const givingBack = new Set<string>();
  const recordOf = async (eventId: string): Promise<UpdateRecord | undefined> =>
    (await journal.updates({ eventId, withoutBody: true }))[0];
  const openOf = async (eventId: string): Promise<UpdateRecord | undefined> => {
    const record = await recordOf(eventId);
    return isOneOf(openUpdates, record?.state ?? '') ? record : undefined;
  };
  /** The update waits from now on, as the journal knows, or has its turn. @returns the one before it. */
  const askFor = async (key: string, turn: SharedTurn): Promise<UpdateRecord | undefined> => {
    const { eventId } = turn;
    let first: UpdateRecord | undefined;
    await items.change({ namespace, key }, async (turns = { waiting: [] }) => {
      const { seq = 0 } = (await recordOf(eventId)) ?? {};
      const others = turns.waiting.filter((one) => one.eventId !== eventId);
      const isOwn = turns.holder?.eventId === eventId; // it goes on: it may have the places that the others wait for
      first = turns.holder && !isOwn ? await openOf(turns.holder.eventId) : undefined;
      const holder = first && turns.holder;
      const ended = new Set<string>();
      for (const one of others) {
        if (first !== undefined || one.seq > seq || isOwn) break;
        first = await openOf(one.eventId);
        if (first === undefined) ended.add(one.eventId);
      }
      if (first !== undefined && others.length < turns.waiting.length) return undefined; // it is known to wait
      const waiting = others.filter((one) => !ended.has(one.eventId));
      if (first === undefined) return { ...rowOf(turn), waiting };
      return { ...(holder && { holder }), waiting: inOrder([...waiting, { eventId, seq }]) };
    });
    return first;
  };
  return {
    pause: ({ signal }) => pause(clock, lookEveryMs, signal),
    take: async (key, turn, isFree) => {
      const { eventId } = turn;
      if (givingBack.has(eventId)) return undefined;
      try {
        const isTaken =
          isFree && (await items.write({ namespace, key }, rowOf(turn), null)) === 'written';
        const { slot = 0, lane, ...first } = (!isTaken && (await askFor(key, turn))) || { eventId };
        // this host may have had no room for it; one that is blocked is tried again by what it waits for
        if (lane !== undefined && journal.ownership.fenceOf(slot) !== undefined)
          backlog.turns.want(lane, first.eventId, backlog.blocked.has(lane));
        return first.eventId;
      } catch (error) {
        if (!mayPass(error)) throw error;
        logger.debug('a turn in a session waits: the journal could not be used', {
          eventId,
          error,
        });
        return undefined;
      }
    },
    release: async (key, turn, next) => {
      const { eventId, fence } = turn;
      const follows = next?.signal.aborted === false ? next : undefined;
      if (fence.signal.aborted) return false; // the message goes on elsewhere, before those that wait
      const at = { namespace, key, signal: fence.signal };
      givingBack.add(eventId);
      const over = (): void => void givingBack.delete(eventId);
      const giveBack = async (): Promise<void> => {
        const { seq } = (follows && (await recordOf(follows.eventId))) ?? {};
        await items.change(at, (now) => {
          if (now?.holder?.eventId !== eventId || now.holder.epoch !== fence.epoch)
            return undefined;
          const waiting = now.waiting.filter((one) => one.eventId !== follows?.eventId);
          if (follows !== undefined && seq !== undefined)
            waiting.push({ eventId: follows.eventId, seq }); // before others that come later
          return waiting.length === 0 ? null : { waiting: inOrder(waiting) };
        });
      };
      try {
        // as a rule no other host waits for it: then it goes with the end of the update, by one write
        const written = await items.write(
          { ...at, mayWait: true },
          follows && rowOf(follows),
          rowOf(turn),
        );
        if (written !== 'written') await giveBack();
        over();
        return written === 'written' && follows !== undefined;
      } catch (error) {
        logger.debug('a turn in a session ends with its message', { sessionKey: key, error });
        const mayGo = () => !fence.signal.aborted;
        // else its row stays until the next message of the session, which may never come
        void patiently(clock, signal, giveBack, mayGo).then(over, over);
        return false;
      }
    },
  };
}

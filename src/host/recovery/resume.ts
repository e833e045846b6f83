import type { MessageEnd, SendRecord, UpdateRecord } from '@sluice/journal';
import { endOf, isOneOf, leftBehind, openSends, openUpdates } from '@sluice/journal/internal';
import { definedFields, type Principal } from 'sluice-kernel/internal';
import { beginUpdate, isDeferredToNext, releaseUpdate } from '../ingress/begin-update.js';
import { decodeUpdate } from '../ingress/decode-update.js';
import { endAsJoined, endUpdate, isEndOfAll } from '../ingress/end-update.js';
import { handleUpdate } from '../ingress/handle-update.js';
import { membersOf } from '../ingress/message-batch.js';
import { principalOf } from '../ingress/principal.js';
import { type ReceivedUpdate, updateOf, type Worked } from '../ingress/received-update.js';
import { suspendUpdate } from '../ingress/suspend-update.js';
import { mayBeRefused } from '../ingress/when-full.js';
import type { Place } from '../lanes/slots.js';
import { reportOfRecord } from '../outbox/report-of-record.js';
import type { FencedParts, HostParts } from '../parts/parts.js';
import { underFenceOf } from '../parts/under-fence.js';
import { giveUpSend, settleSend } from './settle-send.js';

/** More sends than one message makes. */
const allSends = 100_000;

/**
 * Claims an update of the journal whose turn has come. What it has left open comes to its end first; where it was answered, it
 * ends as its sends did. One that was begun too often goes to the dead letters, and nothing of it runs.
 *
 * @param of.isOnly no other suspect waits. Otherwise its last attempt may have been ended by one of those, and it gets one
 *   more (durability §7.7).
 * @throws what the journal throws.
 */
export async function resumeUpdate(
  host: HostParts,
  eventId: string,
  { place, isOnly }: { readonly place: Place; readonly isOnly: boolean },
): Promise<Worked> {
  const { journal, options } = host;
  const { maxAttempts = 3 } = options.journal;
  if (isDeferredToNext(host)) return 'done';
  const [record] = await journal.updates({ eventId, states: openUpdates });
  const parts = underFenceOf(host, record?.slot);
  if (record === undefined || parts === undefined) return 'done'; // it has ended meanwhile, or is another host's
  const { attempts, channel, accountId, updateId, receivedAtMs } = record;
  const { account, update, isWhole } = updateOf(host, record);
  if (account === undefined) return 'no-account'; // it was stopped meanwhile
  const left = await deferredMember(parts, record, { eventId, account, update });
  if (left !== undefined) return left;
  const wasBegun = record.state === 'handling' || record.retriedAfterSeq !== undefined;
  const joined = wasBegun ? await membersOf(parts, record) : new Set<ReceivedUpdate>();
  const received = {
    ...{ eventId, account, update, receivedAtMs },
    ...(joined.size > 0 && { joined }),
  };
  const about = definedFields({ channel, accountId, updateId, correlationId: eventId });
  const named: Omit<MessageEnd, 'status'> = { ...about, sends: [] };
  const maySend = wasBegun || mayBeRefused(host, account);
  const earlier = maySend ? await journal.sends({ correlationId: eventId, limit: allSends }) : [];
  const isAnswered = !openOf(earlier).length && endOfAnswered(record, earlier) !== undefined; // only its end was not persisted
  if (attempts >= (isOnly ? maxAttempts : maxAttempts + 1) && !isAnswered) {
    const reason = `it was begun ${attempts} times, and never came to an end`;
    for (const send of openOf(earlier)) await giveUpSend(parts, send, reason);
    return endUpdate(parts, received, { ...named, status: 'failed', reason });
  }
  const decoded = isWhole ? decodeUpdate(parts, account, update) : undefined;
  const principal = decoded && principalOf(parts, account, decoded);
  const settled = await settle(parts, record, { earlier, principal, place });
  if (typeof settled === 'string') return settled;
  const end = endOfAnswered(record, settled);
  if (end !== undefined) return endUpdate(parts, received, { ...named, ...end });
  if (decoded === undefined) {
    const reason = 'its body could not be persisted, and the host ended before it was handled';
    return endUpdate(parts, received, { ...named, status: 'failed', reason });
  }
  return handleUpdate(
    host,
    { ...received, decoded, attempt: attempts + 1 },
    { place, earlier: settled },
  );
}

/**
 * Ends an update that joined another, which has ended (durability §10.7).
 *
 * @returns nothing if it is to be handled on its own.
 */
async function deferredMember(
  parts: FencedParts,
  { joinedTo: to }: UpdateRecord,
  received: Pick<ReceivedUpdate, 'eventId' | 'account' | 'update'>,
): Promise<Worked | undefined> {
  if (to === undefined) return undefined;
  const [leader] = await parts.journal.updates({ eventId: to, withoutBody: true });
  if (leader === undefined) return undefined;
  const { state, outcome } = leader;
  if (isOneOf(openUpdates, state)) return 'blocked'; // its end could not be written yet, and both are claimed again
  if (outcome === undefined || !isEndOfAll(outcome)) return undefined;
  return endAsJoined(parts, received, { isDead: state === 'dead', to });
}

interface Settling {
  readonly earlier: readonly SendRecord[];
  readonly principal: Principal | undefined;
  readonly place: Place;
}

/** Brings what an update has left open to its end. @returns all its sends; otherwise it has to wait. */
async function settle(
  parts: HostParts,
  { eventId, attempts }: UpdateRecord,
  { earlier, principal, place }: Settling,
): Promise<readonly SendRecord[] | Worked> {
  const open = openOf(earlier);
  if (open.length === 0) return earlier;
  const fenced = await beginUpdate(parts, eventId, attempts + 1);
  if (fenced === undefined) return 'blocked'; // also a send may end the process
  for (const send of open)
    if (!(await settleSend(fenced, send, principal))) {
      if (fenced.signal.aborted) return 'done'; // who has its partition next settles it
      await releaseUpdate(parts, { ...fenced.fence, eventId });
      return 'no-account';
    }
  if (fenced.suspension?.isSuspended) return suspendUpdate(fenced, { eventId }, place);
  const settled = await parts.journal.sends({ correlationId: eventId, limit: allSends });
  // the end of one could not be persisted: it may be out, and is not said again
  return openOf(settled).length === 0 ? settled : 'blocked';
}

/**
 * Returns how a message ended whose last reply was prepared before; nothing if it has not come so far. A reply that was sent before
 * an operator had it tried again is not its answer (durability §7.6).
 */
function endOfAnswered(
  { state, retriedAfterSeq = 0 }: UpdateRecord,
  all: readonly SendRecord[],
): Pick<MessageEnd, 'status' | 'reason' | 'sends'> | undefined {
  if (state === 'accepted') return undefined; // it was not begun since
  const sends = all.filter(({ seq }) => seq > retriedAfterSeq);
  const answers = sends.filter(isAnswer);
  if (!answers.some(isLast)) return undefined;
  const reports = sends.filter(({ state }) => !isOneOf(openSends, state)).map(reportOfRecord);
  if (!answers.some(({ kind }) => kind === 'error'))
    return { ...endOf(answers.map(reportOfRecord)), sends: reports };
  const reason = 'it could not be answered, and its sender was told so';
  return { status: 'failed', reason, sends: reports };
}

/** The open sends that an update brings to their end. An unprompted send belongs to the host that owns its partition. */
function openOf(sends: readonly SendRecord[]): readonly SendRecord[] {
  return sends.filter(({ state, kind }) => isOneOf(openSends, state) && kind !== 'unprompted');
}

/** Returns whether a send says what was answered, and not what tools or reasoning showed. */
function isAnswer({ kind }: SendRecord): boolean {
  return kind === 'block' || isConcluding(kind);
}

/** Returns whether a send is the last that its message had: the turn had ended, and is not taken again. */
function isLast({ kind, state, cause, attempts }: SendRecord): boolean {
  // a host that stopped before its channel had it has not answered
  const isLeftBehind =
    state === 'failed' && (cause === leftBehind || (cause === 'aborted' && attempts === 0));
  return isConcluding(kind) && !isLeftBehind;
}

function isConcluding(kind: string): boolean {
  return kind === 'reply' || kind === 'error';
}

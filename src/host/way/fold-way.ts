import type {
  AttemptFact,
  AuditFact,
  DispatchFact,
  GapFact,
  LaneFact,
  QuestionFact,
  SendFact,
  UpdateFact,
  WayFact,
} from './way-record.js';

/** A send with all that is known of it. */
export interface WaySend {
  readonly id: string;
  /** Its newest step. */
  readonly last: SendFact;
  readonly attempts: readonly AttemptFact[];
}

/** The way of one message, or of what belongs to none, as far as its facts tell. */
export interface FoldedWay {
  /** The steps of its update, in order: it may have been begun more than once. */
  readonly update: readonly UpdateFact[];
  /** The number of times that it was begun. */
  readonly begun: number;
  /** The step that ended it; absent as long as it is open. */
  readonly end?: UpdateFact;
  readonly lanes: readonly LaneFact[];
  /** Milliseconds that it waited for its turns. */
  readonly waitedMs: number;
  readonly dispatches: readonly DispatchFact[];
  /** By the id of the dispatch that they judged. */
  readonly audits: ReadonlyMap<string, readonly AuditFact[]>;
  /** The newest step of each question. */
  readonly questions: readonly QuestionFact[];
  readonly sends: readonly WaySend[];
  /** Records that are missing. */
  readonly missing: number;
}

/**
 * Puts the facts of a way together. It is pure: the same facts give the same way, wherever they come from.
 *
 * @param facts of one message, in the order in which they happened.
 * @example
 * const { end, waitedMs, sends } = foldWay(await readWay(reader, { correlationId }));
 */
export function foldWay(facts: Iterable<WayFact>): FoldedWay {
  const of = <K extends WayFact['kind']>(kind: K): Extract<WayFact, { kind: K }>[] =>
    all.filter((fact): fact is Extract<WayFact, { kind: K }> => fact.kind === kind);
  const all = [...facts];
  const update = of('update');
  const begins = update.filter(({ state }) => state === 'begun').length;
  const givenBack = update.filter(({ state }) => state === 'given-back').length;
  const last = update.at(-1);
  const hasEnded = last?.state === 'ended' || last?.state === 'dead';
  const lanes = of('lane');
  const attempts = of('attempt');
  return {
    update,
    begun: begins - givenBack,
    ...(hasEnded && { end: last }),
    lanes,
    waitedMs: lanes.reduce((sum, { waitedMs }) => sum + waitedMs, 0),
    dispatches: of('dispatch'),
    audits: byParent(of('audit')),
    questions: newest(of('question')),
    sends: newest(of('send')).map((send) => ({
      id: send.id,
      last: send,
      attempts: attempts.filter(({ parentId }) => parentId === send.id),
    })),
    missing: of('gap').reduce((sum, { count }: GapFact) => sum + count, 0),
  };
}

function byParent<F extends { readonly parentId?: string }>(facts: readonly F[]): Map<string, F[]> {
  const groups = new Map<string, F[]>();
  for (const fact of facts) {
    const { parentId = '' } = fact;
    groups.set(parentId, [...(groups.get(parentId) ?? []), fact]);
  }
  return groups;
}

/** The newest fact of each thing, in the order in which the things came. */
function newest<F extends { readonly id: string }>(facts: readonly F[]): F[] {
  return [...new Map(facts.map((fact) => [fact.id, fact])).values()];
}

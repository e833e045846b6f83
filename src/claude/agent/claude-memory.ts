import { type AgentRequest, isPrompt, type SessionMessage } from '@sluice/sdk/stream';
import { Recent } from '@sluice/sdk/stream/internal';

/**
 * The knowledge of a session of the SDK, when a turn in it has ended. Numbers count the prompts of our session, from
 * 1.
 */
export interface KnownSession {
  /** The SDK's id of it. */
  readonly session: string;
  /** The last prompt that it was asked. */
  readonly heard: number;
  /** The SDK has written the turn of that prompt down. */
  readonly isWhole: boolean;
  /**
   * The places from which the session can go on: the last message of a turn that ended well. Oldest first, two at
   * most.
   */
  readonly points: readonly SessionPoint[];
}

interface SessionPoint {
  readonly uuid: string;
  /** The last prompt before it. */
  readonly heard: number;
}

/** Bounds the sessions that are remembered. */
const maxSessions = 1_000;

/** The place at which a turn goes on. */
export interface Recalled {
  /** The SDK's session, to be resumed. */
  readonly resume?: string;
  /** The message of that session to go on after; the session's last one by default. */
  readonly resumeAt?: string;
  /**
   * The messages that the resumed session does not hold: everything, or what another provider has answered meanwhile.
   */
  readonly unheard: readonly SessionMessage[];
}

type Turn = Pick<
  AgentRequest,
  'sessionId' | 'history' | 'beforeHistory' | 'begun' | 'providerSession'
>;

/**
 * Which of the SDK's own sessions goes on with which session of ours (spec §16.15): as it was noted in this process, or
 * else as it was kept with the session. A session that is in neither is told its history.
 */
export class ClaudeMemory {
  readonly #sessions = new Recent<string, KnownSession>(maxSessions);

  /**
   * Finds where a turn goes on. If its prompt was begun before, the SDK's session may hold it already: then the turn goes
   * on after the last turn before it that is known to be whole, so that the prompt is not said twice.
   */
  recall(turn: Turn): Recalled {
    const known = this.#known(turn);
    if (known === undefined) return { unheard: turn.history };
    const { session, heard, isWhole } = known;
    if (turn.begun === undefined) return { resume: session, unheard: after(turn, heard, isWhole) };
    const point = known.points.findLast((one) => one.heard < promptNumber(turn));
    if (point === undefined) return { unheard: turn.history };
    const unheard = after(turn, point.heard, true);
    return { resume: session, resumeAt: point.uuid, unheard };
  }

  /** Notes that a turn has begun in a session of the SDK. */
  begun(turn: Turn, session: string): KnownSession {
    const heard = promptNumber(turn);
    const before = this.#known(turn);
    const points = before?.session === session ? before.points : [];
    return this.#note(turn, {
      session,
      heard,
      isWhole: false,
      points: points.filter((point) => point.heard < heard),
    });
  }

  /** Notes that the SDK has written a turn down as a whole. @param uuid of its last message, if it ended well. */
  whole(turn: Turn, known: KnownSession, uuid: string | undefined): KnownSession {
    const { heard, points } = known;
    const point = uuid === undefined ? [] : [{ uuid, heard }];
    const before = points.filter((one) => one.heard < heard);
    return this.#note(turn, { ...known, isWhole: true, points: [...before, ...point].slice(-2) });
  }

  /** Drops a session that the SDK does not find any more. */
  forget({ sessionId }: Turn): void {
    this.#sessions.delete(sessionId);
  }

  #known({ sessionId, providerSession }: Turn): KnownSession | undefined {
    return this.#sessions.get(sessionId) ?? readToken(providerSession);
  }

  #note({ sessionId }: Turn, known: KnownSession): KnownSession {
    this.#sessions.set(sessionId, known);
    return known;
  }
}

/** Which prompt of its session a turn is asked, from 1. */
function promptNumber({ history, beforeHistory }: Turn): number {
  return (beforeHistory?.prompts ?? 0) + history.filter(isPrompt).length + 1;
}

/**
 * Gives the messages after the turns that were heard. If the last of them was not written down as a whole, the SDK has dropped what was
 * cut off in it: that follows, too.
 */
function after(
  { history, beforeHistory }: Turn,
  heard: number,
  isWhole: boolean,
): readonly SessionMessage[] {
  let turns = beforeHistory?.prompts ?? 0;
  return history.filter((message) => {
    if (isPrompt(message)) turns++;
    const isCutOff = message.role === 'assistant' && message.stopReason === 'aborted';
    return turns > heard || (turns === heard && isCutOff && !isWhole);
  });
}

/** A known session as one text, for `keepSession` of a request. */
export function tokenOf({ session, heard, isWhole, points }: KnownSession): string {
  return JSON.stringify({ session, heard, isWhole, points });
}

/** Reads a token back. One that is not understood, such as one of another version, is none. */
function readToken(token: string | undefined): KnownSession | undefined {
  if (token === undefined) return undefined;
  const { session, heard, isWhole, points } = fieldsOf(token);
  if (typeof session !== 'string' || typeof heard !== 'number' || !Array.isArray(points))
    return undefined;
  return { session, heard, isWhole: isWhole === true, points: points.filter(isPoint) };
}

function fieldsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(token));
  } catch {
    return {};
  }
}

function isPoint(value: unknown): value is SessionPoint {
  const { uuid, heard } = Object(value);
  return typeof uuid === 'string' && typeof heard === 'number';
}

import type { TranscriptEntry, TranscriptSize } from '@sluice/sdk/stream';
import { freezePlain } from 'sluice-kernel/internal';
import { type KeptMessage, storedEntry } from '../commit/session-store.js';
import type { TranscriptPart } from '../store.js';
import { Held } from './held.js';

interface HeldEntry {
  readonly entry: TranscriptEntry;
  readonly characters: number;
}

/** The newest messages of one transcript, oldest first. */
interface Tail {
  readonly held: HeldEntry[];
  characters: number;
  /** The size of the whole transcript. */
  size: TranscriptSize;
  /** The most messages that were asked for, counted from the newest. */
  wanted: number;
}

const mostCharactersHeld = 4 * 1024 * 1024;

/**
 * The messages that turns read, of the sessions that were read last: a turn of such a session reads and parses none of them
 * again (durability §1.17). They are frozen, because each reader gets the same objects.
 *
 * @example
 * const tails = new TranscriptTails(() => database.revision);
 * tails.part('session-1', { last: 32 }) ?? readRows();
 */
export class TranscriptTails {
  /** By the ids of their sessions. */
  readonly #tails: Held<Tail>;

  /** @param revision of the database. @param mostCharacters of the JSON of all messages that are held. */
  constructor(revision: () => number, mostCharacters = mostCharactersHeld) {
    this.#tails = new Held(mostCharacters, revision);
  }

  /** The size of a transcript; `undefined` if nothing of it is held. */
  size(sessionId: string): TranscriptSize | undefined {
    return this.#tails.get(sessionId)?.size;
  }

  /** A part of a transcript, oldest first; `undefined` if not all of it is held. */
  part(sessionId: string, part: TranscriptPart): readonly TranscriptEntry[] | undefined {
    const tail = this.#tails.get(sessionId);
    if (tail === undefined) return undefined;
    const { last, skip = 0 } = part;
    tail.wanted = Math.max(tail.wanted, skip + last);
    const { held, size } = tail;
    if (held.length < Math.min(skip + last, size.messages)) return undefined;
    const end = Math.max(0, held.length - skip);
    return held.slice(Math.max(0, end - last), end).map(({ entry }) => entry);
  }

  /**
   * Holds a part that was read from the file, if it is next to what is held.
   *
   * @param messages newest first.
   * @returns the messages, oldest first.
   */
  read(
    sessionId: string,
    { last, skip = 0 }: TranscriptPart,
    messages: readonly KeptMessage[],
  ): readonly TranscriptEntry[] {
    const read = messages.map(heldOf).reverse();
    const newest = skip === 0 ? messages[0] : undefined;
    const tail = this.#tails.get(sessionId);
    if (newest !== undefined)
      this.#hold(sessionId, read, sizeOf(newest), Math.max(last, tail?.wanted ?? 0));
    else if (tail !== undefined && tail.held.length === skip)
      this.#hold(sessionId, [...read, ...tail.held], tail.size, tail.wanted);
    return read.map(({ entry }) => entry);
  }

  /** Takes a message that a transaction adds to a transcript. */
  added(sessionId: string, message: KeptMessage): void {
    const tail = this.#tails.get(sessionId);
    if (tail === undefined) return;
    const one = heldOf(message);
    tail.held.push(one);
    tail.characters += one.characters;
    while (tail.held.length > tail.wanted) tail.characters -= tail.held.shift()?.characters ?? 0;
    tail.size = sizeOf(message);
    this.#tails.set(sessionId, tail, tail.characters);
  }

  /** Lets go of a transcript. */
  forget(sessionId: string): void {
    this.#tails.delete(sessionId);
  }

  #hold(sessionId: string, held: HeldEntry[], size: TranscriptSize, wanted: number): void {
    const characters = held.reduce((sum, one) => sum + one.characters, 0);
    this.#tails.set(sessionId, { held, characters, size, wanted }, characters);
  }
}

function heldOf({ body }: KeptMessage): HeldEntry {
  const entry = storedEntry(body);
  freezePlain(entry, []);
  return { entry, characters: body.length };
}

function sizeOf({ messages, prompts }: KeptMessage): TranscriptSize {
  return { messages, prompts };
}

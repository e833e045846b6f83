/**
 * The conversations in which a reply grows now: at most one each, since two that grow side by side could not be told
 * apart. Whoever streams into the same channels shares one of these.
 *
 * @example
 * const streams = new ActiveStreams();
 * await deliverStream(provider, channel, { kernel, trigger, streams });
 */
export class ActiveStreams {
  readonly #conversations = new Set<string>();

  get size(): number {
    return this.#conversations.size;
  }

  /** Returns whether a reply grows there now. */
  isTaken(place: StreamPlace): boolean {
    return this.#conversations.has(keyOf(place));
  }

  /**
   * Takes the place of a conversation, at once.
   *
   * @returns a handle that gives it back; nothing if another stream has it.
   */
  begin(place: StreamPlace): Disposable | undefined {
    const key = keyOf(place);
    if (this.#conversations.has(key)) return undefined;
    this.#conversations.add(key);
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#conversations.delete(key);
        isHeld = false; // the second time another may have it
      },
    };
  }
}

function keyOf({ channel = '', accountId = '', to, threadId = '' }: StreamPlace): string {
  return JSON.stringify([channel, accountId, to, String(threadId)]);
}

/** The place where a stream is shown. */
export interface StreamPlace {
  readonly channel?: string;
  readonly accountId?: string;
  readonly to: string;
  readonly threadId?: string | number;
}

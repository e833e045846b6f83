import type { SessionEvent } from '@sluice/sdk/stream';

/**
 * Handles events one by one, in the order they come: at once, unless one before has to wait. An event that comes out
 * of a callback waits until the event that called it is done.
 */
export function eventQueue(step: (event: SessionEvent) => Promise<void> | undefined) {
  let waiting: SessionEvent[] = [];
  let isStepping = false;
  let busy: Promise<void> | undefined;

  /** Handles what waits, up to an event that has to wait for something itself. */
  function handleWaiting(): Promise<void> | undefined {
    isStepping = true;
    let wait: Promise<void> | undefined;
    while (wait === undefined) {
      const event = waiting.shift();
      if (event === undefined) break;
      wait = step(event);
    }
    isStepping = false;
    return wait;
  }

  async function handleRest(first: Promise<void>): Promise<void> {
    let wait: Promise<void> | undefined = first;
    while (wait !== undefined) {
      await wait;
      wait = handleWaiting();
    }
    busy = undefined;
  }

  return {
    /** Resolves once the event is handled; nothing if it is already. */
    handle(event: SessionEvent): Promise<void> | undefined {
      waiting.push(event);
      if (busy === undefined && !isStepping) {
        const wait = handleWaiting();
        if (wait !== undefined) busy = handleRest(wait);
      }
      return busy;
    },
    /** Resolves once every event that came so far is handled. */
    async settled(): Promise<void> {
      await busy;
    },
    /** Drops what waits. */
    clear(): void {
      waiting = [];
    },
  };
}

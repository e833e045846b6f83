import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { VirtualClock } from '../../src/testing/index.js';

/** Milliseconds of virtual time that a step is long at least. A step goes on to the next timer. */
const stepMs = 50;
/** Turns of the event loop in which nothing happens, before time passes. */
const quietTurns = 10;

/** If this process waits for a file: that takes real time, and virtual time must not pass meanwhile. */
function readsFiles(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
}

/** Lets time pass, from timer to timer and never while a call is under way, until something is so. */
export function quietUntil(
  clock: VirtualClock,
  server: { readonly calls: readonly unknown[]; readonly isQuiet: boolean },
) {
  return async (isSo: () => boolean, what: string): Promise<void> => {
    for (let steps = 0; !isSo(); steps++) {
      if (steps > 20_000) throw new Error(`it never came to this: ${what}`);
      await sleep(1); // a call reaches the server, or its answer the client
      const calls = server.calls.length;
      let isReading = readsFiles();
      for (let turns = 0; turns < quietTurns; turns++) {
        await turn();
        isReading ||= readsFiles();
      }
      if (!isReading && server.isQuiet && calls === server.calls.length && !isSo())
        await clock.advance(Math.max(stepMs, clock.nextMs ?? 0));
    }
  };
}

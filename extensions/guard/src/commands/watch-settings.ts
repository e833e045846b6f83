import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from 'sluice';
import { readLedger, readText } from '../install/ledger.js';
import { places } from '../install/places.js';
import { brokenHooks } from './doctor.js';

/** Milliseconds between two looks, where the system tells of no change. */
const lookMs = 2_000;

interface Watched {
  /** The folder of the guard's token. */
  readonly folder: string;
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** Told once of each change: the log has it, and the chat that questions go to. */
  readonly tell: (problem: string) => void;
}

/** Tells at once when hooks do not stand any more as `init` wrote them, or when the guard's own files change. */
export function watchSettings({ folder, clock, tell }: Watched): Disposable {
  const entries = readLedger(folder);
  const last = new Map<string, unknown>(entries.map(({ path, after }) => [path, after]));
  const look = (): void => {
    for (const entry of entries) {
      const { path, agent } = entry;
      const text = readOr(path);
      if (text === last.get(path)) continue;
      last.set(path, text);
      const place = places.find(({ codec }) => codec.agent === agent);
      const told = place ? [...brokenHooks(place, entry).values()] : [`${path} was changed`];
      const [first, ...more] = told;
      if (first !== undefined)
        tell(more.length === 0 ? first : `${first}, and ${more.length} more`);
    }
  };
  const folders = new Set(entries.map(({ path }) => dirname(path)));
  const watchers = [...folders].flatMap((one) => watcherOf(one, look));
  let timer = clock.setTimeout(again, 0);
  function again(): void {
    look();
    timer = clock.setTimeout(again, lookMs);
  }
  return {
    [Symbol.dispose]: () => {
      clock.clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

function watcherOf(folder: string, look: () => void): readonly FSWatcher[] {
  try {
    const watcher = watch(folder, { persistent: false }, look);
    return [watcher.on('error', () => watcher.close())];
  } catch {
    return []; // the clock looks
  }
}

function readOr(path: string): unknown {
  try {
    return readText(path);
  } catch {
    return undefined; // it cannot be read, which is a change
  }
}

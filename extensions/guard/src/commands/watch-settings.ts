import type { Clock } from 'sluice';
import { readLedger, readText } from '../install/ledger.js';
import { brokenHooks } from './doctor.js';

/** Milliseconds between two looks. */
const lookMs = 1_000;

interface Watched {
  /** The folder of the guard's token. */
  readonly folder: string;
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** Told once of each change: the log has it, and the chat that questions go to. */
  readonly tell: (problem: string) => void;
}

/** Tells within a second when hooks do not stand any more as `init` wrote them, or when the guard's own files change. */
export function watchSettings({ folder, clock, tell }: Watched): Disposable {
  const entries = readLedger(folder);
  const last = new Map<string, unknown>(entries.map(({ path, after }) => [path, after]));
  let timer = clock.setTimeout(look, 0);
  return { [Symbol.dispose]: () => clock.clearTimeout(timer) };

  function look(): void {
    for (const entry of entries) {
      const { path, agent } = entry;
      const text = readOr(path);
      if (text === last.get(path)) continue;
      last.set(path, text);
      const told = agent ? [...brokenHooks(entry).values()] : [`${path} was changed`];
      const [first, ...more] = told;
      if (first !== undefined)
        tell(more.length === 0 ? first : `${first}, and ${more.length} more`);
    }
    timer = clock.setTimeout(look, lookMs);
  }
}

function readOr(path: string): unknown {
  try {
    return readText(path);
  } catch {
    return undefined; // it cannot be read, which is a change
  }
}

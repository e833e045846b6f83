import type { LegacyDivergenceName } from '../../../src/openclaw/index.js';
import type { ParityEnding } from '../../../src/openclaw/parity/index.js';
import { profiles } from '../../../src/openclaw/profiles/index.js';
import type { HookSet } from '../hooks/hook-set.js';
import type { Observation } from '../hooks/observe.js';
import { caught, type Followed } from './failure.js';
import { followModifying } from './modifying.js';
import { inOrder, type Placed } from './order.js';
import { Recorder } from './recorder.js';
import { Rows } from './rows.js';
import { followSync } from './sync.js';
import { followVoid } from './void.js';

/** What is to be seen of a set's run, and the rows that made it so. */
export interface Prediction {
  readonly seen: Observation;
  readonly used: ReadonlySet<LegacyDivergenceName>;
}

/**
 * Everything that can be seen of a set's run: a model written from the description of the legacy behaviour, with no
 * promise and no clock in it. Without rows it is the legacy runner of profile 2026.3; each row makes it differ where,
 * and only where, the row says.
 */
export function predict(set: HookSet, on: Iterable<LegacyDivergenceName> = []): Prediction {
  const rows = new Rows(on);
  const recorder = new Recorder(set);
  const { kind } = profiles['2026.3'][set.hook];
  const placed = inOrder(set.handlers, rows);
  if (placed.length > 0 && kind !== 'sync') {
    const many = `${placed.length} handlers${kind === 'modifying' ? ', sequential' : ''}`;
    recorder.tell('debug', `[hooks] running ${set.hook} (${many})`);
  }
  const ending = endingOf({ set, recorder, rows }, placed);
  return { seen: recorder.done(ending, placed.length, kind === 'sync'), used: rows.used };
}

function endingOf(run: Followed, placed: readonly Placed[]): ParityEnding {
  const { recorder, set } = run;
  const { kind } = profiles['2026.3'][set.hook];
  let ending = { kind: 'returned', value: undefined } as ParityEnding; // changed in a closure below
  if (placed.length > 0 && kind === 'void') return followVoid(run, placed);
  const stopped = caught(() => {
    if (placed.length === 0) return;
    ending = kind === 'sync' ? followSync(run, placed) : followModifying(run, placed);
  });
  if (stopped !== undefined)
    ending = { kind: 'threw', message: stopped.message, cause: stopped.cause };
  if (ending.kind !== 'pending') recorder.note(ending.kind);
  return ending;
}

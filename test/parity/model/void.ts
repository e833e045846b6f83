import type { ParityEnding } from '../../../src/openclaw/parity/index.js';
import type { HandlerSpec } from '../hooks/hook-set.js';
import { caught, type Followed, fail, type Stopped } from './failure.js';
import type { Placed } from './order.js';
import type { Begun } from './recorder.js';

/** All are called in one tick; the run ends with the slowest, or with the first failure where those are thrown on. */
export function followVoid(run: Followed, placed: readonly Placed[]): ParityEnding {
  const { recorder } = run;
  let first: Stopped | undefined;
  const finish = ({ spec, begun }: { readonly spec: HandlerSpec; readonly begun: Begun }): void => {
    const how = begun.failed ?? begun.end();
    const failed = 'error' in how && caught(() => fail(run, spec, how.error));
    if (failed) first ??= failed;
  };
  const calls = placed.map(({ spec, index }) => {
    const call = { spec, index, begun: recorder.call(index, recorder.event, true) };
    if (spec.timing === 'now') finish(call); // told before the next is called
    return call;
  });
  for (const timing of ['async', 'thenable'] as const)
    for (const call of calls) if (call.spec.timing === timing) finish(call);
  let ending = first && threw(first);
  if (ending !== undefined) recorder.note('threw');
  for (const call of calls.filter(({ spec }) => spec.timing === 'gated').toSorted(byRelease)) {
    recorder.note(`${call.index} goes on`);
    finish(call);
    if (first === undefined || ending !== undefined) continue;
    ending = threw(first);
    recorder.note('threw');
  }
  if (ending !== undefined) return ending;
  if (calls.some(({ spec }) => spec.timing === 'never')) return { kind: 'pending' };
  recorder.note('returned');
  return { kind: 'returned', value: undefined };
}

const byRelease = (a: Placed, b: Placed): number =>
  a.spec.release - b.spec.release || a.index - b.index;

function threw({ message, cause }: Stopped): ParityEnding {
  return { kind: 'threw', message, cause };
}

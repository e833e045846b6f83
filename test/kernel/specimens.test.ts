import { setFlagsFromString } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../src/kernel/run/services/call.js';
import type { Run } from '../../src/kernel/run/state/run.js';
import { contributor, type LabCall, labKernel } from '../support/kernel-lab.js';
import { labSample, labStages } from '../support/kernel-stages.js';

setFlagsFromString('--allow-natives-syntax');
const haveSameMap = new Function('left', 'right', 'return %HaveSameMap(left, right)') as (
  left: object,
  right: object | undefined,
) => boolean; // V8's own word for two objects of one hidden class
setFlagsFromString('--no-allow-natives-syntax');

/** The names of those that have the hidden class of no specimen of their kernel. */
function strangers(run: Run, objects: Readonly<Record<string, object | undefined>>): string[] {
  const specimens = Reflect.get(run.services, 'specimens') as readonly object[];
  return Object.keys(objects).filter((name) => {
    const one = objects[name];
    return one === undefined || !specimens.some((specimen) => haveSameMap(specimen, one));
  });
}

describe('the specimens of a kernel', () => {
  it.each(['lab.sync', 'lab.sequential', 'lab.parallel'])(
    'have the hidden classes of what a dispatch on %s makes (§1.5)',
    async (family) => {
      const kernel = labKernel(labStages);
      const add = contributor(kernel, family);
      const calls: LabCall[] = [];
      const waits: (object | undefined)[] = [];
      const isSync = family === 'lab.sync';
      const runOf = (call: LabCall): Run => sourceOf(call) as Run; // nothing else is behind a call
      add(family === 'lab.parallel' ? 'observer' : 'mutator', 'a', (call) => {
        calls.push(call);
        if (isSync) return { title: 'new' };
        return Promise.resolve().then(() => {
          waits.push(runOf(call).wait);
          return family === 'lab.parallel' ? undefined : { title: 'new' };
        });
      });
      const outcome = await kernel.run(family, labSample());
      const [call] = calls;
      if (call === undefined) throw new Error('the handler was not called');
      const run = runOf(call);
      expect(outcome.failures).toEqual([]);
      expect(
        strangers(run, {
          run,
          call,
          outcome,
          ...(!isSync && { wait: waits[0] }),
          ...(family !== 'lab.parallel' && { work: run.work }),
        }),
      ).toEqual([]);
    },
  );

  it('have that of an outcome that nobody heard (§1.5)', async () => {
    const kernel = labKernel(labStages);
    const outcome = await kernel.run('lab.parallel', labSample());
    const heard = labKernel(labStages);
    const calls: LabCall[] = [];
    contributor(heard, 'lab.parallel')('observer', 'a', (call) => void calls.push(call));
    await heard.run('lab.parallel', labSample());
    expect(strangers(sourceOf(calls[0]) as Run, { outcome })).toEqual([]);
  });
});

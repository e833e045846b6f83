import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InternalHookEvent } from '../../src/openclaw/internal-hooks/event.js';
import { internalHookModel } from '../support/internal-hook-model.js';
import {
  bridgedBus,
  type InternalBus,
  internalCalls,
  internalHookSequences,
  internalTranscript,
} from '../support/internal-hook-sequences.js';
import { type InternalHooksModule, openClawModule } from '../support/openclaw-modules.js';
import { openClawPackage } from '../support/openclaw-package.js';

const sets = 2_000;
const seed = 20_260_315;
const { root } = await openClawPackage();

/** The real bus, emptied: one instance serves all sequences. Its bundle has left unregistering out. */
function realBus(real: InternalHooksModule): InternalBus {
  real.clearInternalHooks();
  const before = real.logged.length;
  const map = real.globals.__openclaw_internal_hook_handlers__;
  return {
    register: real.registerInternalHook as InternalBus['register'], // its types know the five event types only
    unregister: (key, handler) => {
      const all: unknown[] = map.get(key) ?? [];
      const at = all.indexOf(handler);
      if (at >= 0) all.splice(at, 1);
      if (all.length === 0) map.delete(key);
    },
    clear: real.clearInternalHooks,
    keys: () => [...map.keys()],
    create: (...args) => real.createInternalHookEvent(...args) as InternalHookEvent,
    trigger: (event) => real.triggerInternalHook(event),
    logged: () => real.logged.slice(before).map(({ level, text }) => `${level} ${text}`),
  };
}

describe.skipIf(root === undefined)('the internal hook bus and the real one', () => {
  it(`do the same in ${sets} generated sequences, and so does the model`, async () => {
    const real = await openClawModule(root as string, 'internalHooks');
    let compared = 0;
    let calls = 0;
    await fc.assert(
      fc.asyncProperty(internalHookSequences, async (sequence) => {
        const expected = await internalTranscript(realBus(real), sequence);
        expect(await internalTranscript(bridgedBus(), sequence)).toEqual(expected);
        expect(await internalTranscript(internalHookModel(), sequence)).toEqual(expected);
        compared++;
        calls += internalCalls(expected);
      }),
      { seed, numRuns: sets },
    );
    console.log(`internal hooks: ${compared} sequences, ${calls} handler calls, seed ${seed}`);
    expect(compared).toBeGreaterThanOrEqual(sets);
  }, 300_000);
});

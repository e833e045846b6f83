import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inOrder } from '../../../src/sdk/stream/internal.js';

const kinds = ['at once', 'waits', 'throws', 'rejects'] as const;
const step = fc.constantFrom(...kinds);

/** Steps that say when they begin and when they end. */
function stepsOf(chosen: readonly (typeof kinds)[number][]) {
  const log: string[] = [];
  const steps = chosen.map((kind, at) => (): Promise<void> | undefined => {
    log.push(`${at} begins`);
    if (kind === 'throws') throw new Error(`${at}`);
    if (kind === 'at once') return undefined;
    return Promise.resolve().then(() => {
      if (kind === 'rejects') throw new Error(`${at}`);
      log.push(`${at} ends`);
    });
  });
  return { log, steps };
}

describe('steps in their order', () => {
  it('are those of a loop that waits for each, up to the first that fails', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (chosen) => {
        const [one, other] = [stepsOf(chosen), stepsOf(chosen)];
        const looped = (async () => {
          for (const take of other.steps) await take();
        })();
        const taken = (async () => inOrder(...one.steps))();
        const [how, expected] = await Promise.allSettled([taken, looped]);
        expect([how, one.log]).toEqual([expected, other.log]);
      }),
    );
  });

  it('give no promise if there is none to wait for', () => {
    expect(inOrder()).toBeUndefined();
    expect(inOrder(...stepsOf(['at once', 'at once']).steps)).toBeUndefined();
    expect(inOrder(...stepsOf(['at once', 'waits']).steps)).toBeInstanceOf(Promise);
  });
});

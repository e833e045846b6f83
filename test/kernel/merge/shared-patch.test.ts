import { describe, expect, it } from 'vitest';
import { createKernel } from '../../../src/kernel/internal.js';

describe('a shared field that a patch sets (§1.7)', () => {
  const family = 'transcript.message.writing';

  it('passes by reference: the object that was returned, and not frozen', () => {
    const kernel = createKernel();
    const message = { role: 'user', content: [{ type: 'text', text: 'a' }] };
    const seen: unknown[] = [];
    const add = (id: string, answer: object | null) =>
      kernel.contribute({
        family,
        class: 'mutator',
        extensionId: 'x',
        id,
        handler: ({ payload }) => {
          seen.push(payload.message);
          return answer;
        },
      });
    add('1', { message });
    add('2', null);
    const outcome = kernel.dispatchSync(family, { message: { role: 'user', content: 'b' } });
    expect(outcome.payload.message).toBe(message);
    expect(seen[1]).toBe(message);
    expect(Object.isFrozen(message)).toBe(false);
    expect(Object.isFrozen(outcome.payload)).toBe(true);
  });

  it('is a change where it is another object, also one that says the same', () => {
    const kernel = createKernel();
    const emitted = { role: 'user', content: 'b' };
    const copy = { ...emitted };
    kernel.contribute({
      family,
      class: 'mutator',
      extensionId: 'x',
      id: 'copy',
      handler: () => ({ message: copy }),
    });
    const outcome = kernel.dispatchSync(family, { message: emitted });
    expect(outcome.payload.message).toBe(copy);
    expect(outcome.changes.map(({ path }) => path)).toEqual(['message']);
  });
});

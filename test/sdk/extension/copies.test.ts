import { describe, expect, it } from 'vitest';
import { defineExtension, loadExtension } from '../../../src/sdk/extension/index.js';
import { thisCopy } from '../../../src/sdk/extension/internal.js';
import { createTestKernel } from '../../../src/testing/index.js';

const mark = Symbol.for('sluice.copy');
const plain = { id: 'acme', setup: () => undefined };

describe('the copy that defines an extension (§13.12)', () => {
  it('is noted on it, out of the way of who compares or writes it', () => {
    const extension = defineExtension(plain);
    expect(Reflect.get(extension, mark)).toEqual(thisCopy);
    expect(Object.getOwnPropertySymbols({ ...extension })).toEqual([]);
  });

  it.each([
    ['this one', thisCopy, 'loaded'],
    ['another one', { folder: '/srv/other/node_modules/sluice', version: '0.0.9' }, 'disabled'],
    ['one that was bundled into a program', { folder: '', version: '0.1.0' }, 'loaded'],
  ])('is %s', async (_, copy, status) => {
    const extension = { ...defineExtension(plain), [mark]: copy };
    const { kernel } = createTestKernel();
    const loaded = await loadExtension(kernel, extension);
    expect(loaded.status).toBe(status);
    if (loaded.status === 'disabled')
      expect(loaded.error).toMatchObject({
        code: 'two-copies',
        message: expect.stringContaining(
          `/srv/other/node_modules/sluice (0.0.9), and the host is the Sluice in ${thisCopy.folder}`,
        ),
      });
  });
});

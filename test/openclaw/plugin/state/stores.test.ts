import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loadLegacyPlugin } from '../../../../src/openclaw/index.js';
import { memoryKeyValues } from '../../../../src/sdk/extension/internal.js';
import { createTestKernel } from '../../../../src/testing/index.js';

type Calls = Record<string, (...given: unknown[]) => unknown>;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** The stores of a plugin; `again` is its next process. */
function load() {
  const stateDir = mkdtempSync(join(tmpdir(), 'sluice-stores-'));
  folders.push(stateDir);
  const { kernel, clock } = createTestKernel();
  const values = memoryKeyValues(clock);
  const again = (): Record<'openBlobStore' | 'openKeyedStore', (options: object) => Calls> => {
    let state: unknown;
    const plugin = loadLegacyPlugin(
      (api: { runtime: { state: unknown } }) => void (state = api.runtime.state),
      {
        ...{ kernel, clock, pluginId: 'post', stateDir },
      },
    );
    plugin.state.keepIn(values);
    return state as ReturnType<typeof again>; // as a plugin calls it, untyped
  };
  return { stateDir, clock, again };
}

describe('a blob store of a plugin (event-pipeline §17.35)', () => {
  it('keeps bytes with their metadata for the next process, within its bounds', async () => {
    const { again, clock } = load();
    const options = {
      namespace: 'media',
      maxEntries: 3,
      maxBytesPerEntry: 4,
      maxBytesPerNamespace: 6,
    };
    const store = again().openBlobStore(options);
    await store['register']?.('a', Buffer.from('abcd'), { mime: 'text/plain' }, { ttlMs: 50 });
    expect(await store['registerIfAbsent']?.('a', Buffer.from('x'), {})).toBe(false);
    const next = again().openBlobStore(options);
    const found = (await next['lookup']?.('a')) as { bytes: Uint8Array };
    expect(found).toMatchObject({ key: 'a', metadata: { mime: 'text/plain' }, sizeBytes: 4 });
    expect(Buffer.from(found.bytes).toString()).toBe('abcd');
    await expect(next['register']?.('b', Buffer.from('abcde'), {})).rejects.toThrow('5 bytes');
    await next['register']?.('b', Buffer.from('ab'), {});
    expect(await next['entries']?.()).toMatchObject([{ key: 'a' }, { key: 'b', sizeBytes: 2 }]);
    await expect(next['register']?.('c', Buffer.from('c'), {})).rejects.toThrow('no room');
    await clock.advance(50);
    await next['register']?.('c', Buffer.from('c'), {});
    expect(await next['lookup']?.('a')).toBeUndefined();
    expect([await next['delete']?.('b'), await next['delete']?.('b')]).toEqual([true, false]);
  });
});

describe('compare and apply (event-pipeline §17.35)', () => {
  it('changes an entry in one step if nobody has changed it since it was observed', async () => {
    const { again } = load();
    const store = again().openKeyedStore({ namespace: 'n', maxEntries: 10 });
    const other = again().openKeyedStore({ namespace: 'n', maxEntries: 10 });
    const apply = (comparison: string, intent: object) =>
      store['compareAndApply']?.('a', comparison, intent);
    const set = (value: unknown) => ({ operation: 'update', action: 'set', value });
    const observe = async () =>
      (await store['observe']?.('a')) as { value: unknown; comparison: string };
    const none = await observe();
    expect(none.value).toBeUndefined();
    expect(await apply(none.comparison, set({ n: 1 }))).toEqual({ status: 'applied' });
    const one = await observe();
    expect(await apply(none.comparison, set({ n: 9 }))).toEqual({
      status: 'conflict',
      current: one,
    });
    await other['register']?.('a', { n: 2 });
    const two = await observe();
    expect(await apply(one.comparison, { operation: 'delete', action: 'delete' })).toEqual({
      ...{ status: 'conflict', current: two },
    });
    expect(await apply(two.comparison, { operation: 'update', action: 'keep' })).toEqual({
      status: 'unchanged',
    });
    expect(await store['lookupMany']?.(['a', 'b'])).toEqual([
      { ok: true, value: { n: 2 } },
      { ok: true, value: undefined },
    ]);
    expect(await apply(two.comparison, { operation: 'delete', action: 'delete' })).toEqual({
      status: 'applied',
    });
    expect(await apply(none.comparison, { operation: 'delete', action: 'delete' })).toEqual({
      status: 'unchanged',
    });
  });
});

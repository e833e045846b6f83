import { describe, expect, it } from 'vitest';
import { loadLegacyPlugin } from '../../../../src/openclaw/index.js';
import type { KeyValues } from '../../../../src/sdk/extension/index.js';
import { memoryKeyValues } from '../../../../src/sdk/extension/internal.js';
import { createTestKernel } from '../../../../src/testing/index.js';

interface Store {
  register(key: string, value: unknown, how?: { ttlMs: number }): Promise<void>;
  registerIfAbsent(key: string, value: unknown): Promise<boolean>;
  update(key: string, change: (value: unknown) => unknown): Promise<boolean>;
  lookup(key: string): Promise<unknown>;
  consume(key: string): Promise<unknown>;
  delete(key: string): Promise<boolean>;
  deleteIf(key: string, fits: (value: unknown) => boolean): Promise<boolean>;
  deleteIfEqual(key: string, expected: unknown): Promise<boolean>;
  entries(): Promise<readonly { key: string }[]>;
  count(): Promise<number>;
  clear(): Promise<void>;
}

interface Event {
  readonly id: string;
  readonly attempts: number;
  readonly lastError?: string;
  readonly claim: { readonly token: string; readonly ownerId: string };
}

interface Queue {
  enqueue(id: string, payload: unknown, how?: object): Promise<{ kind: string; record: Event }>;
  listPending(options?: object): Promise<readonly Event[]>;
  listClaims(): Promise<readonly Event[]>;
  listFailed(): Promise<readonly (Event & { reason: string })[]>;
  claim(id: string): Promise<Event | null>;
  claimNext(options?: object): Promise<Event | null>;
  refreshClaim(claim: Event): Promise<boolean>;
  complete(name: string | Event): Promise<boolean>;
  release(name: string | Event, how?: object): Promise<boolean>;
  fail(name: string | Event, how: object): Promise<boolean>;
  delete(name: string | Event): Promise<boolean>;
  recoverStaleClaims(options?: object): Promise<number>;
  prune(options?: object): Promise<number>;
}

interface State {
  openKeyedStore(options: object): Store;
  openChannelIngressQueue(options?: object): Queue;
  openChannelIngressDrain(options: object): unknown;
}

function load(through = (values: KeyValues): KeyValues => values) {
  const { kernel, clock } = createTestKernel();
  const values = through(memoryKeyValues(clock));
  const begin = () => {
    let state: State | undefined;
    const register = (api: { runtime: { state: State } }) => void (state = api.runtime.state);
    const plugin = loadLegacyPlugin(register, { kernel, clock, pluginId: 'post' });
    plugin.state.keepIn(values);
    if (state === undefined) throw new Error('it has not registered');
    return { plugin, state };
  };
  return { clock, kernel, begin, ...begin() };
}

const namesOf = (events: readonly Event[]) => events.map(({ id }) => id);

describe('a keyed store of a plugin (event-pipeline §17.35)', () => {
  it('keeps values for the next process, each namespace by itself', async () => {
    const { state, begin } = load();
    const store = state.openKeyedStore({ namespace: 'seen', maxEntries: 10 });
    await store.register('a\u0000b', { n: 1 });
    await state.openKeyedStore({ namespace: 'see', maxEntries: 10 }).register('x', 2);
    const next = begin().state.openKeyedStore({ namespace: 'seen', maxEntries: 10 });
    expect(await next.lookup('a\u0000b')).toEqual({ n: 1 });
    expect(await next.entries()).toMatchObject([{ key: 'a\u0000b', value: { n: 1 } }]);
    await next.clear();
    expect(await next.count()).toBe(0);
    expect(await begin().state.openKeyedStore({ namespace: 'see' }).lookup('x')).toBe(2);
  });

  it('changes an entry in one step', async () => {
    const { state } = load();
    const store = state.openKeyedStore({ namespace: 'n', maxEntries: 10 });
    const both = [store.registerIfAbsent('k', 1), store.registerIfAbsent('k', 2)];
    expect(await Promise.all(both)).toEqual([true, false]);
    expect(await store.update('k', (value) => Number(value) + 1)).toBe(true);
    expect(await store.update('k', () => undefined)).toBe(false);
    expect(await store.deleteIf('k', (value) => value === 1)).toBe(false);
    expect(await store.deleteIfEqual('k', 1)).toBe(false);
    const taken = [store.consume('k'), store.consume('k')];
    expect(await Promise.all(taken)).toEqual([2, undefined]);
    await store.register('k', 'v');
    expect(await store.deleteIfEqual('k', 'v')).toBe(true);
    expect(await store.delete('k')).toBe(false);
  });

  it('lets the oldest entry go when it is full, or refuses a new one, and drops one whose time is up', async () => {
    const { state, clock } = load();
    const evicts = state.openKeyedStore({ namespace: 'e', maxEntries: 2 });
    for (const key of ['a', 'b', 'a', 'c']) {
      await evicts.register(key, key);
      await clock.advance(1);
    }
    expect((await evicts.entries()).map(({ key }) => key)).toEqual(['a', 'c']);
    const refuses = state.openKeyedStore({
      ...{ namespace: 'r', maxEntries: 1, overflowPolicy: 'reject-new', defaultTtlMs: 5 },
    });
    await refuses.register('a', 1);
    await refuses.register('a', 2);
    await expect(refuses.register('b', 1)).rejects.toThrow('has 1 entries already');
    await clock.advance(5);
    expect(await refuses.lookup('a')).toBeUndefined();
    await refuses.register('b', 1);
    expect(await refuses.count()).toBe(1);
  });

  it('drops nothing of a retained store for one of the same name', async () => {
    const { state } = load();
    const retained = state.openKeyedStore({ namespace: 'n', retention: 'retained' });
    await retained.register('a', 1);
    const bounded = state.openKeyedStore({ namespace: 'n', maxEntries: 1 });
    for (const key of ['b', 'c']) await bounded.register(key, 2);
    expect((await retained.entries()).map(({ key }) => key)).toEqual(['a']);
    expect((await bounded.entries()).map(({ key }) => key)).toEqual(['c']);
  });

  it('keeps nothing as long as no host keeps it, and other stores refuse', async () => {
    const { kernel } = createTestKernel();
    let state: State | undefined;
    const register = (api: { runtime: { state: State } }) => void (state = api.runtime.state);
    loadLegacyPlugin(register, { kernel, pluginId: 'post', profile: '2026.9' });
    const store = state?.openKeyedStore({ namespace: 'n', maxEntries: 1 });
    await expect(store?.register('k', 1)).rejects.toMatchObject({ code: 'no-state' });
    const queue = state?.openChannelIngressQueue();
    await expect(queue?.enqueue('1', {})).rejects.toMatchObject({ code: 'no-state' });
    expect(() => state?.openChannelIngressDrain({})).toThrow(
      expect.objectContaining({ code: 'plugin-unsupported' }),
    );
  });
});

describe('the ingress queue of an account (event-pipeline §17.35)', () => {
  it('takes an event in once, and gives it to one claim', async () => {
    const { state } = load();
    const queue = state.openChannelIngressQueue({ accountId: 'Default' });
    expect(await queue.enqueue('1', { text: 'hi' }, { laneKey: 'l', metadata: 7 })).toMatchObject({
      ...{ kind: 'accepted', duplicate: false },
      record: { channelId: 'post', accountId: 'default', payload: { text: 'hi' }, metadata: 7 },
    });
    expect(await queue.enqueue(' 1 ', {})).toMatchObject({ kind: 'pending', duplicate: true });
    const claim = await queue.claimNext({ ownerId: 'o' });
    expect(claim).toMatchObject({ id: '1', payload: { text: 'hi' }, claim: { ownerId: 'o' } });
    expect(await queue.claim('1')).toBeNull();
    expect(await queue.listPending()).toEqual([]);
    expect(namesOf(await queue.listClaims())).toEqual(['1']);
    expect(await queue.enqueue('1', {})).toMatchObject({ kind: 'claimed' });
    expect(await queue.complete(claim ?? '')).toBe(true);
    expect(await queue.enqueue('1', {})).toMatchObject({ kind: 'completed', duplicate: true });
    expect(state.openChannelIngressQueue({ accountId: 'default' })).toBe(queue);
  });

  it('claims in order, past lanes that are taken, among the candidates', async () => {
    const { state } = load();
    const queue = state.openChannelIngressQueue();
    await queue.enqueue('b', {}, { receivedAt: 1, laneKey: 'x' });
    await queue.enqueue('a', {}, { receivedAt: 2, laneKey: 'x' });
    await queue.enqueue('c', {}, { receivedAt: 3 });
    expect(namesOf(await queue.listPending())).toEqual(['b', 'a', 'c']);
    expect(namesOf(await queue.listPending({ orderBy: 'id', limit: 2 }))).toEqual(['a', 'b']);
    const deriveLaneKey = () => 'y';
    expect(await queue.claimNext({ blockedLaneKeys: ['x', 'y'], deriveLaneKey })).toBeNull();
    expect(await queue.claimNext({ candidateIds: [] })).toBeNull();
    expect(await queue.claimNext({ blockedLaneKeys: ['x'], deriveLaneKey })).toMatchObject({
      ...{ id: 'c', laneKey: 'y' },
    });
    expect(await queue.claimNext({ orderBy: 'id' })).toMatchObject({ id: 'a' });
    const reconcileStoredLaneKey = () => true;
    expect(await queue.claimNext({ deriveLaneKey, reconcileStoredLaneKey })).toMatchObject({
      ...{ id: 'b', laneKey: 'y' },
    });
  });

  it('has an event open again whose process died, and counts the attempts of one that was given back', async () => {
    const { state, begin } = load();
    const queue = state.openChannelIngressQueue();
    await queue.enqueue('1', { n: 1 });
    const lost = await queue.claim('1');
    const next = begin().state.openChannelIngressQueue();
    const claim = await next.claim('1');
    expect(claim).toMatchObject({ payload: { n: 1 }, attempts: 0 });
    expect(await next.complete(lost ?? '')).toBe(false);
    expect(await next.release(claim ?? '', { lastError: 'no line' })).toBe(true);
    expect(await next.listPending()).toMatchObject([{ attempts: 1, lastError: 'no line' }]);
    const again = await next.claim('1');
    await next.release(again ?? '', { recordAttempt: false });
    expect(await next.listPending()).toMatchObject([{ attempts: 1 }]);
    expect(await next.delete('1')).toBe(true);
    expect(await begin().state.openChannelIngressQueue().listPending()).toEqual([]);
  });

  it('reads again what another host has done with its events, and keeps the claims of its own', async () => {
    const { plugin, state, begin } = load();
    const queue = state.openChannelIngressQueue();
    for (const id of ['1', '2']) await queue.enqueue(id, {});
    const claim = await queue.claim('2');
    const other = begin().state.openChannelIngressQueue();
    await other.complete('1');
    await other.enqueue('3', {});
    plugin.state.reread('default');
    expect(namesOf(await queue.listPending())).toEqual(['3']);
    expect(await queue.complete(claim ?? '')).toBe(true);
  });

  it('takes up an event that was kept although the answer of the write was lost', async () => {
    let fails = true;
    const { state } = load((values) => ({
      ...values,
      write: async (...given) => {
        const result = await values.write(...given);
        if (!fails) return result;
        fails = false;
        throw new Error('no answer');
      },
    }));
    const queue = state.openChannelIngressQueue();
    await expect(queue.enqueue('1', { n: 1 })).rejects.toThrow('no answer');
    expect(await queue.enqueue('1', { n: 1 })).toMatchObject({ kind: 'pending', duplicate: true });
    expect(await queue.claimNext()).toMatchObject({ id: '1', payload: { n: 1 } });
  });

  it('refuses a new event when it is full, and lets one that is in go back and end', async () => {
    const { state } = load((values) => ({
      ...values,
      write: async (namespace, key, value, { quota, ...given }) => {
        if (quota === undefined) throw new Error('it is bounded');
        const small = { ...quota, maxBytes: quota.maxBytes / 65_536 };
        return values.write(namespace, key, value, { ...given, quota: small });
      },
    }));
    const queue = state.openChannelIngressQueue();
    const fill = async (id: number): Promise<void> => {
      await queue.enqueue(`${id}`, {});
      if (id < 100) await fill(id + 1);
    };
    await expect(fill(1)).rejects.toThrow('is full');
    const claim = await queue.claim('1');
    expect(
      await queue.release(claim ?? '', { lastError: 'no line to the provider '.repeat(5) }),
    ).toBe(true);
    expect(await queue.complete('1')).toBe(true);
  });

  it('gives back claims that nobody refreshes, unless their plugin keeps them', async () => {
    const { state, clock } = load();
    const queue = state.openChannelIngressQueue();
    for (const id of ['1', '2', '3']) await queue.enqueue(id, {});
    await queue.claim('1');
    await queue.claim('2');
    const fresh = await queue.claim('3');
    await clock.advance(10);
    expect(await queue.refreshClaim(fresh as Event)).toBe(true); // it was claimed above
    const shouldRecover = ({ id }: Event) => id !== '2';
    expect(await queue.recoverStaleClaims({ staleMs: 5, shouldRecover })).toBe(1);
    expect(namesOf(await queue.listPending())).toEqual(['1']);
    expect(namesOf(await queue.listClaims())).toEqual(['2', '3']);
  });

  it('remembers ended events until they are pruned', async () => {
    const { state, clock, begin } = load();
    const queue = state.openChannelIngressQueue();
    for (const id of ['1', '2', '3', '4']) {
      await queue.enqueue(id, { id });
      if (id === '3') await queue.fail(id, { reason: 'bad', message: 'no sender' });
      else if (id !== '4') await queue.complete(id);
      await clock.advance(10);
    }
    await queue.complete('unheard');
    expect(await queue.enqueue('unheard', {})).toMatchObject({ kind: 'completed' });
    expect(await queue.listFailed()).toMatchObject([
      { id: '3', reason: 'bad', message: 'no sender', payload: { id: '3' } },
    ]);
    expect(await queue.prune({})).toBe(0);
    expect(await queue.prune({ completedMaxEntries: 1, protectIds: ['1'] })).toBe(1);
    expect(await queue.enqueue('1', {})).toMatchObject({ kind: 'completed' });
    expect(await queue.enqueue('2', {})).toMatchObject({ kind: 'accepted' });
    expect(await queue.prune({ failedTtlMs: 15, pendingTtlMs: 5 })).toBe(2);
    expect(namesOf(await begin().state.openChannelIngressQueue().listPending())).toEqual(['2']);
  });
});

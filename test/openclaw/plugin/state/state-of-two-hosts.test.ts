import { describe, expect, it } from 'vitest';
import { loadLegacyPlugin } from '../../../../src/openclaw/index.js';
import { createTestKernel } from '../../../../src/testing/index.js';
import { countedCalls } from '../../../support/counted-calls.js';
import { hostLab } from '../../../support/host-lab.js';
import { sharedJournal } from '../../../support/shared-journal.js';

interface Event {
  readonly id: string;
  readonly attempts: number;
}

interface Queue {
  enqueue(id: string, payload: unknown, how?: object): Promise<{ readonly kind: string }>;
  claim(id: string): Promise<Event | null>;
  claimNext(how?: object): Promise<Event | null>;
  listPending(): Promise<readonly Event[]>;
  listClaims(): Promise<readonly Event[]>;
  complete(name: string | Event | null): Promise<boolean>;
  release(name: Event | null): Promise<boolean>;
  fail(name: Event | null, how: object): Promise<boolean>;
  delete(name: Event | null): Promise<boolean>;
  recoverStaleClaims(how?: object): Promise<number>;
}

interface Store {
  register(key: string, value: unknown): Promise<void>;
  registerIfAbsent(key: string, value: unknown): Promise<boolean>;
  update(key: string, change: (value: unknown) => unknown): Promise<boolean>;
  lookup(key: string): Promise<unknown>;
  consume(key: string): Promise<unknown>;
  deleteIf(key: string, fits: (value: unknown) => boolean): Promise<boolean>;
}

interface State {
  openChannelIngressQueue(): Queue;
  openKeyedStore(options: object): Store;
}

/** The state of a plugin on hosts that share a journal. A host that does not run meanwhile knows nothing of the other. */
function hosts() {
  const { kernel, clock } = createTestKernel();
  const shared = sharedJournal(clock);
  const stateOf = (host: string): State => {
    let state: State | undefined;
    const register = (api: { runtime: { state: State } }) => void (state = api.runtime.state);
    const plugin = loadLegacyPlugin(register, { kernel, clock, pluginId: 'post' });
    plugin.state.keepIn(shared.of(host).keyValues);
    if (state === undefined) throw new Error('it has not registered');
    return state;
  };
  return { stateOf, clock };
}

describe('a host that was stopped for longer than its lease (event-pipeline §17.35)', () => {
  it('overwrites nothing that its successor has done with an event, and its claims end', async () => {
    const { stateOf } = hosts();
    const [a, b] = [stateOf('a').openChannelIngressQueue(), stateOf('b').openChannelIngressQueue()];
    for (const id of ['done', 'back', 'gone', 'bad', 'own']) await a.enqueue(id, { id });
    const held = Object.fromEntries(
      (await Promise.all((await a.listPending()).map(({ id }) => a.claim(id)))).map((one) => [
        one?.id,
        one,
      ]),
    );
    const of = (id: string): Event | null => held[id] ?? null;
    await b.complete('done');
    await b.release(await b.claim('back'));
    await b.delete(await b.claim('gone'));
    await b.fail(await b.claim('bad'), { reason: 'refused' });
    // it goes on
    expect(await a.release(of('done'))).toBe(false);
    expect(await a.complete(of('back'))).toBe(false);
    expect(await a.release(of('gone'))).toBe(false);
    expect(await a.complete(of('bad'))).toBe(false);
    expect(await a.complete(of('own'))).toBe(true);
    const kinds = await Promise.all(
      ['done', 'back', 'gone', 'bad', 'own'].map(async (id) => (await a.enqueue(id, {})).kind),
    );
    expect(kinds).toEqual(['completed', 'pending', 'accepted', 'failed', 'completed']);
    expect((await a.listPending()).map(({ id, attempts }) => [id, attempts])).toEqual([
      ['back', 1],
      ['gone', 0],
    ]);
  });

  it('gives back none of the claims that are over', async () => {
    const { stateOf, clock } = hosts();
    const [a, b] = [stateOf('a').openChannelIngressQueue(), stateOf('b').openChannelIngressQueue()];
    for (const id of ['1', '2']) await a.enqueue(id, {});
    await a.claim('1');
    await a.claim('2');
    await b.complete('1');
    await clock.advance(10);
    expect(await a.recoverStaleClaims({ staleMs: 5 })).toBe(1);
    expect(await a.listClaims()).toEqual([]);
    expect((await a.listPending()).map(({ id }) => id)).toEqual(['2']);
  });

  it('and its successor take an event in once, if both hear it at once', async () => {
    const { stateOf } = hosts();
    const both = ['a', 'b'].map((host) => stateOf(host).openChannelIngressQueue());
    const ends = await Promise.all(both.map((queue) => queue.enqueue('1', {})));
    expect(ends.map(({ kind }) => kind).sort()).toEqual(['accepted', 'pending']);
  });

  it('and its successor change a value of a keyed store one after the other', async () => {
    const { stateOf } = hosts();
    const both = ['a', 'b'].map((host) => stateOf(host).openKeyedStore({ namespace: 'n' }));
    const each = <T>(act: (store: Store, at: number) => Promise<T>) => Promise.all(both.map(act));
    expect((await each((store, at) => store.registerIfAbsent('k', at))).sort()).toEqual([
      false,
      true,
    ]);
    await both[0]?.register('n', 0);
    await each((store) => store.update('n', (value) => Number(value) + 1));
    expect(await both[0]?.lookup('n')).toBe(2);
    expect((await each((store) => store.consume('n'))).sort()).toEqual([2, undefined]);
    await both[0]?.register('d', 1);
    expect((await each((store) => store.deleteIf('d', (value) => value === 1))).sort()).toEqual([
      false,
      true,
    ]);
  });
});

describe('a host that has lost an account, and does not know of it yet (event-pipeline §17.35)', () => {
  it('takes no event of it in: who has brought the event keeps it for the next host', async () => {
    const { kernel, clock } = createTestKernel();
    const shared = sharedJournal(clock);
    shared.give('a', shared.all);
    let state: State | undefined;
    const register = (api: {
      readonly runtime: { readonly state: State };
      registerChannel(channel: object): void;
    }): void => {
      state = api.runtime.state;
      api.registerChannel({
        id: 'post',
        outbound: { sendText: async () => ({ messageId: 'p-1' }) },
        gateway: {
          startAccount: ({ abortSignal }: { readonly abortSignal: AbortSignal }) =>
            new Promise<void>((resolve) => abortSignal.addEventListener('abort', () => resolve())),
        },
      });
    };
    const plugin = loadLegacyPlugin(register, { kernel, clock, pluginId: 'post' });
    await using _lab = await hostLab({
      ...{ kernel, clock, plugins: [plugin], journal: shared.of('a') },
    });
    const queue = state?.openChannelIngressQueue();
    expect((await queue?.enqueue('1', {}))?.kind).toBe('accepted');
    shared.give('b', shared.all, { isAsleep: true });
    await expect(queue?.enqueue('2', {})).rejects.toThrow('another host has it');
    expect((await queue?.enqueue('1', {}))?.kind).toBe('pending');
    const kept = await shared.of('b').keyValues.namespaces();
    const [events] = kept.filter(({ namespace }) => namespace.startsWith('/legacy-ingress/'));
    expect(events?.keys).toBe(1);
  });
});

describe('a claim of the next event (event-pipeline §17.35)', () => {
  it('costs no more if there are more open events', async () => {
    const few = await costOfClaim(100);
    expect(few).toBeGreaterThan(0);
    expect(await costOfClaim(2_000)).toBe(few);
  });

  it('is the oldest event also if an older one has come after it', async () => {
    const queue = hosts().stateOf('a').openChannelIngressQueue();
    await queue.enqueue('2', {}, { receivedAt: 2 });
    expect(await queue.claimNext()).toMatchObject({ id: '2' });
    await queue.enqueue('3', {}, { receivedAt: 3 });
    await queue.enqueue('1', {}, { receivedAt: 1 });
    expect(await queue.claimNext({ candidateIds: ['3', 'unknown'] })).toMatchObject({ id: '3' });
    expect(await queue.claimNext()).toMatchObject({ id: '1' });
  });
});

/** The calls of a claim among so many open events, and of its end. */
async function costOfClaim(events: number): Promise<number> {
  const queue = hosts().stateOf('a').openChannelIngressQueue();
  for (let at = 0; at < events; at++) await queue.enqueue(`${at}`, {}, { receivedAt: at });
  const claim = async () => void (await queue.complete(await queue.claimNext({ staleMs: 60_000 })));
  await claim();
  return countedCalls('plugin/state/ingress-queue', claim);
}

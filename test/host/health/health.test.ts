import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { createHost, type HostHealth, startHealthServer } from '../../../src/host/index.js';
import { newCounts } from '../../../src/host/parts/counts.js';
import { Troubles } from '../../../src/host/parts/troubles.js';
import { createKernel, defineExtension, type SluiceError } from '../../../src/index.js';
import { journalError } from '../../../src/journal/errors.js';
import { memoryJournal, openJournal } from '../../../src/journal/index.js';
import type { AgentTrouble } from '../../../src/sdk/stream/index.js';
import {
  collectingLogger,
  createTestKernel,
  fakeChannel,
  samplePayload,
  virtualClock,
} from '../../../src/testing/index.js';
import { fenceOf } from '../../support/fences.js';
import { testFolder } from '../../support/folder.js';
import { type HostLab, hostLab } from '../../support/host-lab.js';

/** Asks a health port. */
function ask(
  url: string,
  method = 'GET',
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    asked.on('error', reject).end();
  });
}

function health(state: HostHealth['state']): { health(): HostHealth } {
  const { kernel } = createTestKernel();
  return {
    health: () => ({
      state,
      uptimeMs: 1,
      messages: 0,
      turns: 0,
      accounts: [],
      extensions: [],
      degraded: [],
      kernel: kernel.stats(),
    }),
  };
}

/** The lines of a log at error that are about the journal. */
function errorsOf({ log }: HostLab): string[] {
  return log.entries.flatMap(({ level, message }) =>
    level === 'error' && message.includes('journal') ? [message] : [],
  );
}

/** Lets virtual time pass, and the real disk work. */
async function pass({ clock }: HostLab, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 100) {
    await clock.advance(100);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

describe('what the health port tells of a journal', () => {
  it('M7: of one that is lost within a second: 503 with the reason, and one line in the log (durability §1.9)', async () => {
    const clock = virtualClock();
    const journal = await openJournal(join(testFolder(), 'sluice.db'), { clock });
    await using lab = await hostLab({ journal, store: journal.store, clock });
    await using server = await startHealthServer(lab.host, { port: 0 });
    expect((await lab.say('before')).status).toBe('answered');
    expect(await ask(`${server.url}/readyz`)).toMatchObject({ status: 200 });
    rmSync(journal.path);
    const ready = await ask(`${server.url}/readyz`);
    expect(ready.status).toBe(503);
    expect(JSON.parse(ready.body)).toMatchObject({
      ready: false,
      journal: { code: 'journal-lost', refused: 0 },
    });
    expect((await ask(`${server.url}/healthz`)).status).toBe(200);
    await pass(lab, 1_000);
    expect(errorsOf(lab)).toEqual([expect.stringContaining('journal-lost')]);
    const { acknowledged } = lab.channel;
    const before = acknowledged.length;
    for (const text of ['one', 'two', 'three'])
      expect(await lab.channel.receive({ text }, text)).toBe('refused');
    await pass(lab, 3_000);
    expect(acknowledged).toHaveLength(before); // nothing is acknowledged
    expect(lab.texts()).toEqual(['before']); // and nothing is sent
    expect(errorsOf(lab)).toHaveLength(1);
    const told = lab.log.entries.filter(({ message }) => /was not taken in/.test(message));
    expect(told.map(({ level }) => level)).toEqual(['debug', 'debug', 'debug']); // they come again each second
    expect(lab.ends).toHaveLength(1);
    expect(JSON.parse((await ask(`${server.url}/readyz`)).body)).toMatchObject({
      journal: { code: 'journal-lost', refused: 3 },
    });
  });

  it('of one whose file the file system does not tell of: 503 with the reason, and the host lives on (durability §1.10)', async () => {
    const clock = virtualClock();
    const journal = await openJournal(join(testFolder(), 'sluice.db'), { clock });
    await using lab = await hostLab({ journal, store: journal.store, clock });
    await using server = await startHealthServer(lab.host, { port: 0 });
    renameSync(journal.path, `${journal.path}.1`);
    symlinkSync(journal.path, journal.path); // a loop: ELOOP
    expect((await ask(`${server.url}/healthz`)).status).toBe(200);
    const ready = await ask(`${server.url}/readyz`);
    expect(ready.status).toBe(503);
    expect(JSON.parse(ready.body)).toMatchObject({ journal: { code: 'database-io' } });
    rmSync(journal.path);
    renameSync(`${journal.path}.1`, journal.path);
    expect((await ask(`${server.url}/readyz`)).status).toBe(200);
  });

  it('L10: of one that refuses, until it takes something in again (durability §1.10)', async () => {
    const journal = memoryJournal();
    let problem: SluiceError | undefined;
    await using lab = await hostLab({ journal: { ...journal, problem: () => problem } });
    await using server = await startHealthServer(lab.host, { port: 0 });
    problem = journalError('database-full', { path: 'p', problem: 'disk full' });
    const ready = await ask(`${server.url}/readyz`);
    expect(ready.status).toBe(503);
    expect(JSON.parse(ready.body)).toMatchObject({ journal: { code: 'database-full' } });
    await lab.clock.advance(5_000);
    expect(errorsOf(lab)).toEqual([expect.stringContaining('database-full')]);
    problem = undefined;
    expect((await ask(`${server.url}/readyz`)).status).toBe(200);
    await lab.clock.advance(1_000);
    expect(lab.log.entries.map(({ message }) => message)).toContain(
      'the journal takes updates and sends in again',
    );
  });

  it('L10: nothing where there is none, and the time since the start follows no clock that is set', async () => {
    const clock = virtualClock();
    let jumpMs = 0;
    await using lab = await hostLab({
      clock: {
        ...clock,
        get pending() {
          return clock.pending;
        },
        now: () => clock.now() + jumpMs,
      },
    });
    jumpMs = 365 * 86_400_000;
    await clock.advance(250);
    const told = lab.host.health();
    expect(told.uptimeMs).toBe(250);
    expect(told).not.toHaveProperty('journal');
  });
});

describe('the health port (§20.4)', () => {
  it.each(['/healthz', '/readyz'])(
    'answers %s with 503, and without a text of anybody, if the host cannot tell how it is',
    async (path) => {
      const host = {
        health: (): HostHealth => {
          throw new Error('a text of somebody');
        },
      };
      await using server = await startHealthServer(host, { port: 0 });
      const { status, body } = await ask(`${server.url}${path}`);
      expect([status, body.includes('somebody')]).toEqual([503, false]);
    },
  );

  it.each([
    ['new', 200, 503],
    ['starting', 200, 503],
    ['running', 200, 200],
    ['stopping', 200, 503],
    ['stopped', 503, 503],
  ] as const)('says of a host that is %s: alive %i, ready %i', async (state, alive, ready) => {
    await using server = await startHealthServer(health(state), { port: 0 });
    expect(await ask(`${server.url}/healthz`)).toMatchObject({ status: alive });
    const answer = await ask(`${server.url}/readyz?verbose`);
    expect(answer.status).toBe(ready);
    expect(JSON.parse(answer.body)).toMatchObject({ ready: ready === 200, state });
  });

  it('is on this machine alone, where nothing else is said', async () => {
    await using server = await startHealthServer(health('running'), { port: 0 });
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('L9: answers no page whose name was made to point here, but this machine and a proxy that is named', async () => {
    await using server = await startHealthServer(health('running'), {
      port: 0,
      hosts: ['status.example.org'],
    });
    const statusFor = async (host: string): Promise<unknown> =>
      (await ask(`${server.url}/healthz`, 'GET', { host })).status;
    for (const host of ['localhost:1', '127.0.0.1', '[::1]', 'status.example.org'])
      expect([host, await statusFor(host)]).toEqual([host, 200]);
    for (const host of ['evil.example', '127.0.0.1.evil.example:80', '10.0.0.7'])
      expect([host, await statusFor(host)]).toEqual([host, 421]);
  });

  it('L9: asks nothing of Host at an address that others can reach', async () => {
    await using server = await startHealthServer(health('running'), {
      port: 0,
      address: '0.0.0.0',
    });
    const url = `http://127.0.0.1:${new URL(server.url).port}/healthz`;
    expect((await ask(url, 'GET', { host: 'pod.cluster.local' })).status).toBe(200);
  });

  it('answers nothing else', async () => {
    await using server = await startHealthServer(health('running'), { port: 0 });
    expect((await ask(`${server.url}/`)).status).toBe(404);
    expect((await ask(`${server.url}/healthz/`)).status).toBe(404);
    expect((await ask(`${server.url}/healthz`, 'POST')).status).toBe(405);
    expect(await ask(`${server.url}/healthz`, 'HEAD')).toEqual({ status: 200, body: '' });
  });

  it('takes so many connections of one address, and no more', async () => {
    await using server = await startHealthServer(health('running'), {
      ...{ port: 0, connectionsPerAddress: 16 },
    });
    const { port } = new URL(server.url);
    const sockets = Array.from({ length: 40 }, () => connect(Number(port), '127.0.0.1'));
    const fates = sockets.map(
      (socket) =>
        new Promise<'dropped'>((resolve) => {
          socket
            .on('error', () => undefined)
            .on('close', () => resolve('dropped'))
            .resume();
        }),
    );
    for (let dropped = 0; dropped < 24; dropped++) {
      const at = await Promise.race(fates.map((fate, index) => fate.then(() => index)));
      fates.splice(at, 1);
    }
    for (const socket of sockets) socket.destroy();
    await Promise.all(fates);
  });

  it('is taken by one host only', async () => {
    await using server = await startHealthServer(health('running'), { port: 0 });
    const port = Number(new URL(server.url).port);
    await expect(startHealthServer(health('running'), { port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });

  it('tells what a host has: its accounts, its extensions, what waits, what failed, and no text', async () => {
    await using lab = await hostLab({
      contribute: (kernel) => {
        kernel.contribute({
          family: 'ingress.normalized',
          class: 'observer',
          extensionId: 'acme',
          id: 'fails',
          handler: ({ payload }) => {
            throw new Error(payload.content);
          },
        });
      },
    });
    expect(lab.host.health()).toMatchObject({ state: 'running', messages: 0, turns: 0 });
    await lab.say('planted text');
    const told = lab.host.health();
    expect(told.accounts).toEqual([{ channel: lab.channel.id, accountId: expect.any(String) }]);
    expect(told.kernel.failedOpen).toBe(1);
    expect(JSON.stringify(told)).not.toContain('planted');
    await lab.host.stop();
    expect(lab.host.health()).toMatchObject({ state: 'stopped', accounts: [] });
  });
});

describe('what the health port tells of trouble', () => {
  const broken = defineExtension({
    id: 'broken',
    setup: (api) => {
      api.veto('egress.preparing', 'judge', () => {
        throw new Error('out of order: secret words');
      });
    },
  });
  const refused = defineExtension({
    id: 'refused',
    setup: () => {
      throw new Error('no');
    },
  });

  it('names dead letters, quarantine, refused extensions and vetoes that failed open, and stays ready; the log says each once (sight §7.1, sight §7.2)', async () => {
    const kernel = createKernel({ quarantine: { failures: 2 } });
    const channel = fakeChannel();
    const clock = virtualClock();
    const log = collectingLogger();
    const failing = { ...echoProvider(), run: () => fails() };
    const host = createHost({
      ...{ kernel, clock, logger: log, journal: memoryJournal({ clock }), channels: [channel] },
      extensions: [{ extension: broken }, { extension: refused }],
      agents: [{ id: 'main', provider: failing }],
    });
    await host.start();
    expect(host.health().degraded).toContainEqual({
      ...{ code: 'extension-refused', whose: 'refused', count: 1 },
    });
    for (const id of ['u-1', 'u-2', 'u-3']) await channel.receive({ text: id }, id);
    await vi.waitFor(() => expect(host.stats().deadLetters).toBe(3), 60_000);
    await clock.advance(1_000);
    await vi.waitFor(() => expect(host.health().degraded[0]?.code).toBe('dead-letters'), 60_000);
    expect(host.health().degraded).toMatchObject([
      { code: 'dead-letters', count: 3 },
      { code: 'quarantined', whose: 'broken/judge' },
      { code: 'extension-refused', whose: 'refused' },
      { code: 'veto-failed-open', whose: 'broken/judge' },
    ]);
    await using server = await startHealthServer(host, { port: 0 });
    const { status, body } = await ask(`${server.url}/readyz`);
    expect([status, JSON.parse(body).ready]).toEqual([200, true]);
    expect(JSON.parse(body).degraded).toHaveLength(4);
    expect(body).not.toContain('secret words');
    await clock.advance(5_000);
    const told = log.entries.flatMap(({ level, fields }) =>
      level === 'error' && fields?.['trouble'] !== undefined ? [fields['trouble']] : [],
    );
    expect(told.toSorted()).toEqual([
      ...['dead-letters', 'extension-refused', 'quarantined', 'veto-failed-open'],
    ]);
    await host.stop();
  });

  it('names the parts that agents work without, each once though two agents share it, as long as it is so (sight §7.1)', async () => {
    const clock = virtualClock();
    const log = collectingLogger();
    const detail = 'secret words';
    let troubles: readonly AgentTrouble[] = [{ whose: 'wiki/find', what: 'left out', detail }];
    const provider = { ...echoProvider(), troubles: () => troubles };
    const host = createHost({
      ...{ clock, logger: log, channels: [fakeChannel()] },
      agents: [
        { id: 'main', provider },
        { id: 'other', provider: { ...provider, id: 'other' } },
      ],
    });
    await host.start();
    const now = [{ code: 'agent-part', whose: 'wiki/find', what: 'left out', count: 1 }];
    expect(host.health().degraded).toEqual(now);
    await clock.advance(5_000);
    const told = log.entries.filter(({ fields }) => fields?.['trouble'] === 'agent-part');
    expect(told.map(({ message, fields }) => [message, fields?.['what']])).toEqual([
      ['wiki/find is in trouble: agent-part', 'left out'],
    ]);
    expect(JSON.stringify(told)).not.toContain(detail);
    troubles = [];
    expect(host.health().degraded).toEqual([]);
    await host.stop();
  });

  it('names an agent whose provider fails to tell them, and the host goes on (sight §7.1)', async () => {
    const clock = virtualClock();
    const log = collectingLogger();
    const provider = {
      ...echoProvider(),
      troubles: () => {
        throw new Error('no');
      },
    };
    const agents = [{ id: 'main', provider }];
    const host = createHost({ clock, logger: log, channels: [fakeChannel()], agents });
    await host.start();
    expect(host.health().degraded).toMatchObject([{ code: 'agent-part', whose: 'main' }]);
    await clock.advance(3_000);
    expect(log.entries.filter(({ level }) => level === 'error')).toHaveLength(1);
    await host.stop();
  });

  it('has none where an observer fails, and forgets dead letters that were purged, also in its own process (sight §7.1)', async () => {
    const { kernel } = createTestKernel();
    const clock = virtualClock();
    const journal = memoryJournal({ clock });
    const logger = collectingLogger();
    const none = { extensions: { statuses: [] }, channels: [], agents: new Map() };
    const places = { kernel, journal, counts: newCounts(), ...none };
    using troubles = new Troubles({ ...places, logger });
    const die = async (eventId: string): Promise<void> => {
      const about = { eventId, channel: 'fake', accountId: 'default', lane: 'x' };
      await journal.accept({ ...about, receivedAtMs: 0, body: '{}' });
      await journal.begin(eventId);
      await journal.endUpdate(fenceOf(eventId), { isDead: true, outcome: 'failed' });
    };
    kernel.contribute({
      ...{ family: 'egress.sent', class: 'observer', extensionId: 'acme', id: 'watch' },
      handler: () => {
        throw new Error('no');
      },
    });
    await kernel.dispatch('egress.sent', samplePayload('egress.sent'));
    await die('u-1');
    await troubles.look(journal.changedOutside());
    expect(troubles.list()).toEqual([{ code: 'dead-letters', count: 1 }]);
    expect(logger.entries).toHaveLength(1);
    await journal.purge('u-1');
    await troubles.look(journal.changedOutside());
    expect(troubles.list()).toEqual([]);
    await die('u-2');
    await troubles.look(true);
    await troubles.look(true);
    expect(logger.entries).toHaveLength(2); // it was over meanwhile
  });
});

// biome-ignore lint/correctness/useYield: it fails before it says anything
async function* fails(): AsyncGenerator<never> {
  throw new Error('the model is out of order');
}

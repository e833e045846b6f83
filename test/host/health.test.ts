import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type HostHealth, startHealthServer } from '../../src/host/index.js';
import { createTestKernel } from '../../src/testing/index.js';
import { hostLab } from '../support/host-lab.js';

/** Asks a health port. */
function ask(url: string, method = 'GET'): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, agent: false }, (response) => {
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
      kernel: kernel.stats(),
    }),
  };
}

describe('the health port (§20.4)', () => {
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

  it('answers nothing else', async () => {
    await using server = await startHealthServer(health('running'), { port: 0 });
    expect((await ask(`${server.url}/`)).status).toBe(404);
    expect((await ask(`${server.url}/healthz/`)).status).toBe(404);
    expect((await ask(`${server.url}/healthz`, 'POST')).status).toBe(405);
    expect(await ask(`${server.url}/healthz`, 'HEAD')).toEqual({ status: 200, body: '' });
  });

  it('takes so many connections, and no more', async () => {
    await using server = await startHealthServer(health('running'), { port: 0 });
    const { port } = new URL(server.url);
    const sockets = Array.from({ length: 40 }, () => connect(Number(port), '127.0.0.1'));
    const fates = sockets.map(
      (socket) =>
        new Promise<'dropped'>((resolve) => {
          socket.on('error', () => undefined).on('close', () => resolve('dropped'));
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

import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { createHost } from '../../../src/host/index.js';
import { openJournal } from '../../../src/journal/index.js';
import { wholeOwnership } from '../../../src/journal/internal.js';
import { createKernel } from '../../../src/kernel/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { testFolder } from '../../support/folder.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

const { CROWD_MESSAGES } = process.env;
/** Messages that wait. */
const crowd = Number(CROWD_MESSAGES ?? 2_000);
/** Those of them whose order is looked at. */
const followed = CROWD_MESSAGES === undefined ? 300 : crowd;

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Has a crowd wait behind turns that hang. @returns the bytes of the heap that each of the crowd takes, and how all of them ended. */
async function bytesOfWaiting(isKept: boolean, sessionKey?: string, isShared = false) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // the flag makes it
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const prompts: string[] = [];
  const echo = echoProvider();
  const provider: AgentProvider = {
    ...echo,
    async *run(request) {
      prompts.push(request.prompt);
      await opened;
      yield* echo.run(request);
    },
  };
  const kernel = createKernel();
  let routed = 0;
  const target = { agentId: 'main', ...(sessionKey !== undefined && { sessionKey }) };
  kernel.contribute({
    ...{ extensionId: 'test', family: 'routing.resolving', class: 'resolver', id: 'all' },
    handler: () => {
      routed++;
      return { kind: 'select', target, explicit: true, rank: 1 };
    },
  });
  const channel = scriptedChannel();
  let ended = 0;
  const file = isKept ? await openJournal(join(testFolder(), 'sluice.db')) : undefined;
  const ofHosts = isShared && { ownership: { ...wholeOwnership(), partitionCount: 2 } };
  const journal = file && { ...file, ...ofHosts };
  let looks = 0;
  if (isShared && journal !== undefined) {
    const update = { eventId: 'elsewhere', channel: 'elsewhere', accountId: 'x', receivedAtMs: 0 };
    await journal.accept(update); // it has the session at another host
    const body = JSON.stringify({ holder: { eventId: 'elsewhere', epoch: 1 }, waiting: [] });
    await journal.keyValues.write('/session-turns', sessionKey ?? '', { body }, {});
    const { get } = journal.keyValues;
    const counted: typeof get = (...given) => {
      if (given[0] === '/session-turns') looks++;
      return get(...given);
    };
    Object.assign(journal.keyValues, { get: counted });
  }
  const host = createHost({
    ...{ channels: [channel], kernel, lanes: { maxRunning: 16 } },
    agents: [{ id: 'main', provider, maxRunning: 4 }],
    ...(journal && { journal }),
    onMessageEnd: ({ status }) => {
      if (status === 'answered') ended++;
    },
  });
  await host.start();
  const say = (at: number) =>
    void channel.receive({ text: `hi ${at}`, conversation: `c-${at}`, from: `p-${at}` }, `${at}`);
  const quiet = async (least: number): Promise<void> => {
    while (routed < least || host.stats().running > 4) await turn();
    for (let turns = 0; turns < 200; turns++) await turn();
  };
  const before = 100; // what waits first is warm, and not counted
  for (let at = 0; at < before; at++) say(at);
  await quiet(before);
  collect();
  const bytes = process.memoryUsage().heapUsed;
  for (let at = 0; at < crowd; at++) say(before + at);
  await quiet(before + crowd);
  collect();
  const each = (process.memoryUsage().heapUsed - bytes) / crowd;
  expect(looks).toBeLessThan(before + crowd);
  open();
  if (isShared) await journal?.keyValues.write('/session-turns', sessionKey ?? '', undefined, {});
  while (ended < before + (isKept ? followed : crowd)) await turn();
  await host.stop();
  const order = prompts.map((text) => Number(text.split(' ').at(-1)));
  return { each, order };
}

/** Returns how far a message went out before one that came earlier, at the most. */
const disorderOf = (order: readonly number[]): number =>
  Math.max(...order.map((came, at) => Math.abs(came - at)));

describe('a message that waits for its turn, among thousands', () => {
  it.each([
    ['its agent', undefined, false],
    ['its session', 'shared', false],
    ['its session, which another host has', 'shared', true],
  ])(
    'takes at most 2 KiB in memory if it waits for %s, and has its turn in the order of its coming (durability §8.8)',
    async (_, sessionKey, isShared) => {
      const { each, order } = await bytesOfWaiting(true, sessionKey, isShared);
      expect(each).toBeLessThan(2_048);
      expect(new Set(order).size).toBe(order.length);
      expect(order.length).toBeGreaterThanOrEqual(100 + followed);
      expect(disorderOf(order)).toBeLessThan(32);
    },
    600_000,
  );

  it('takes its own update and at most 2 KiB more without a journal (durability §8.8.1)', async () => {
    const { each, order } = await bytesOfWaiting(false);
    expect(each).toBeLessThan(2 * 2_048);
    expect(new Set(order).size).toBe(100 + crowd);
  });
});

import { expect, it } from 'vitest';
import { defineExtension, type ExtensionApi } from '../../src/sdk/extension/index.js';
import { virtualStartMs } from '../../src/testing/index.js';
import { sharedDatabase, sharing } from './sharing.js';

const patiently = { timeout: 60_000, interval: 50 };

it('a message for later is added and cancelled at any host of a shared journal, and goes out once, also if a host dies before (extensions-that-act §6.8)', {
  timeout: 300_000,
}, async () => {
  const url = await sharedDatabase();
  const host = async () => {
    const apis: ExtensionApi[] = [];
    const setup = (api: ExtensionApi): void => void apis.push(api);
    const extension = defineExtension({ id: 'acting', setup });
    const shared = await sharing(url, 5_000, { extensions: [{ extension }] });
    const [api] = apis;
    if (api === undefined) throw new Error('the extension was not set up');
    return { ...shared, api };
  };
  const hosts = [await host(), await host()];
  const all = async (): Promise<void> => {
    for (const one of hosts) await one.pass();
  };
  const shares = async () => {
    await all();
    return hosts.map((one) => one.partitions().length);
  };
  await expect.poll(shares, patiently).toEqual([4, 4]);
  const [first, second] = hosts;
  if (first === undefined || second === undefined) throw new Error('they run');
  const passed = first.lab.clock.now() - virtualStartMs;
  const at = virtualStartMs + passed + 60_000;
  const keys = Array.from({ length: 12 }, (_, index) => `k${index}`);
  const send = ({ api }: typeof first, key: string) =>
    api.send({ channel: 'scripted', to: 'ada', content: key, at, key });
  for (const key of keys) await Promise.all([send(first, key), send(second, key)]);
  const listed = await second.api.laterSends.list();
  expect(listed.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
  const cancelled = await Promise.all(
    keys.slice(0, 3).flatMap((key) => hosts.map(({ api }) => api.laterSends.cancel(key))),
  );
  expect(cancelled.filter(Boolean).length).toBeGreaterThanOrEqual(3);
  first.cut(); // as a kill: it knows of nothing more
  hosts.shift();
  const parts = async () => {
    await all();
    return second.partitions().length;
  };
  await expect.poll(parts, patiently).toBe(8);
  const texts = () =>
    [first, second].flatMap(({ channel }) => channel.sent.map(({ content }) => content)).toSorted();
  expect(texts()).toEqual([]);
  const sent = async () => {
    await second.lab.clock.advance(10_000);
    return texts();
  };
  await expect.poll(sent, patiently).toEqual(keys.slice(3).toSorted());
  for (let more = 0; more < 20; more++) await second.lab.clock.advance(10_000);
  expect(await sent()).toEqual(keys.slice(3).toSorted());
  expect(await second.api.laterSends.list()).toEqual([]);
  await second[Symbol.asyncDispose]();
});

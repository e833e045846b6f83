import { CloudEvent } from 'cloudevents';
import { describe, expect, it } from 'vitest';
import { keepTimeline, startHealthServer, timelineRecorder } from '../../../src/host/index.js';
import { memoryJournal } from '../../../src/journal/index.js';
import { startTestHost } from '../../../src/testing/index.js';

const token = 'a token of 24 characters';
const authorization = `Bearer ${token}`;

/** A host whose entries are fed, with some messages behind it. */
async function fedHost(messages = 1) {
  const journal = memoryJournal();
  const timeline = timelineRecorder();
  timeline.listen(keepTimeline(journal));
  const test = await startTestHost({ journal, timeline });
  for (let at = 0; at < messages; at++) await test.say(`hello ${at}`);
  const events = { journal, token, source: '/sluice/test' };
  const server = await startHealthServer(test.host, { port: 0, events });
  return {
    ...{ test, journal, url: `${server.url}/events` },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await test[Symbol.asyncDispose]();
    },
  };
}

interface Fed {
  readonly id: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Reads a feed until it has so many events, and leaves. */
async function read(
  url: string,
  count: number,
  headers: Record<string, string> = {},
): Promise<Fed[]> {
  const gone = new AbortController();
  const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(60_000)]);
  const response = await fetch(url, { headers: { authorization, ...headers }, signal });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const fed: Fed[] = [];
  let text = '';
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(chunk);
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks.filter((one) => !one.startsWith(':'))) {
      const fields = Object.fromEntries(
        block
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      fed.push({
        id: fields['id'] ?? '',
        event: fields['event'] ?? '',
        data: JSON.parse(fields['data'] ?? ''),
      });
    }
    if (fed.length >= count) break;
  }
  gone.abort();
  return fed.slice(0, count);
}

describe('the feed of the health port', () => {
  it('gives the entries as CloudEvents, and goes on after the last event that its reader has (sight §8.1, sight §8.2)', async () => {
    await using host = await fedHost();
    const first = await read(`${host.url}?from=0`, 6);
    for (const { data, id, event } of first) {
      const checked = new CloudEvent(data);
      expect(checked.validate()).toBe(true);
      expect([checked.id, checked.type, checked.source]).toEqual([id, event, '/sluice/test']);
    }
    const [, , third] = first;
    const again = await read(host.url, 3, { 'last-event-id': third?.id ?? '' });
    expect(again.map(({ id }) => id)).toEqual(first.slice(3).map(({ id }) => id));
    const sends = await read(`${host.url}?kind=send`, 2);
    expect(sends.map(({ event }) => event)).toEqual(['sluice.send.sending', 'sluice.send.sent']);
  });

  it('keeps the place of a consumer: no event is left out, over connections (sight §8.2)', async () => {
    await using host = await fedHost(3);
    const { length } = await host.journal.dispatches({
      kinds: ['dispatch', 'update', 'send', 'attempt', 'lane'],
    });
    const first = await read(`${host.url}?consumer=billing`, 10);
    const rest = await read(`${host.url}?consumer=billing`, length - 10, {
      'last-event-id': first.at(-1)?.id ?? '',
    });
    const ids = [...first, ...rest].map(({ id }) => Number(id));
    expect(ids).toEqual(Array.from({ length }, (_, at) => (ids[0] ?? 0) + at));
  });

  it('gives a gap with the number of records that are gone (sight §8.1)', async () => {
    await using host = await fedHost(1);
    const [first] = await read(`${host.url}?from=0`, 1);
    const before = Number(first?.id) - 1;
    const reader = {
      dispatches: async (filter: Parameters<typeof host.journal.dispatches>[0]) =>
        (await host.journal.dispatches(filter)).filter(({ seq }) => seq !== before + 3),
    };
    const events = { journal: { ...reader, keyValues: host.journal.keyValues }, token };
    await using server = await startHealthServer(host.test.host, { port: 0, events });
    const fed = await read(`${server.url}/events?from=${before}`, 4);
    expect(fed[2]).toMatchObject({
      event: 'sluice.gap',
      data: { data: { count: 1, why: 'gone' } },
    });
  });

  it('gives nothing to who has no token, comes from another page, or asks for what there is not (sight §8.3)', async () => {
    await using host = await fedHost();
    const status = async (query: string, headers: Record<string, string>, method = 'GET') =>
      (await fetch(`${host.url}${query}`, { headers, method })).status;
    expect(await status('', {})).toBe(401);
    expect(await status('', { authorization: `${authorization}x` })).toBe(401);
    expect(await status('', { authorization, origin: 'http://evil.example' })).toBe(403);
    expect(await status('?kind=secret', { authorization })).toBe(400);
    expect(await status('?from=yesterday', { authorization })).toBe(400);
    expect(await status('?consumer=a%20b', { authorization })).toBe(400);
    expect(await status('', { authorization }, 'POST')).toBe(405);
    await using plain = await startHealthServer(host.test.host, { port: 0 });
    expect((await fetch(`${plain.url}/events`, { headers: { authorization } })).status).toBe(404);
  });
});

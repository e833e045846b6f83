import { connect, type Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { isSameSecret, type ReceiverLimits, startReceiver } from '../../../src/sdk/chat/index.js';
import { placeOf } from '../../../src/sdk/chat/strangers.js';
import { collectingLogger, virtualClock } from '../../../src/testing/index.js';
import { deferred } from '../../support/kernel-lab.js';

it.each([
  ['abc', 'abc', true],
  ['abc', 'abcd', false],
  ['', 'abc', false],
  ['', '', false],
  ['abc', '', false],
  [undefined, 'abc', false],
  [['abc'], 'abc', false],
])('the secret %j is the same as %j: %j', (given, secret, is) => {
  expect(isSameSecret(given, secret)).toBe(is);
});

it.each([
  ['::ffff:192.0.2.1', '192.0.2.1', true],
  ['2001:db8::1', '2001:db8:0:0:1::', true],
  ['2001:db8::1', '2001:db8:0:1::1', false],
  ['2001::5:6:7:8:9', '2001::5:0:0:0:1', true],
  ['2001::5:6:7:8:9', '2001::6:6:7:8:9', false],
  ['::1', '::', true],
])('the addresses %s and %s are of one place: %j', (one, other, is) => {
  expect(placeOf(one) === placeOf(other)).toBe(is);
});

const patience = { timeout: 60_000 };
const places = 8;
/** More than the machine keeps for a connection whose client reads nothing. */
const long = Buffer.alloc(8_000_000);

/** A receiver that knows who brings the right key, and echoes his body when the test lets it. */
async function received(limits: ReceiverLimits = {}) {
  const log = collectingLogger();
  const clock = virtualClock();
  const taken: string[] = [];
  const letGo = deferred();
  const left: string[] = [];
  const receiver = await startReceiver({
    ...{ host: '127.0.0.1', port: 0, name: 'acme', log, clock },
    limits: { connectionsPerAddress: places, ...limits },
    take: async (exchange) => {
      const { request, path, response } = exchange;
      if (request.headers.authorization === 'right') exchange.known();
      response.once('close', () => left.push(path));
      if (path === '/long') return response.end(long);
      if (path === '/stream') {
        response.writeHead(200).write('begun\n');
        await letGo.promise;
        return response.end('done\n');
      }
      if (path === '/refused') return exchange.refuse(401, 'no key');
      const body = await exchange.body(1_000_000);
      if (body === undefined) return undefined;
      taken.push(`${path} ${body.length}`);
      return exchange.answer(200, 'taken');
    },
  });
  const sockets: Socket[] = [];
  /** Opens a connection and sends bytes as they are. */
  const open = (text: string | Buffer, from = '127.0.0.1') => {
    const socket = connect({ port: receiver.port, host: '127.0.0.1', localAddress: from });
    sockets.push(socket);
    let got = '';
    const first = deferred<string>();
    socket.setEncoding('latin1').on('data', (part: string) => {
      got += part;
      first.resolve(got);
    });
    const closed = new Promise<string>((resolve) => {
      socket.on('error', () => undefined).on('close', () => resolve(got));
    });
    socket.write(text);
    return { socket, closed, first: first.promise };
  };
  return {
    ...{ log, clock, taken, open, letGo, left },
    refused: () =>
      log.entries
        .filter(({ message }) => message === 'requests were refused')
        .map(({ fields }) => fields['refused']),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await receiver.close();
    },
  };
}

const head = (path: string, more = '') => `POST ${path} HTTP/1.1\r\nhost: acme\r\n${more}`;
const whole = (path: string, body = 'hi', more = '') =>
  `${head(path, more)}connection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const half = (size = 900_000, sent = 1) =>
  `${head('/half', `content-length: ${size}\r\n`)}\r\n${'x'.repeat(sent)}`;

describe('the receiver (extensions-that-act §9.10)', () => {
  it('lets 300 slow bodies lock out neither their own address nor another one', async () => {
    await using lab = await received();
    const slow = Array.from({ length: 300 }, () => lab.open(half()));
    const ends = slow.map(({ closed }) => closed);
    for (let cut = 0; cut < 300 - places; cut++) {
      const at = await Promise.race(ends.map((end, index) => end.then(() => index)));
      expect(await ends[at]).toMatch(/^HTTP\/1\.1 503 |^$/);
      ends.splice(at, 1);
    }
    expect(await lab.open(whole('/own')).closed).toMatch(/^HTTP\/1\.1 200 /);
    expect(await lab.open(whole('/other'), '127.0.0.2').closed).toMatch(/^HTTP\/1\.1 200 /);
    expect(lab.taken).toEqual(['/own 2', '/other 2']);
  });

  it('tells of the first refused request at once, and of the others once a minute, with their number', async () => {
    await using lab = await received();
    for (let count = 0; count < 20; count++) await lab.open(whole('/refused')).closed;
    expect(lab.refused()).toEqual([{ 'no key': 1 }]);
    await lab.clock.advance(60_000);
    expect(lab.refused()).toEqual([{ 'no key': 1 }, { 'no key': 19 }]);
    await lab.clock.advance(600_000);
    expect(lab.refused()).toHaveLength(2);
  });

  it('holds no more bytes of strangers than it says, and lets go of the oldest body', async () => {
    await using lab = await received({ strangersBytes: 1_000_000 });
    const first = lab.open(half(900_000, 600_000));
    const second = lab.open(half(900_000, 600_000));
    expect(await first.closed).toMatch(/^HTTP\/1\.1 503 /);
    second.socket.write('x'.repeat(300_000));
    expect(await second.first).toMatch(/^HTTP\/1\.1 200 /);
    expect(lab.refused()).toEqual([{ 'too many bytes': 1 }]);
  });

  it('counts no bytes of a sender who is known', async () => {
    await using lab = await received({ strangersBytes: 1_000 });
    const known = whole('/known', 'x'.repeat(100_000), 'authorization: right\r\n');
    expect(await lab.open(known).closed).toMatch(/^HTTP\/1\.1 200 /);
    expect(await lab.open(whole('/own', 'x'.repeat(100_000))).closed).toMatch(/^HTTP\/1\.1 503 /);
  });

  it('keeps an answer to a known sender open, whatever strangers do and however long it takes', async () => {
    await using lab = await received({ headersMs: 20, requestMs: 40 });
    const ask = () => lab.open(whole('/stream', '', 'authorization: right\r\n'));
    let stream = ask();
    while (!(await stream.first).includes(' 200 ')) stream = ask(); // the machine may be slower than its time
    const slow = Array.from({ length: 3 * places }, () => lab.open(half()));
    await Promise.all(slow.map(({ closed }) => closed)); // each of them is cut: by its time, or by the one after it
    lab.letGo.resolve();
    expect(await stream.closed).toContain('done');
  });

  it('says of each request that its client has gone, also of one that waits behind another', async () => {
    await using lab = await received();
    const ask = (path: string) => `GET ${path} HTTP/1.1\r\nhost: acme\r\n\r\n`;
    const { socket, first } = lab.open(ask('/stream') + ask('/stream?2') + ask('/stream?3'));
    await first;
    socket.destroy();
    await vi.waitFor(() => expect(lab.left).toEqual(['/stream', '/stream', '/stream']), patience);
  });

  it('writes no refusal into an answer that is on its way', async () => {
    await using lab = await received();
    const ask = (path: string) => `GET ${path} HTTP/1.1\r\nhost: acme\r\n\r\n`;
    const answer = await lab.open(`${ask('/stream')}${ask('/a')}no request\r\n\r\n`).closed;
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).not.toContain('400');
  });

  it('gives the places of those who do not read their answers to others', async () => {
    await using lab = await received();
    for (let count = 0; count < 10 * places; count++) {
      const { socket, first } = lab.open('GET /long HTTP/1.1\r\nhost: acme\r\n\r\n');
      await first;
      socket.pause();
    }
    expect(await lab.open(whole('/own')).closed).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('counts the memory of the pieces of a body, and not their bytes alone', async () => {
    await using lab = await received({ strangersBytes: 100_000 });
    const pieces = '1\r\nx\r\n'.repeat(2_000);
    const { closed } = lab.open(`${head('/a', 'transfer-encoding: chunked\r\n')}\r\n${pieces}`);
    expect(await closed).toMatch(/^HTTP\/1\.1 503 /);
  });

  it('cuts a head and a body that come too slowly, with an answer', async () => {
    await using lab = await received({ headersMs: 20, requestMs: 40 });
    const ends = [lab.open('POST /half HTTP/1.1\r\nhost: ac').closed, lab.open(half()).closed];
    for (const end of await Promise.all(ends)) expect(end).toMatch(/^HTTP\/1\.1 408 /);
    expect(lab.taken).toEqual([]);
  });

  it.each([
    ['two hosts', 'POST /a HTTP/1.1\r\nhost: acme\r\nHost: evil\r\ncontent-length: 0\r\n', 400],
    ['no host', 'POST /a HTTP/1.1\r\ncontent-length: 0\r\n', 400],
    ['a target of another host', 'POST http://evil/a HTTP/1.1\r\nhost: acme\r\n', 400],
    ['a target that is no path', 'OPTIONS * HTTP/1.1\r\nhost: acme\r\n', 400],
    ['a target of another kind', 'POST ftp://acme/a HTTP/1.1\r\nhost: acme\r\n', 400],
    ['a method that there is not', 'BREW /a HTTP/1.1\r\nhost: acme\r\n', 400],
    ['a tunnel', 'CONNECT evil:443 HTTP/1.1\r\nhost: acme\r\n', 405],
    ['a head that is too large', `${head('/a')}x: ${'x'.repeat(20_000)}\r\n`, 431],
    ['a body that is too large', head('/a', 'content-length: 1000001\r\n'), 413],
  ])('answers a request with %s', async (_, text, status) => {
    await using lab = await received();
    const answer = lab.open(`${text}\r\n`);
    expect(await answer.first).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(lab.taken).toEqual([]);
    await vi.waitFor(() => expect(lab.refused()).toHaveLength(1), patience);
  });

  it('takes a target with the host of its header as its path', async () => {
    await using lab = await received();
    const text = whole('http://ACME/a?b=1');
    expect(await lab.open(text).closed).toMatch(/^HTTP\/1\.1 200 /);
    expect(lab.taken).toEqual(['/a 2']);
  });

  it('bounds the connections of all addresses, too', async () => {
    await using lab = await received();
    const slow = Array.from({ length: 6 }, (_, at) =>
      Array.from({ length: places }, () => lab.open(half(), `127.0.0.${at + 2}`)),
    ).flat();
    const ends = slow.map(({ closed }) => closed);
    for (let cut = 0; cut < 2 * places; cut++) {
      const at = await Promise.race(ends.map((end, index) => end.then(() => index)));
      ends.splice(at, 1);
    }
    expect(await lab.open(whole('/own')).closed).toMatch(/^HTTP\/1\.1 200 /);
  });
});

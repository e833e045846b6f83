// Frames a second that the gateway client takes, beside a hand-written loop over the same frames on a bare socket:
//   node test/bench/gateway.mjs, after a build. `npm run bench:gateway` does both.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { WebSocket, WebSocketServer } from 'ws';

const count = 50_000;
const rounds = 5;

/** The deltas of one run, as a gateway broadcasts them. */
function frameTexts() {
  const texts = [];
  for (let seq = 1; seq <= count; seq++) {
    const data = { text: `a reply that grows, word by word ${seq}`, delta: ` ${seq}` };
    const payload = {
      runId: 'run-1',
      stream: 'assistant',
      data,
      seq,
      ts: 1,
      sessionKey: 'agent:main:s',
    };
    texts.push(JSON.stringify({ type: 'event', event: 'agent', payload, seq }));
  }
  return texts;
}

/** A gateway in a process of its own. It lets everybody in, and sends all frames when it is told to. */
async function serve() {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  const texts = frameTexts();
  await once(server, 'listening');
  server.on('connection', (socket) => {
    socket.on('message', (data) => {
      const { id, method } = JSON.parse(String(data));
      const payload = { type: 'hello-ok', protocol: 3 };
      socket.send(JSON.stringify({ type: 'res', id, ok: true, payload }));
      if (method === 'go') for (const text of texts) socket.send(text);
    });
    const payload = { nonce: 'n', ts: 1 };
    socket.send(JSON.stringify({ type: 'event', event: 'connect.challenge', payload }));
  });
  process.send(server.address().port);
}

/** Microseconds of CPU a frame, by what takes the frames. */
const takers = {
  async 'JSON.parse and a loop'(url, heard) {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    const runs = new Map([['run-1', heard]]);
    socket.on('message', (data) => {
      const frame = JSON.parse(data.toString());
      if (frame.event === 'agent') runs.get(frame.payload.runId)?.(frame.payload);
    });
    await once(socket, 'open');
    return {
      go: () => socket.send(JSON.stringify({ type: 'req', id: '1', method: 'go' })),
      end: () => socket.terminate(),
    };
  },
  async 'the gateway client'(url, heard) {
    const { OpenClawClient } = await import('../../dist/gateway.js');
    const client = new OpenClawClient({ url });
    client.start();
    await client.ready();
    client.registerAgentAccumulation('run-1', heard);
    return { go: () => void client.request('go'), end: () => client.stop() };
  },
};

async function measure(name, url) {
  let seen = 0;
  let done = () => undefined;
  const ended = new Promise((resolve) => (done = resolve));
  const { go, end } = await takers[name](url, () => {
    if (++seen === count) done();
  });
  const before = process.cpuUsage();
  go();
  await ended;
  const { user, system } = process.cpuUsage(before);
  await end();
  return (user + system) / count;
}

if (process.argv[2] === 'serve') await serve();
else {
  const child = fork(new URL(import.meta.url), ['serve']);
  try {
    const [port] = await once(child, 'message');
    const names = Object.keys(takers);
    const costs = new Map(names.map((name) => [name, []]));
    for (let round = 0; round <= rounds; round++)
      for (const name of names) {
        const us = await measure(name, `ws://127.0.0.1:${port}`);
        if (round > 0) costs.get(name).push(us); // the first warms the code
      }
    const [floor, ours] = names.map((name) => Math.min(...costs.get(name)));
    for (const [name, us] of [
      [names[0], floor],
      [names[1], ours],
    ])
      console.log(
        `${name.padEnd(24)}${us.toFixed(2).padStart(8)} µs a frame, ${Math.round(1e6 / us)} a second`,
      );
    console.log(`ratio ${(ours / floor).toFixed(2)}`);
  } finally {
    child.kill();
  }
}

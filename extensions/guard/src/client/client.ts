#!/usr/bin/env node
/*
 * The client of agents whose hooks are commands: `node client.js AGENT HOOK FOLDER [closed|open]`, where FOLDER is the one of the
 * guard's token. It imports nothing but Node, since each call of a tool starts it. If the guard is away, it refuses in the agent's own
 * words, which the guard has left in the folder; with `open` it lets the call pass.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import type { HookAnswer } from '../agents/codec.js';

const [agent, hook, folder, whenAway] = process.argv.slice(2);
const { timeoutMs = 25_000, ...refusal } = knownRefusal();

let asked: ClientRequest | undefined;

setTimeout(() => {
  const late = new Error('it has not answered in time');
  process.stdin.destroy(late);
  asked?.destroy(late);
}, timeoutMs).unref();
try {
  const { port, socketPath } = JSON.parse(read('door.json'));
  const place = socketPath === undefined ? { host: '127.0.0.1', port } : { socketPath };
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece);
  const input = Buffer.concat(pieces);
  asked = request({
    ...{ ...place, method: 'POST', path: `/hook/${agent}/${hook}?transport=command` },
    headers: {
      ...{ host: 'localhost', authorization: `Bearer ${read('token').trim()}` },
      'content-length': input.length, // the guard refuses by it what is too large
    },
  });
  asked.end(input);
  const [response] = await once(asked, 'response');
  asked.on('error', () => undefined); // it has answered before it has read all
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  if (response.statusCode !== 200) throw new Error(`it answers ${response.statusCode} ${text}`);
  answer(JSON.parse(text));
} catch (error) {
  away(String(error));
}

function read(name: string): string {
  return readFileSync(`${folder}/${name}`, 'utf8');
}

/** The refusal of this hook that the guard has left, with the time that the agent waits. */
function knownRefusal(): HookAnswer & { readonly timeoutMs?: number } {
  const unknown = { exitCode: 2 }; // most agents read it as a refusal, and its reason from stderr
  try {
    return JSON.parse(read('away.json'))[`${agent}/${hook}`] ?? unknown;
  } catch {
    return unknown; // no guard was ever started here
  }
}

/** The guard gives no verdict. */
function away(why: string): void {
  const isOpen = whenAway === 'open';
  const so = isOpen
    ? 'the call passes, as the settings say'
    : 'nothing is allowed without it: run `sluice guard run`';
  const stderr = `sluice guard gives no verdict: ${why.replaceAll(/\s+/g, ' ')}; ${so}`;
  answer({ stderr, ...(isOpen ? { exitCode: 0 } : refusal) });
  process.stdin.destroy();
}

function answer({ exitCode, body, stderr }: HookAnswer): void {
  if (process.exitCode !== undefined) return; // its time was over
  process.exitCode = exitCode;
  if (body !== undefined) process.stdout.write(JSON.stringify(body));
  if (stderr !== undefined) process.stderr.write(`${stderr}\n`);
}

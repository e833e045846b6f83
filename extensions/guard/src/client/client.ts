#!/usr/bin/env node
/*
 * The client of agents whose hooks are commands: `node client.js AGENT HOOK FOLDER [closed|open]`, where FOLDER is the one of the
 * guard's token. It imports nothing but Node, since each call of a tool starts it. If the guard is away, it refuses in the agent's own
 * words, which the guard has left in the folder; with `open` it lets the call pass.
 */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import type { HookAnswer } from '../agents/codec.js';

const [agent, hook, folder, whenAway] = process.argv.slice(2);

/** Most agents read the code 2 as a refusal, and its reason from stderr. */
const unknown: HookAnswer = { exitCode: 2 };

try {
  const { port, socketPath } = JSON.parse(read('door.json'));
  const asked = request(
    {
      ...(socketPath === undefined
        ? { host: '127.0.0.1', port }
        : { socketPath, host: 'localhost' }),
      method: 'POST',
      path: `/hook/${agent}/${hook}?transport=command`,
      headers: { authorization: `Bearer ${read('token').trim()}` },
    },
    async (response) => {
      try {
        const pieces: Buffer[] = [];
        for await (const piece of response) pieces.push(piece);
        const text = Buffer.concat(pieces).toString();
        if (response.statusCode !== 200) away(`it answers ${response.statusCode} ${text}`);
        else answer(JSON.parse(text));
      } catch (error) {
        away(String(error));
      }
    },
  );
  asked.on('error', (error) => away(error.message));
  process.stdin.pipe(asked);
} catch (error) {
  away(String(error));
}

function read(name: string): string {
  return readFileSync(`${folder}/${name}`, 'utf8');
}

/** The guard gives no verdict. */
function away(why: string): void {
  process.stdin.destroy();
  const problem = `sluice guard gives no verdict: ${why.replaceAll(/\s+/g, ' ')}`;
  const isOpen = whenAway === 'open';
  const stderr = `${problem}; ${isOpen ? 'the call passes, as the settings say' : 'nothing is allowed without it: run `sluice guard run`'}`;
  answer({ stderr, ...(isOpen ? { exitCode: 0 } : refusal()) });
}

function refusal(): HookAnswer {
  try {
    return JSON.parse(read('away.json'))[`${agent}/${hook}`] ?? unknown;
  } catch {
    return unknown; // no guard was ever started here
  }
}

function answer({ exitCode, body, stderr }: HookAnswer): void {
  if (process.exitCode !== undefined) return; // the guard has answered before it has read all
  if (body !== undefined) process.stdout.write(JSON.stringify(body));
  if (stderr !== undefined) process.stderr.write(`${stderr}\n`);
  process.exitCode = exitCode;
}

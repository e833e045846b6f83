// The bytes that come into V8's old generation for a message: node test/bench/born-old.mjs, after a build
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { getHeapSpaceStatistics } from 'node:v8';
import { agentNamed, lineHost } from './line-host.mjs';

const self = fileURLToPath(import.meta.url);
/** V8 optimizes nothing and collects in this thread alone: the same on each machine. */
const alike = ['--expose-gc', '--single-threaded', '--no-opt', '--min-semi-space-size=16'];

/**
 * Counts the bytes that are left in the old generation for each message, after many collections of young objects and no full one:
 * what is kept of the message, what was born old, and all that such a thing holds.
 *
 * @param agent `plain`, which says one whole message, or `echo`, which streams and calls a tool.
 */
export function oldBytesOfMessage(agent) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...alike, self, agent], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return Number(stdout);
}

async function measure(name) {
  const dist = (path) => import(new URL(`../../dist/${path}.js`, import.meta.url).href);
  const modules = { ...(await dist('host')), ...(await dist('agent')), ...(await dist('index')) };
  const agents = [{ id: 'main', provider: agentNamed(name, modules) }];
  const { host, say } = await lineHost(modules, { agents });
  const messages = 400;
  const answer = async (times) => {
    for (let at = 0; at < times; at++) {
      await say(`c${at % 10}`);
      if (at % 10 === 9) globalThis.gc({ type: 'minor' });
    }
  };
  const old = () =>
    getHeapSpaceStatistics().find((one) => one.space_name === 'old_space')?.space_used_size ?? 0;
  await answer(1_000);
  globalThis.gc();
  const before = old();
  await answer(messages);
  process.stdout.write(`${Math.round((old() - before) / messages)}\n`);
  await host.stop();
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [agent] = process.argv.slice(2);
  if (agent !== undefined) await measure(agent);
  else console.log({ plain: oldBytesOfMessage('plain'), echo: oldBytesOfMessage('echo') });
}

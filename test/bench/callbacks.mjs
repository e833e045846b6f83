import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from './timing.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
/** The real one reads the whole text again for each piece: it is measured on a short reply, which favours it. */
const short = 32 * 1024;
const long = 1024 * 1024;

/**
 * What a piece of four characters costs the reply callbacks: ours on a short reply and on one of a megabyte, and, where
 * `npm run test:callbacks` has installed it, the real one's on the short one.
 */
export function measureCallbacks(launches) {
  const chunk = realChunk();
  const tasks = [
    { contender: 'sluice', chars: short },
    { contender: 'sluice', chars: long },
    ...(chunk === undefined ? [] : [{ contender: 'openclaw', chars: short }]),
  ];
  const results = tasks.map(() => []);
  for (let launch = 0; launch < launches; launch++)
    tasks.forEach((task, at) => {
      results[at].push(once(task, chunk));
    });
  const [few, many, real] = results.map((list) => list.length && median(list));
  return { short: few, long: many, ...(real && { real }) };
}

/** In a home of its own: the real one writes where it thinks it lives. */
function once(task, chunk) {
  const hooks = ['--import', here('../openclaw/installed-replies/register-hooks.mjs')];
  const args = [here('callbacks-child.mjs'), JSON.stringify(task)];
  const home = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const own = { HOME: home, OPENCLAW_STATE_DIR: join(home, 'state') };
  const { stdout, status } = spawnSync(
    process.execPath,
    task.contender === 'openclaw' ? [...hooks, ...args] : args,
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...own, ...(chunk && { OPENCLAW_CHUNK: chunk }) },
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  rmSync(home, { recursive: true, force: true });
  const at = stdout.lastIndexOf('\n@@');
  if (status !== 0 || at < 0)
    throw new Error(`callbacks of ${task.contender} failed (exit ${status})`);
  return JSON.parse(stdout.slice(at + 3)).ns;
}

/** The file that holds the real subscription, where the package is installed. */
function realChunk() {
  const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const dist = join(caches, 'sluice-ci/openclaw-full-2026.3.13/node_modules/openclaw/dist');
  if (!existsSync(dist)) return undefined;
  return readdirSync(dist)
    .filter((name) => /^reply-.*\.js$/.test(name))
    .map((name) => join(dist, name))
    .find((path) => readFileSync(path, 'utf8').includes('\nfunction subscribeEmbeddedPiSession('));
}

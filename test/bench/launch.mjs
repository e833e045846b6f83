import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median } from './timing.mjs';

const child = fileURLToPath(new URL('child.mjs', import.meta.url));

/** Runs one task in a fresh process. */
export function once(task) {
  const { stdout, status } = spawnSync(
    process.execPath,
    ['--expose-gc', '--no-warnings', child, JSON.stringify(task)],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const at = stdout.lastIndexOf('\n@@');
  if (status !== 0 || at < 0)
    throw new Error(`${task.job} of ${task.contender} failed (${task.id ?? ''}, exit ${status})`);
  return JSON.parse(stdout.slice(at + 3));
}

/** Figure by figure, the median over the launches. What is no number must be the same in all. */
function fold(results) {
  const folded = { ...results[0] };
  for (const [key, value] of Object.entries(folded))
    if (typeof value === 'number' || value === null)
      folded[key] = median(results.map((result) => result[key] ?? Number.NaN));
  return folded;
}

/**
 * Runs a task for several contenders, each launch in a fresh process. The order rotates from launch to launch, so
 * that a machine that slows down does not always hit the same one.
 *
 * @returns the figures by contender.
 */
export function launchAll(task, contenders, launches) {
  const results = new Map(contenders.map((name) => [name, []]));
  for (let launch = 0; launch < launches; launch++)
    for (let i = 0; i < contenders.length; i++) {
      const contender = contenders[(i + launch) % contenders.length];
      results.get(contender).push(once({ ...task, contender }));
    }
  return Object.fromEntries([...results].map(([name, list]) => [name, fold(list)]));
}

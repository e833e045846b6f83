import { contenderNamed } from './contenders/index.mjs';
import { frameFigures } from './frames.mjs';
import { dispatchAlone, growth, promises, registration, scenarioFigures } from './jobs.mjs';
import { stepsOf } from './steps.mjs';

/**
 * Measures one thing, of one contender, and prints it as a line of JSON. Each runs in a process of its own, so
 * that no contender profits or suffers from what V8 has learned about another.
 */
const jobs = {
  scenario: scenarioFigures,
  alone: dispatchAlone,
  growth,
  promises,
  registration,
  steps: (_, task) => stepsOf(task.id, loadKernel),
};

const task = JSON.parse(process.argv[2]);
const tree = task.tree ?? new URL('../../', import.meta.url).href;
const load = (file) => import(new URL(file, tree).href);
const loadKernel = () =>
  load('src/kernel/dist/internal.js').catch(() => load('dist/kernel/index.js')); // as commits before the packages had it
const measured =
  task.job === 'frames'
    ? await frameFigures(task, {
        ...(await load('dist/csdk.js').catch(() => load('dist/csdk/index.js'))),
        ...(await load('dist/index.js')),
      })
    : await jobs[task.job](
        task.job === 'steps' ? undefined : await contenderNamed(task.contender, loadKernel),
        task,
      );
process.stdout.write(`\n@@${JSON.stringify(measured)}`);

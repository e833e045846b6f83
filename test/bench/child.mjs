import { contenderNamed } from './contenders/index.mjs';
import { frameFigures } from './frames.mjs';
import { dispatchAlone, growth, promises, registration, scenarioFigures } from './jobs.mjs';

/**
 * Measures one thing, of one contender, and prints it as a line of JSON. Each runs in a process of its own, so
 * that no contender profits or suffers from what V8 has learned about another.
 */
const jobs = { scenario: scenarioFigures, alone: dispatchAlone, growth, promises, registration };

const task = JSON.parse(process.argv[2]);
const loadKernel = () => import('../../dist/kernel/index.js');
const measured =
  task.job === 'frames'
    ? await frameFigures(task, await import('../../dist/csdk/index.js'))
    : await jobs[task.job](await contenderNamed(task.contender, loadKernel), task);
process.stdout.write(`\n@@${JSON.stringify(measured)}`);

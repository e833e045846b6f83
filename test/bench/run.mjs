import { availableParallelism, cpus, loadavg } from 'node:os';
import { measureCallbacks } from './callbacks.mjs';
import { frameJobs } from './frames.mjs';
import { launchAll } from './launch.mjs';
import { scenarios } from './scenarios.mjs';

const counts = [1, 10, 100, 1000];

/** Measures everything that was asked for. */
export function measureAll(options, say) {
  const { contenders, launches, pace, wants } = options;
  const ours = contenders.filter((name) => name === 'floor' || name === 'sluice');
  const figures = {
    machine: {
      node: process.version,
      cpus: availableParallelism(),
      cpu: cpus()[0]?.model ?? 'unknown',
      launches,
      load: [loadavg()[0]],
    },
    scenarios: {},
    alone: {},
    handlers: {},
    families: {},
    registration: undefined,
    promises: {},
    frames: {},
  };
  for (const { id } of scenarios.filter((one) => wants(one.id))) {
    say(id);
    figures.scenarios[id] = launchAll({ job: 'scenario', id, ...pace }, contenders, launches);
    sameWork(id, figures.scenarios[id]);
  }
  if (wants('fixed')) {
    const tasks = {
      'observers-0': {},
      'observers-5': {},
      'observers-20': {},
      'observers-5-nested': { id: 'observers-5', nested: true },
    };
    for (const [id, task] of Object.entries(tasks)) {
      say(`fixed cost: ${id}`);
      figures.alone[id] = launchAll({ job: 'alone', id, ...pace, ...task }, ours, launches);
    }
  }
  if (wants('growth')) {
    const runners = options.quick ? ours : contenders;
    for (const count of counts) {
      say(`growth: ${count}`);
      const task = { job: 'growth', ...pace };
      figures.handlers[count] = launchAll(
        { ...task, families: 1, handlers: count },
        runners,
        launches,
      );
      figures.families[count] = launchAll(
        { ...task, families: count, handlers: 5 },
        runners,
        launches,
      );
    }
  }
  if (wants('registration')) {
    say('registration');
    figures.registration = launchAll({ job: 'registration' }, contenders, launches);
  }
  if (wants('promises') && contenders.includes('sluice'))
    for (const id of [
      'observers-0',
      'observers-20',
      'sync-mutators-20',
      'mutators-20',
      'async-observers-20',
    ]) {
      say(`promises: ${id}`);
      figures.promises[id] = launchAll({ job: 'promises', id }, ['sluice'], 1).sluice.made;
    }
  if (wants('frames') && contenders.includes('sluice'))
    for (const id of Object.keys(frameJobs)) {
      say(`frames: ${id}`);
      figures.frames[id] = launchAll({ job: 'frames', id, ...pace }, ['sluice'], launches).sluice;
    }
  if (wants('callbacks') && contenders.includes('sluice')) {
    say('callbacks');
    figures.callbacks = measureCallbacks(launches);
  }
  figures.machine.load.push(loadavg()[0]); // about 1 is the benchmark itself; more is company
  return figures;
}

/** A contender that did other work is no contender. */
function sameWork(id, byContender) {
  const expected = JSON.stringify(byContender.floor.work);
  for (const [name, { work }] of Object.entries(byContender))
    if (JSON.stringify(work) !== expected)
      throw new Error(`${id}: ${name} did ${JSON.stringify(work)}, and the floor ${expected}`);
}

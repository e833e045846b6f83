import { createHook } from 'node:async_hooks';
import { observers, tally } from './handlers.mjs';
import { workOf } from './once.mjs';
import { freshPayload, nestedPayload } from './payload.mjs';
import { build, scenarios } from './scenarios.mjs';
import { bytes, heapAtRest, isThenable, median, nanoseconds, warm } from './timing.mjs';

const sink = { value: undefined, kept: undefined };

/** Builds a scenario in a process that has already dispatched to other handlers of the kind, as a gateway has. */
async function prepared(contender, id) {
  const one = scenarios.find((candidate) => candidate.id === id);
  for (const handlers of [3, 4]) {
    const neighbour = build(contender, { ...one, handlers });
    await warm(() => neighbour(freshPayload()), 15);
  }
  const dispatch = build(contender, one);
  return { dispatch, work: await workOf(one, dispatch) };
}

/** Time and bytes of a scenario, and the work that was done. */
export async function scenarioFigures(contender, task) {
  const { dispatch, work } = await prepared(contender, task.id);
  const run = () => dispatch(freshPayload());
  const runs = isThenable(run()) ? run : () => void (sink.value = run());
  await warm(runs, task.warmMs);
  const ns = await nanoseconds(runs, task);
  return { work, ns, bytes: await bytes(runs, ns) };
}

/**
 * The call of `dispatch` alone, for stages whose handlers all return synchronously: the outcome then exists when
 * it returns, and awaiting it is the caller's cost.
 */
export async function dispatchAlone(contender, task) {
  const { dispatch } = await prepared(contender, task.id);
  const make = task.nested ? nestedPayload : freshPayload;
  const run = () => void (sink.value = dispatch(make()));
  await warm(run, task.warmMs);
  const ns = await nanoseconds(run, task);
  return { ns, bytes: await bytes(run, ns) };
}

/** Dispatches of one family: with many handlers, or with handlers on many other families. */
export async function growth(contender, task) {
  const families = Array.from({ length: task.families }, (_, i) => `bench.family-${i}`);
  const hub = contender.hub(families);
  for (const family of families)
    for (const handler of observers(contender.parameter, task.handlers)) hub.add(family, handler);
  const dispatch = () => hub.dispatch(families[0], freshPayload());
  tally.calls = 0;
  const awaited = isThenable(dispatch());
  if (tally.calls < task.handlers && !awaited) throw new Error('a handler was not called');
  const run = awaited ? dispatch : () => void (sink.value = dispatch());
  await warm(run, task.handlers >= 1_000 ? 8 * task.warmMs : task.warmMs); // each of them has to get warm
  return { ns: await nanoseconds(run, task) };
}

/** 10,000 handlers on 100 families, in milliseconds of CPU. The functions exist, and have run, before the clock starts. */
export async function registration(contender) {
  const families = Array.from({ length: 100 }, (_, i) => `bench.family-${i}`);
  const handlers = observers(contender.parameter, 10_000);
  const given = contender.parameter === 'payload' ? freshPayload() : { payload: freshPayload() };
  for (let twice = 0; twice < 2; twice++) for (const handler of handlers) handler(given);
  const rehearsal = contender.hub(families);
  for (let i = 0; i < 200; i++) rehearsal.add(families[i % 100], handlers[i]);
  await rehearsal.dispatch(families[0], freshPayload());
  const hub = contender.hub(families);
  const before = await heapAtRest();
  const started = process.cpuUsage();
  for (let i = 0; i < handlers.length; i++) hub.add(families[i % 100], handlers[i]);
  const { user, system } = process.cpuUsage(started);
  const registeredMs = (user + system) / 1_000;
  const after = await heapAtRest();
  const startFirst = performance.now();
  for (const family of families) await hub.dispatch(family, freshPayload());
  const firstDispatchUs = ((performance.now() - startFirst) * 1_000) / families.length;
  sink.kept = [rehearsal, hub, handlers];
  return { registeredMs, bytesEach: (after - before) / handlers.length, firstDispatchUs };
}

/** How many promises a dispatch makes beyond those of its own handlers, as Node counts them. */
export async function promises(contender, task) {
  const one = scenarios.find(({ id }) => id === task.id);
  const dispatch = build(contender, one);
  for (let i = 0; i < 10; i++) await dispatch(freshPayload());
  const counts = [];
  for (let i = 0; i < 5; i++) {
    let made = 0;
    const hook = createHook({
      init: (_, type) => {
        if (type === 'PROMISE') made++;
      },
    });
    hook.enable();
    const result = dispatch(freshPayload());
    hook.disable();
    await result;
    counts.push(made);
  }
  return { made: median(counts) };
}

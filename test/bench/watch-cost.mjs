// The cost of a handler watch for a dispatch: `npm run bench:watch`, after a build. Five sync observers, one dispatch at a time. The
// variants take turns; the figure is the CPU time of the best round of each.
import { setTimeout } from 'node:timers/promises';
import { HandlerWatch } from '../../dist/extension.js';
import { createKernel, silentLogger } from '../../dist/index.js';
import { samplePayload } from '../../dist/testing.js';

const rounds = 60;
const dispatches = 20_000;
const variants = {
  'not watched': undefined,
  'blocking timed': { attributeRejections: false },
  'rejections attributed': { blockedAfterMs: false },
  'both, as `sluice run` has it': {},
};
const family = 'agent.output.delta';
const payload = Object.freeze(samplePayload(family));
let calls = 0;

function contender([name, options]) {
  const watch = options && new HandlerWatch({ ...options, logger: silentLogger });
  const kernel = createKernel(watch ? { instrument: watch.instrument } : {});
  watch?.watchLoop();
  for (let i = 0; i < 5; i++)
    kernel.contribute({
      family,
      class: 'observer',
      extensionId: 'bench',
      id: `o${i}`,
      handler: () => void calls++,
    });
  return { name, kernel, watch, best: Number.POSITIVE_INFINITY };
}

function nanoseconds({ kernel }) {
  const before = process.cpuUsage();
  for (let i = 0; i < dispatches; i++) kernel.dispatchSync(family, payload);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1_000) / dispatches;
}

const contenders = Object.entries(variants).map(contender);
for (let round = 0; round < rounds; round++)
  for (const one of contenders) {
    const ns = nanoseconds(one);
    if (round > rounds / 3) one.best = Math.min(one.best, ns); // those before warm it up
    await setTimeout(25); // the watch looks at the loop every 250 ms
  }
if (calls !== 5 * dispatches * rounds * contenders.length)
  throw new Error('a handler was not called');
const [{ best: bare }] = contenders;
for (const { name, best, watch } of contenders) {
  console.log(`${name.padEnd(30)} ${best.toFixed(0).padStart(6)} ns  ${(best / bare).toFixed(2)}x`);
  watch?.[Symbol.dispose]();
}

// What a handler watch costs a dispatch: `npm run bench:watch`, after a build. Five sync observers, one dispatch at a time.
import { HandlerWatch } from '../../dist/extension/index.js';
import { createKernel, silentLogger } from '../../dist/kernel/index.js';
import { samplePayload } from '../../dist/testing/index.js';

const rounds = 200_000;
const variants = {
  'not watched': undefined,
  'blocking timed': { attributeRejections: false },
  'rejections attributed': { blockedAfterMs: false },
  'both, as `sluice run` has it': {},
};
const family = 'agent.output.delta';

function nanoseconds(options) {
  const watch = options && new HandlerWatch({ ...options, logger: silentLogger });
  const kernel = createKernel(watch ? { instrument: watch.instrument } : {});
  let calls = 0;
  for (let i = 0; i < 5; i++)
    kernel.contribute({
      family,
      class: 'observer',
      extensionId: 'bench',
      id: `o${i}`,
      handler: () => void calls++,
    });
  const payload = Object.freeze(samplePayload(family));
  for (let i = 0; i < rounds; i++) kernel.dispatchSync(family, payload);
  const began = process.hrtime.bigint();
  for (let i = 0; i < rounds; i++) kernel.dispatchSync(family, payload);
  const took = Number(process.hrtime.bigint() - began) / rounds;
  if (calls !== 10 * rounds) throw new Error('a handler was not called');
  return took;
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const results = Object.entries(variants).map(([name, options]) => [
  name,
  median(Array.from({ length: 5 }, () => nanoseconds(options))),
]);
for (const [name, ns] of results)
  console.log(
    `${name.padEnd(30)} ${ns.toFixed(0).padStart(6)} ns  ${(ns / results[0][1]).toFixed(2)}x`,
  );

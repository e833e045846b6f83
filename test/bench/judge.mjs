// The cost of a judge in process: `npm run bench:judge`, after a build. A call of a tool under twenty rules, in the kernel alone and
// through an adapter's part, and one that nobody hears. The variants take turns; a figure is the lowest of the medians of each.
import { allow, createKernel } from '../../dist/index.js';
import { ToolJudge } from '../../extensions/judge/dist/index.js';
import { nanoseconds, warm } from './timing.mjs';

const family = 'agent.tool.calling';
const acme = { family, extensionId: 'bench', failClosed: true };

/** Four mutators and sixteen vetoes, all closed. Each reads the call; one mutator changes it. */
function ruled() {
  const kernel = createKernel();
  for (let at = 0; at < 4; at++)
    kernel.contribute({
      ...{ ...acme, class: 'mutator', id: `m${at}` },
      handler: ({ payload: { params } }) =>
        at === 0 && params.limit > 10 ? { params: { limit: 10 } } : undefined,
    });
  for (let at = 0; at < 16; at++)
    kernel.contribute({
      ...{ ...acme, class: 'veto', id: `v${at}` },
      handler({ payload: { toolName, params } }) {
        if (toolName === 'shell' && params.command.includes(`rm ${at}`)) throw new Error('refused');
        calls++;
        return allow();
      },
    });
  return kernel;
}

let calls = 0;
const call = () => ({ toolName: 'shell', params: { command: 'ls -l', limit: 9_999 } });
const [rules, unheard] = [ruled(), createKernel()];
const judge = new ToolJudge(ruled(), { given: () => ({ sessionId: 's' }) });
const variants = {
  'twenty rules, in the kernel': () => rules.dispatch(family, call()),
  'twenty rules, through an adapter': () => judge.calling(call()),
  'nobody listens': () => unheard.dispatch(family, call()),
  'the payload and its promise alone': async () => call(),
};

for (const name of Object.keys(variants).slice(0, 2)) {
  calls = 0;
  await variants[name]();
  if (calls !== 16) throw new Error(`${name}: a veto was not asked`);
}
const figures = Object.fromEntries(
  Object.keys(variants).map((name) => [name, Number.POSITIVE_INFINITY]),
);
for (const run of Object.values(variants)) await warm(run, 300);
for (let round = 0; round < 20; round++)
  for (const [name, run] of Object.entries(variants))
    figures[name] = Math.min(figures[name], await nanoseconds(run, { rounds: 1, ms: 20 }));
const [kernel, adapter, nobody, own] = Object.values(figures);
const say = (what, value, unit, goal) =>
  console.log(`${what.padEnd(48)} ${value.toFixed(1).padStart(8)} ${unit}  (${goal})`);
say('twenty rules, in the kernel, a call', kernel / 1e3, 'us', 'goal: at most 10');
say('twenty rules, through an adapter, a call', adapter / 1e3, 'us', 'with `given`');
say('nobody listens, less the payload and its promise', nobody - own, 'ns', 'goal: at most 70');

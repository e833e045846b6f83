import { parseArgs } from 'node:util';
import { contenderNames } from './contenders/index.mjs';
import { scenarios } from './scenarios.mjs';

const help = `npm run bench -- [options]

  --quick              one launch and short rounds: under a minute, rougher figures
  --only LIST          contenders, by name: ${contenderNames.join(', ')}
  --scenarios LIST     scenarios, by id or by the start of one; "growth", "registration", "fixed", "frames",
                       "callbacks" and "promises" name the other parts: ${scenarios.map(({ id }) => id).join(', ')}
  --launches N         fresh processes per figure (3; quick: 1); the median counts
  --markdown           prints the table that the README shows, and nothing else
  --json FILE          writes every figure to a file as JSON, too
  --help               this text

Compare only ratios within one run: machines are noisy.
`;

/** What the command line asks for, or a text to print instead. */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      scenarios: { type: 'string' },
      launches: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return { text: help };
  const only = values.only?.split(',') ?? contenderNames;
  for (const name of only)
    if (!contenderNames.includes(name))
      throw new Error(`no contender is called "${name}"; there are ${contenderNames.join(', ')}`);
  const wanted = values.scenarios?.split(',');
  const launches = Number(values.launches ?? (values.quick ? 1 : 3));
  if (!(Number.isInteger(launches) && launches > 0))
    throw new Error('--launches must be a number above 0');
  return {
    contenders: contenderNames.filter((name) => name === 'floor' || only.includes(name)), // ratios need the floor
    wants: (id) => wanted === undefined || wanted.some((start) => id.startsWith(start)),
    launches,
    pace: values.quick ? { warmMs: 150, rounds: 2, ms: 20 } : { warmMs: 400, rounds: 3, ms: 50 },
    quick: values.quick,
    json: values.json,
    form: values.markdown ? 'markdown' : 'text',
  };
}

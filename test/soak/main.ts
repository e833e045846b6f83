import { parseArgs } from 'node:util';
import { soak } from './soak.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: process.env['SOAK_SECONDS'] ?? '60' },
    rate: { type: 'string', default: process.env['SOAK_RATE'] ?? '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    json: { type: 'boolean', default: false },
  },
});

const seconds = Number(values.seconds);
const perSecond = Number(values.rate);
if (!(seconds >= 5) || !(perSecond > 0)) {
  console.error('soak: --seconds is 5 or more, --rate is messages per second');
  process.exit(2);
}

const report = await soak({ seconds, perSecond, seed: Number(values.seed) });
if (values.json) console.log(JSON.stringify(report));
else
  for (const [name, value] of Object.entries(report.figures))
    console.log(`${name.padEnd(34)} ${value}`);
for (const problem of report.problems) console.error(`soak: ${problem}`);
console.log(
  report.problems.length === 0
    ? 'soak: all accounted for'
    : `soak: FAILED, --seed ${values.seed} --seconds ${seconds}`,
);
process.exit(report.problems.length === 0 ? 0 : 1);

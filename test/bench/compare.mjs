import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { once } from './launch.mjs';
import { scenarios } from './scenarios.mjs';
import { median } from './timing.mjs';

const help = `node test/bench/compare.mjs BASE [OTHER] [options]

Compares two commits in one run: their launches take turns, each in a fresh process. It says which rows moved by more
than the noise. OTHER is the working tree, as it is built in dist/, if it is not given.

  --exact            counted steps and bytes only; the exit code is 1 if a row got worse (bytes: by more than 3 %)
  --scenarios LIST   scenarios, by id or by the start of one
  --launches N       launches a side (7; exact: 3)
  --help             this text
`;

const root = fileURLToPath(new URL('../../', import.meta.url));
const pace = { warmMs: 150, rounds: 3, ms: 20 };

/** Builds a commit in a folder of its own. @param trees gets the folder before the build, which may fail. */
function built(ref, folder, trees) {
  const tree = join(folder, ref.replaceAll(/\W/g, '-'));
  execFileSync('git', ['worktree', 'add', '--detach', tree, ref], { cwd: root, stdio: 'ignore' });
  trees.push(tree);
  const modules = join(tree, 'node_modules');
  mkdirSync(join(modules, '@sluice'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!/^@?sluice/.test(name)) symlinkSync(join(root, 'node_modules', name), join(modules, name));
  symlinkSync(join(tree, 'src/kernel'), join(modules, 'sluice-kernel'));
  for (const name of readdirSync(join(tree, 'src')))
    symlinkSync(join(tree, 'src', name), join(modules, '@sluice', name));
  execFileSync('npm', ['run', '--silent', 'build:core'], {
    cwd: tree,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { name: ref, tree: pathToFileURL(`${tree}/`).href };
}

/** The middle half of the figures, as a part of their median: what one side differs from itself. */
function noiseOf(values) {
  const sorted = [...values].sort((left, right) => left - right);
  const at = (part) => sorted[Math.round(part * (sorted.length - 1))];
  return (at(0.75) - at(0.25)) / median(sorted);
}

function timed(ids, sides, launches, say) {
  const rows = [];
  for (const id of ids) {
    say(id);
    const figures = sides.map(() => []);
    for (let launch = 0; launch < launches; launch++)
      for (let i = 0; i < sides.length; i++) {
        const side = (i + launch) % sides.length;
        const task = { job: 'scenario', contender: 'sluice', id, tree: sides[side].tree, ...pace };
        figures[side].push(once(task));
      }
    const [base, other] = figures.map((list) => list.map(({ ns }) => ns));
    const ratio = median(other) / median(base);
    const noise = Math.max(0.03, noiseOf(base) + noiseOf(other));
    const bytes = figures.map((list) => Math.round(median(list.map((one) => one.bytes))));
    const moved = Math.abs(ratio - 1) > noise;
    rows.push([
      id,
      `${median(base).toFixed(0)} -> ${median(other).toFixed(0)} ns`,
      `${ratio.toFixed(2)}x, noise ${(100 * noise).toFixed(0)} %`,
      `${bytes[0]} -> ${bytes[1]} B`,
      moved ? (ratio < 1 ? 'FASTER' : 'SLOWER') : '',
    ]);
  }
  return { rows, worse: 0 };
}

function exact(ids, sides, launches, say) {
  const rows = [];
  let worse = 0;
  const row = (id, what, [base, other], limit) => {
    if (base === other) return;
    const isWorse = other > base * limit;
    if (isWorse) worse++;
    rows.push([id, what, `${base} -> ${other}`, isWorse ? 'WORSE' : '']);
  };
  for (const id of ids) {
    say(id);
    const counted = sides.map(({ tree }) => once({ job: 'steps', id, tree }));
    for (const what of Object.keys(counted[0]))
      row(
        id,
        what,
        counted.map((one) => one[what]),
        1,
      );
    const bytes = sides.map(({ tree }) =>
      Math.round(
        Math.min(
          ...Array.from(
            { length: launches },
            () => once({ job: 'scenario', contender: 'sluice', id, tree, ...pace }).bytes,
          ),
        ),
      ),
    );
    row(id, 'bytes', bytes, 1.03);
  }
  return { rows, worse };
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      exact: { type: 'boolean', default: false },
      scenarios: { type: 'string' },
      launches: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const [base, other] = positionals;
  if (values.help || base === undefined) {
    process.stdout.write(help);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const wanted = values.scenarios?.split(',');
  const ids = scenarios
    .map(({ id }) => id)
    .filter((id) => wanted === undefined || wanted.some((start) => id.startsWith(start)));
  const launches = Number(values.launches ?? (values.exact ? 3 : 7));
  const folder = mkdtempSync(join(tmpdir(), 'sluice-compare-'));
  const trees = [];
  const take = (ref) => built(ref, folder, trees);
  try {
    const here = { name: 'the working tree', tree: new URL('../../', import.meta.url).href };
    const sides = [take(base), other === undefined ? here : take(other)];
    const say = (what) => process.stderr.write(`${what}\n`);
    const { rows, worse } = (values.exact ? exact : timed)(ids, sides, launches, say);
    const lines = rows.map((cells) => cells.join('   '));
    const head = `${sides[0].name} -> ${sides[1].name}, ${ids.length} scenarios`;
    process.stdout.write(
      `${[head, ...lines, rows.length === 0 ? 'no difference' : ''].join('\n')}\n`,
    );
    if (worse > 0) process.exitCode = 1;
  } finally {
    for (const tree of trees)
      execFileSync('git', ['worktree', 'remove', '--force', tree], { cwd: root, stdio: 'ignore' });
    rmSync(folder, { recursive: true, force: true });
  }
}

main();

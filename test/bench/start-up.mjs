// What a start of the command line costs: the files that it loads, its time on the processor and its memory.
//   npm run bench:start                      the bundle of this project, made anew
//   node test/bench/start-up.mjs MAIN        another one, such as node_modules/sluice/dist/cli/main.js
//   node test/bench/start-up.mjs MAIN 16 48  fails if `--help` loads more than 16 files, or `run` more than 48
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const [main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url)), ...bounds] =
  process.argv.slice(2);
const commands = [
  { args: ['--help'], input: '' },
  { args: ['run', '--quiet', '--no-config'], input: 'hello\n' },
];
const folder = mkdtempSync(join(tmpdir(), 'sluice-start-'));
const report = join(folder, 'report');

/** A module that is evaluated before the command line. */
const before = (code) => `data:text/javascript,${encodeURIComponent(code)}`;
const loader = before(`
  import { appendFileSync } from 'node:fs';
  export async function load(url, context, next) {
    if (url.startsWith('file:')) appendFileSync(${JSON.stringify(report)}, url + '\\n');
    return next(url, context);
  }`);
const counting = before(`
  import { appendFileSync } from 'node:fs';
  import { createRequire, register } from 'node:module';
  import { pathToFileURL } from 'node:url';
  register(${JSON.stringify(loader)});
  process.on('exit', () => {
    for (const file of Object.keys(createRequire(${JSON.stringify(import.meta.url)}).cache))
      appendFileSync(${JSON.stringify(report)}, pathToFileURL(file).href + '\\n');
  });`);
const measuring = before(`
  import { writeFileSync } from 'node:fs';
  process.on('exit', () => writeFileSync(${JSON.stringify(report)}, JSON.stringify(process.resourceUsage())));`);

function started(program, { args, input }) {
  rmSync(report, { force: true });
  const all = ['--import', program, resolve(main), ...args];
  const { status, stderr } = spawnSync(process.execPath, all, {
    cwd: folder,
    input,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`sluice ${args.join(' ')} ended with ${status}: ${stderr}`);
  return readFileSync(report, 'utf8');
}

try {
  for (const [at, command] of commands.entries()) {
    const files = new Set(started(counting, command).trim().split('\n'));
    const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(started(measuring, command));
    const cpuMs = Math.round((userCPUTime + systemCPUTime) / 1_000);
    const name = `sluice ${command.args.join(' ')}`;
    console.log(
      `${name}: ${files.size} files, ${cpuMs} ms of CPU, ${Math.round(maxRSS / 1024)} MB`,
    );
    const most = Number(bounds[at] ?? Number.POSITIVE_INFINITY);
    if (files.size > most) {
      console.log(`It may load ${most} files. It loads:\n${[...files].sort().join('\n')}`);
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

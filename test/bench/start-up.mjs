// What a start of the command line costs: the files that it loads, its time on the processor and its memory. It fails if a
// start loads more than its bounds allow, code that it does not need, or a file that V8 holds with two bytes for each character.
//   npm run bench:start                 the bundle of this project, made anew
//   node test/bench/start-up.mjs MAIN   another one, such as node_modules/sluice/dist/cli/main.js
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const [main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))] =
  process.argv.slice(2);
const commands = [
  { args: ['--help'], input: '', files: 16, kB: 1_035 },
  { args: ['run', '--quiet', '--no-config'], input: 'hello\n', files: 40, kB: 1_835 },
];
/** Packages in the bundle that are asked for by an extension, a channel or a terminal. */
const unneeded = /^\/\/ .*node_modules\/(typebox\/build\/type|markdown-it|string-width|ws)\/.*$/m;
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
  for (const command of commands) {
    const files = new Set(started(counting, command).trim().split('\n'));
    const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(started(measuring, command));
    const cpuMs = Math.round((userCPUTime + systemCPUTime) / 1_000);
    const names = [...files].sort().map(fileURLToPath);
    const texts = names.map((file) => [file, readFileSync(file, 'utf8')]);
    const kB = Math.round(texts.reduce((sum, [, text]) => sum + text.length, 0) / 1_000);
    console.log(
      `sluice ${command.args.join(' ')}: ${files.size} files, ${kB} kB, ${cpuMs} ms of CPU,`,
      `${Math.round(maxRSS / 1024)} MB`,
    );
    const faults = texts.flatMap(([file, text]) => {
      const [module] = unneeded.exec(text) ?? [];
      const isAscii = /^[\0-\x7f]*$/.test(text);
      return [module && `has ${module}`, !isAscii && 'has other characters than ASCII']
        .filter(Boolean)
        .map((fault) => `${file} ${fault}`);
    });
    if (files.size > command.files || kB > command.kB)
      faults.push(`it may load ${command.files} files with ${command.kB} kB: ${names.join(', ')}`);
    for (const fault of faults) console.log(`  ${fault}`);
    if (faults.length > 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { events } from '../../parity/hooks/events.js';
import { installNode22 } from '../../support/openclaw-install.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import type { Found, TrialJob } from './child/found.js';
import type { CorpusPlugin } from './corpus.js';
import type { Installed } from './install.js';

const loopback = fileURLToPath(new URL('./child/loopback.mjs', import.meta.url));
/** Milliseconds after which a trial is ended. */
const trialTimeoutMs = 280_000;

const hooks = Object.fromEntries(
  Object.entries(events).map(([hook, { event, ctx }]) => {
    const [input] = fc.sample(fc.record({ event, ctx }), { seed: 62, numRuns: 1 });
    return [hook, input ?? { event: {}, ctx: {} }];
  }),
);

/**
 * Tries a plugin in a process of its own: a temporary home, an environment that holds nothing of this one, no network.
 *
 * @param program the compiled child/program.ts.
 * @param isNamed the host names the real OpenClaw; else the plugin gets Sluice's own names, or what lies beside it.
 * @throws Error (as a rejection) if the process ended by itself: the plugin has crashed the host.
 */
export async function tryPlugin(
  {
    id,
    config = {},
    openclaw = {},
    answers = {},
    needs = {},
    inputs = {},
    routes = 0,
    talks = false,
    outside = [],
    programs = {},
    files = {},
    env = {},
    release,
  }: CorpusPlugin,
  installed: Installed,
  program: string,
  isNamed: boolean,
): Promise<Found> {
  using folder = temporaryFolder();
  const home = folder.path;
  mkdirSync(join(home, 'bin'));
  for (const [name, says] of Object.entries(programs))
    writeFileSync(join(home, 'bin', name), standInProgram(says), { mode: 0o755 });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text.replaceAll('@HOME@', home));
  }
  const job: TrialJob = {
    folder: home,
    config: folder.write(
      'sluice.config.json',
      JSON.stringify({
        plugins: [{ path: installed.path, config, routes: true }],
        openclaw: { ...openclaw, tools: { alsoAllow: ['group:plugins'] } }, // those that are optional, too
        ...(isNamed && { legacy: { openclaw: installed.openclaw } }),
      }),
    ),
    answers,
    outside,
    needs,
    inputs,
    routes,
    talks,
    out: join(home, 'found.json'),
    hooks,
  };
  const file = join(home, 'job.json');
  writeFileSync(file, JSON.stringify(job));
  const { code, said } = await run(
    release === undefined ? process.execPath : await installNode22(),
    program,
    file,
    home,
    env,
  );
  try {
    return JSON.parse(readFileSync(job.out, 'utf8')) as Found; // written by the program
  } catch (cause) {
    throw new Error(`${id}: its process ended with ${code}, and found nothing.\n${said}`, {
      cause,
    });
  }
}

/** The text of a program that prints what fits its arguments. */
function standInProgram(says: Readonly<Record<string, string>>): string {
  return `#!${process.execPath}
const says = ${JSON.stringify(says)};
const args = process.argv.slice(2).join(' ');
const fitting = Object.keys(says).find((part) => args.includes(part));
if (fitting === undefined) console.error('it is not known here: ' + args);
else process.stdout.write(says[fitting]);
process.exitCode = fitting === undefined ? 1 : 0;
`;
}

function run(
  node: string,
  program: string,
  job: string,
  home: string,
  further: Readonly<Record<string, string>>,
): Promise<{ readonly code: string; readonly said: string }> {
  const env = {
    ...further,
    HOME: home,
    TMPDIR: home,
    TZ: 'UTC',
    LANG: 'C.UTF-8',
    PATH: join(home, 'bin'),
    OPENCLAW_STATE_DIR: join(home, 'openclaw'),
    NODE_OPTIONS: `--import ${loopback}`,
  };
  return new Promise((resolve) => {
    const options = {
      cwd: home,
      env,
      timeout: trialTimeoutMs,
      killSignal: 'SIGKILL',
      maxBuffer: 1 << 26,
    } as const;
    execFile(node, [program, job], options, (error, stdout, stderr) =>
      resolve({
        code: String(error?.code ?? error?.signal ?? 0),
        said: `${stdout}\n${stderr}`.slice(-4_000),
      }),
    );
  });
}

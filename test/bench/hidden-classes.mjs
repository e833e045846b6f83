// The hidden classes that V8 makes for a message, counted: the same on each machine.
//   node test/bench/hidden-classes.mjs, after a build
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { lineHost } from './line-host.mjs';

const self = fileURLToPath(import.meta.url);

/** Hidden classes that a process makes which answers so many messages. */
function classesOf(messages) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-classes-'));
  const log = join(folder, 'v8.log');
  // no collection drops a class that is made again then: that would depend on the load of the machine
  const alike = ['--retain-maps-for-n-gc=100000', '--single-threaded'];
  const flags = ['--log-maps', '--no-logfile-per-isolate', `--logfile=${log}`, ...alike];
  try {
    const { status, stderr } = spawnSync(process.execPath, [...flags, self, `${messages}`], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
    return (
      readFileSync(log, 'utf8').match(/^map,(?:Transition|NormalizeCached|InitialMap),/gm)
        ?.length ?? 0
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Counts what one message makes after 200 others. A literal that adds fields to an object which was spread makes one for each
 * field, each time: a frozen object, or a spread that comes last, makes none. A literal with a getter makes one each time, too, as
 * does a generator inside of a function.
 *
 * @returns the classes of a message, and those of a whole process: it is 0 only if this V8 does not tell.
 */
export function hiddenClassesOfMessage() {
  const [few, many] = [classesOf(200), classesOf(300)];
  return { perMessage: (many - few) / 100, inAll: many };
}

async function answer(messages) {
  const dist = (path) => import(new URL(`../../dist/${path}.js`, import.meta.url).href);
  const modules = {
    ...(await dist('host')),
    ...(await dist('agent')),
    ...(await dist('index')),
  };
  const { host, say } = await lineHost(modules);
  for (let at = 0; at < messages; at++) await say(`c${at % 10}`);
  await host.stop();
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const messages = Number(process.argv[2] ?? 0);
  if (messages > 0) await answer(messages);
  else console.log(hiddenClassesOfMessage());
}

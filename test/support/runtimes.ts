import { execFile, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { rolldown } from 'rolldown';
import { installOnce, npm } from './package-cache.js';
import { root } from './source-tree.js';
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.js';

/** Runs `kernel-anywhere.ts` over the built kernel in one runtime, and gives what it handed back. */
export type Runtime = () => Promise<string>;

const kernelDist = join(root, 'src/kernel/dist');

/** The program and the built kernel in one text, as a module or as a script that sets `program`. */
async function bundled(format: 'esm' | 'iife'): Promise<string> {
  const bundle = await rolldown({
    input: join(root, 'test/support/kernel-anywhere.ts'),
    platform: 'neutral',
    resolve: {
      alias: {
        'sluice-kernel/core': join(kernelDist, 'core.js'),
        'sluice-kernel': join(kernelDist, 'index.js'),
      },
    },
  });
  const { output } = await bundle.generate({ format, name: 'program' });
  return output[0].code;
}

async function inFolder(
  name: string,
  text: (code: string) => string,
  run: (folder: TemporaryFolder, file: string) => Promise<string>,
): Promise<string> {
  using folder = temporaryFolder();
  return (await run(folder, folder.write(name, text(await bundled('esm'))))).trim();
}

async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 2 ** 24 });
  return stdout;
}

const printed = (code: string) => `${code}\nconsole.log(await kernelAnywhere());\n`;

/** A runtime that runs a file: the program, and the arguments before the file. */
const fileRuntime =
  (program: () => Promise<string>, ...args: readonly string[]): Runtime =>
  () =>
    inFolder('main.mjs', printed, async (_, file) => outputOf(await program(), [...args, file]));

/** The program of a package, which one of its platform holds. */
const packaged =
  (name: string, version: string, scope: string, place: string) => async (): Promise<string> => {
    const install = (to: string) =>
      npm(['install', '--ignore-scripts', '--no-save', '--prefix', to, `${name}@${version}`], to);
    const packages = join(await installOnce(`${name}-${version}`, install), 'node_modules', scope);
    const programs = readdirSync(packages).map((one) => join(packages, one, place));
    const runs = (one: string) => spawnSync(one, ['--version']).status === 0;
    const found = programs.find(runs); // one for each C library
    if (found === undefined) throw new Error(`No program of ${name} runs here.`);
    return found;
  };

const node = (version: string) => async (): Promise<string> => {
  const install = (to: string) =>
    npm(['install', '--no-save', '--prefix', to, `node@${version}`], to);
  return join(await installOnce(`node-${version}`, install), 'node_modules/node/bin/node');
};

/** A realm with what ECMAScript has, timers and an abort controller: no process, Buffer, setImmediate and generated code. */
async function bareRealm(): Promise<string> {
  const given = { setTimeout, clearTimeout, performance, AbortController };
  const realm = createContext({ ...given }, { codeGeneration: { strings: false, wasm: false } });
  // newer than the ECMAScript of Node 20, and in each runtime
  runInContext('Symbol.dispose ??= Symbol("Symbol.dispose");', realm);
  return runInContext(`${await bundled('iife')}; program.kernelAnywhere()`, realm);
}

const chromium = () =>
  inFolder(
    'page.html',
    (code) =>
      `<meta charset="utf-8"><body><script type="module">${code.replaceAll('</script', '<\\/script')}
document.body.textContent = encodeURIComponent(await kernelAnywhere());</script>`,
    async (_, file) => {
      const args = ['--no-sandbox', '--disable-gpu', '--virtual-time-budget=60000', '--dump-dom'];
      const dom = await outputOf('chromium-headless-shell', [...args, `file://${file}`]);
      return decodeURIComponent(/<body>([^<]*)/.exec(dom)?.[1] ?? dom);
    },
  );

const workerdProgram = packaged('workerd', '1.20261117.1', '@cloudflare', 'bin/workerd');

const workerd = () =>
  inFolder(
    'worker.js',
    (code) =>
      `${code}\nexport default { async test() { console.log(await kernelAnywhere()); } };\n`,
    async (folder) => {
      const config = folder.write(
        'config.capnp',
        `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "kernel", worker = (
  modules = [(name = "worker", esModule = embed "worker.js")], compatibilityDate = "2026-11-01"))]);`,
      );
      return outputOf(await workerdProgram(), ['test', config]);
    },
  );

/** Every runtime by name. */
export const runtimes: Readonly<Record<string, Runtime>> = {
  'a bare realm': bareRealm,
  'this Node': fileRuntime(async () => process.execPath),
  'Node 22': fileRuntime(node('22.23.3')),
  'Node 24': fileRuntime(node('24.21.0')),
  Bun: fileRuntime(packaged('bun', '1.4.5', '@oven', 'bin/bun')),
  Deno: fileRuntime(packaged('deno', '2.9.6', '@deno', 'deno'), 'run'),
  Chromium: chromium,
  workerd,
};

import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Mistake } from './mistake.js';
import { kinds, type Order, readOrder, usage } from './order.js';
import { filesOf, ownVersion } from './package-files.js';

/** The process, as far as the program needs it. */
interface Surroundings {
  readonly cwd: string;
  out(text: string): void;
  error(text: string): void;
}

const help = `${usage}

Makes a package that can be published, with a test, in the folder NAME:

  extension   handlers, such as a veto of replies
  channel     messages come in by it, and replies go out
  agent       answers messages

Options:
  --sluice <source>  where npm finds Sluice: a range, a tarball or a folder (default: where this came from)
  --version          print the version
  -h, --help         print this

Examples:
  $ npm create sluice extension tea-time
  $ npm create sluice channel @acme/pigeon

"npx sluice init" makes a host instead, which runs extensions.
`;

/**
 * Makes the package that the arguments ask for.
 *
 * @returns the exit code, as of the command `sluice`: 0, 1 if a file could not be written, 2 if nothing was done.
 */
export function create(args: readonly string[], { cwd, out, error }: Surroundings): number {
  try {
    const order = readOrder(args);
    if (order === 'help' || order === 'version') {
      out(order === 'help' ? help : `${ownVersion}\n`);
      return 0;
    }
    const { kind, id, folder, packageName } = order;
    write(order, cwd);
    const option = kinds[kind] === '' ? '' : `${kinds[kind]} ${id}`;
    out(
      `The package ${packageName} is in ${folder}. It has no licence yet: its README says how to choose one.\n\n` +
        `Next: cd ${folder} && npm install && npm test\n` +
        `Then: npx sluice run --extension ./src/index.ts${option}\n`,
    );
    return 0;
  } catch (thrown) {
    if (!(thrown instanceof Mistake)) throw thrown;
    error(`create-sluice: ${thrown.code}: ${thrown.message}. ${thrown.hint}\n`);
    return thrown.exitCode;
  }
}

function write(order: Order, cwd: string): void {
  const folder = join(cwd, order.folder);
  if (existsSync(folder) && !(statSync(folder).isDirectory() && readdirSync(folder).length === 0))
    throw new Mistake(
      'file-exists',
      `${order.folder} is there already`,
      'Nothing was written. Choose another name, or move it away.',
    );
  for (const [file, text] of filesOf(order)) {
    const path = join(folder, file);
    try {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    } catch (cause) {
      const { code = 'unknown error' } = cause as NodeJS.ErrnoException; // fs throws nothing else
      const hint = 'Check the folder and its permissions.';
      throw new Mistake('unwritable-file', `"${path}" cannot be written: ${code}`, hint, 1, {
        cause,
      });
    }
  }
}

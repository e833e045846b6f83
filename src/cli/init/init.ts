import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { thisCopy } from '@sluice/sdk/extension/internal';
import { definedFields } from 'sluice-kernel/internal';
import { CommandError } from '../errors/command-error.js';
import { packageSource } from '../installed/package-source.js';
import { printData } from '../print/print-data.js';
import { writeTextFile } from '../print/write-file.js';
import { configNames } from '../settings/config-file.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { AddCommand, Shell } from '../shell/shell.js';
import { asWord, printable } from '../shell/text.js';
import { channelStart } from './channel-start.js';
import { starterFiles } from './starter-files.js';

interface InitOptions {
  readonly channel?: string;
  readonly force?: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
}

const help = `
Writes a commented sluice.config.ts, and an extension with its test. A file that is there
is left alone, and nothing is written, unless --force is given; a package.json is never
replaced. "npm create sluice extension NAME" makes a package of an extension instead.

Examples:
  $ sluice init my-host && cd my-host && npm install && npm test && npm start
  $ sluice init
  $ npm install sluice-pigeon && npx sluice init --channel pigeon`;

/** Adds `sluice init`, which writes the files of a new host. */
export const addCommand: AddCommand = (command, shell, done) => {
  command
    .argument('[dir]', 'the folder, which is made where there is none', '.')
    .option('--channel <name>', 'begin with this channel, whose package is installed')
    .option('--force', 'replace files that are there')
    .option('--json', 'print a line of JSON per file')
    .option('--debug', 'stack traces of errors')
    .addHelpText('after', help)
    .action(async (dir: string, options: InitOptions) => done(await init(dir, options, shell)));
};

async function init(dir: string, options: InitOptions, shell: Shell): Promise<ExitCode> {
  const { cwd, version } = shell;
  const folder = resolve(cwd, dir);
  const source = packageSource(thisCopy.folder, version);
  const wanted = options.channel === 'console' ? undefined : options.channel;
  const channel = wanted === undefined ? undefined : await channelStart(wanted, cwd);
  const files = Object.entries(
    starterFiles({ name: packageName(folder), source, ...definedFields({ channel }) }),
  );
  const { kept, missing } = plan(folder, files, options.force === true);
  const written: string[] = [];
  for (const [file, text] of missing) {
    await writeTextFile(join(folder, file), text);
    written.push(file);
  }
  const data = [
    ...written.map((file) => ({ file: join(dir, file), written: true })),
    ...kept.map((file) => ({ file: join(dir, file), written: false })),
  ];
  printData(shell, options, data, () => [
    ...written.map((file) => `wrote ${printable(join(dir, file))}`),
    ...kept.map(
      (file) =>
        `left ${printable(join(dir, file))} as it is; it needs ${['sluice', ...(channel === undefined ? [] : [channel.packageName]), 'vitest'].join(', ')} and typescript`,
    ),
    '',
    ...(channel?.declaration.credentials ?? []).map(
      ({ name, env, hint }) => `Needed: ${name} in the variable ${env}. ${hint}`,
    ),
    `Next: ${dir === '.' ? '' : `cd ${asWord(printable(dir))} && `}npm install && npm test && npx sluice run`,
  ]);
  return exitCodes.ok;
}

/** Decides which files are written, and which are left alone. */
function plan(
  folder: string,
  files: readonly (readonly [file: string, text: string])[],
  isForced: boolean,
): { readonly kept: string[]; readonly missing: (readonly [file: string, text: string])[] } {
  const there = files.map(([file]) => file).filter((file) => existsSync(join(folder, file)));
  const kept = there.filter((file): boolean => file === 'package.json');
  const other = configNames.find(
    (name) => name !== 'sluice.config.ts' && existsSync(join(folder, name)),
  );
  if (other !== undefined)
    throw new CommandError(
      'file-exists',
      `${other} is there already, and two configs are a mistake`,
      'Nothing was written. Choose another folder, or move it away.',
    );
  const inTheWay = there.filter((file) => !kept.includes(file));
  if (inTheWay.length > 0 && !isForced)
    throw new CommandError(
      'file-exists',
      `${inTheWay.map(printable).join(', ')} ${inTheWay.length === 1 ? 'is' : 'are'} there already`,
      'Nothing was written. Choose another folder, or give --force to replace them.',
    );
  return { kept, missing: files.filter(([file]) => !kept.includes(file)) };
}

/** Makes a name that npm takes of the name of a folder. */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' || name === 'sluice' ? 'my-sluice-host' : name;
}

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Mistake } from '../../extensions/create-sluice/src/mistake.js';
import { readOrder } from '../../extensions/create-sluice/src/order.js';
import { runServer } from '../../extensions/thread-ownership/src/server/run-server.js';
import { runInMemory } from '../cli/memory-shell.js';
import { readProjectFile, root } from '../support/source-tree.js';

const { scripts } = JSON.parse(readProjectFile('package.json')) as {
  scripts: Record<string, string>;
};

/** The commands of a shell line, each as its words: without comments, variables and redirections. */
export function commandsOf(line: string): string[][] {
  return line
    .replace(/(?:^|\s)#.*$/, '')
    .split(/&&|\|(?!\w)/)
    .map((part) => (part.match(/"[^"]*"|\S+/g) ?? []) as string[])
    .map((words) => words.slice(words.findIndex((word) => !/^[A-Z][A-Z0-9_]*=/.test(word))))
    .filter(([first]) => first !== undefined);
}

/** Says what is wrong with a command of a page: a command, script, flag or path that is not there. */
export async function problemOf(words: readonly string[]): Promise<string | undefined> {
  const [first = '', ...rest] = words;
  switch (first) {
    case 'echo':
    case 'cd':
      return undefined;
    case 'sudo': // of a service, which the day of an operator has in its tests
      return rest[0] === 'systemctl' ? undefined : `unknown command: sudo ${rest[0]}`;
    case 'sluice':
      return ofSluice(rest);
    case 'sluice-ownership':
      return missingFlag(rest, await ownershipHelp());
    case 'npm':
      return ofNpm(rest);
    case 'npx':
      return ofNpx(rest);
    case '.ci/run':
      return missingFlag(rest, readProjectFile('.ci/run'));
    default:
      return `unknown command: ${first}`;
  }
}

const helps = new Map<string, Promise<string>>();

/** The help of a command; with a channel, also the options that the channel adds. Empty if there is no such command. */
function helpOf(command: readonly string[]): Promise<string> {
  const key = command.join(' ');
  const known = helps.get(key);
  if (known !== undefined) return known;
  const help = runInMemory([...command, '--help']).then(({ code, stdout }) =>
    code === 0 && stdout.includes(['sluice', ...command.slice(0, 1)].join(' ')) ? stdout : '',
  );
  helps.set(key, help);
  return help;
}

async function ofSluice([name = '', ...rest]: readonly string[]): Promise<string | undefined> {
  if (/^[A-Z]/.test(name)) return undefined; // a word such as COMMAND stands for any
  const command = name === '' || name.startsWith('-') ? [] : [name];
  const at = rest.indexOf('--channel');
  const channel = rest.slice(at, at + 2);
  const isOfPackage =
    name === 'run' && at >= 0 && existsSync(join(root, 'extensions', channel[1] ?? '-'));
  const help = await helpOf(isOfPackage ? [...command, ...channel] : command);
  if (help === '') return `no such command: sluice ${name}`;
  const [action = '-'] = rest;
  const hasActions = /^Commands:/m.test(help) && /^[a-z]/.test(action);
  return missingFlag([name, ...rest], hasActions ? help + (await helpOf([name, action])) : help);
}

function ofNpm([verb = '', ...rest]: readonly string[]):
  | Promise<string | undefined>
  | string
  | undefined {
  const at = rest.indexOf('--');
  const given = at < 0 ? [] : rest.slice(at + 1);
  if (['ci', 'install', 'pkg'].includes(verb)) return undefined;
  if (verb === 'create') return ofCreate(rest);
  if (verb === 'start') return ofSluice(['run', ...given]);
  const script = verb === 'run' ? rest[0] : verb;
  const command = scripts[script ?? ''];
  if (command === undefined) return `no such script: ${script}`;
  const file = /(?:test|docs)\/\S+\.(?:ts|mjs)/.exec(command)?.[0];
  return missingFlag(given, file === undefined ? command : readFolder(join(file, '..')));
}

/** `npm create sluice` is held to its own arguments. */
function ofCreate([name, ...args]: readonly string[]): string | undefined {
  if (name !== 'sluice') return `no such program: npm create ${name}`;
  try {
    readOrder(args.filter((word) => word !== '--'));
    return undefined;
  } catch (error) {
    return error instanceof Mistake ? error.message : String(error);
  }
}

function ofNpx([tool = '', ...rest]: readonly string[]):
  | Promise<string | undefined>
  | string
  | undefined {
  if (tool === 'sluice') return ofSluice(rest);
  if (tool === '--yes' && rest[2] === 'create-sluice')
    return ofCreate(['sluice', ...rest.slice(3)]);
  if (tool === 'tsx' || tool === 'tsc') return undefined;
  if (tool !== 'vitest') return `unknown tool: ${tool}`;
  const paths = rest.filter((word) => word.includes('/'));
  const missing = paths.find((path) => !existsSync(join(root, path)));
  return missing === undefined ? undefined : `no such path: ${missing}`;
}

/** All text of a folder: a script may read its flags in another file than the one that is started. */
function readFolder(folder: string): string {
  return readdirSync(join(root, folder))
    .map((name) => join(root, folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
}

function missingFlag(words: readonly string[], known: string): string | undefined {
  const flags = words.flatMap((word) => /^--?[a-z][a-z-]*/.exec(word)?.[0] ?? []);
  const missing = flags.find((flag) => !new RegExp(`${flag}(?![\\w-])`).test(known));
  return missing === undefined ? undefined : `no such flag: ${missing}`;
}

let ownership: Promise<string> | undefined;

function ownershipHelp(): Promise<string> {
  ownership ??= helpOfServer();
  return ownership;
}

async function helpOfServer(): Promise<string> {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const stop = new AbortController().signal;
  await runServer({ args: ['--help'], env: {}, version: '0', stdout: write, stderr: write, stop });
  return lines.join('\n');
}

import { resolve } from 'node:path';
import { type ConfigProblem, configSchema, schemaNodeAt } from '@sluice/host/internal';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { badArguments, type CommandError } from '../errors/command-error.js';
import type { Addition } from '../shell/shell.js';
import { agentForms } from './agent-choice.js';

/** The flags that change the config, each by the place that it patches: as commander writes it, and what it is for. */
const table = {
  extensions: ['-e, --extension <path>', 'load this extension; may be given again'],
  set: ['--set <id.key=value>', 'a setting of an extension, JSON or text; may be given again'],
  plugins: ['-p, --plugin <path>', 'load this OpenClaw plugin; may be given again'],
  strictPlugins: [
    '--strict-plugins',
    'refuse a plugin that asks for what is not here, instead of skipping it',
  ],
  'legacy.openclaw': [
    '--openclaw <path>',
    'the openclaw whose code plugins import, or its release',
  ],
  'legacy.profile': [
    '--legacy-profile <release>',
    'the release whose hooks plugins get; by default the one each was built for',
  ],
  agent: ['-a, --agent <name>', 'the agent that answers'],
  channels: [
    '--channel <name>',
    'the channel that messages come from: console, or one of an extension or package (default: console)',
  ],
  'gateway.url': [
    '--url <url>',
    'the gateway of the agent openclaw (default: ws://127.0.0.1:18789)',
  ],
  'journal.path': ['--journal <file>', 'keep messages and sends in this file, over a restart'],
  'health.port': [
    '--health-port <number>',
    'answer /healthz and /readyz at 127.0.0.1, for a monitor',
  ],
  'inspect.port': ['--inspect [port]', 'open the page of sluice-inspector on this host'],
  'inspect.write': [
    '--inspect-write',
    'let that page change things: retry, purge, answer, reload, stop',
  ],
  'inspect.text': ['--inspect-text', 'let that page search in the texts of messages'],
  strict: ['--strict', 'do not start where an extension or a plugin cannot be loaded'],
  audit: [
    '--audit <extension>',
    'run this extension without effect, and tell what it would do; may be given again',
  ],
} as const;

type Flag = keyof typeof table;

/** Flags that `readSettings` reads by itself: they are no value of one place. */
const apart: readonly string[] = ['set', 'strictPlugins', 'agent'];

/** Flags that may be given again. */
const lists: readonly string[] = ['extensions', 'plugins', 'set', 'audit'];

/** Flags with a path that is read from the folder of the command. */
const paths: readonly string[] = ['journal.path', 'legacy.openclaw'];

const pipelineFlags = [
  ...(['extensions', 'set', 'plugins', 'strictPlugins'] as const),
  ...(['legacy.openclaw', 'legacy.profile'] as const),
];

/** The options of a command, with the flags that patch the config as they were given. */
export interface PipelineOptions {
  /** A config file; `false` reads none. */
  readonly config?: string | false;
  readonly json?: boolean;
  readonly debug?: boolean;
  readonly [flag: string]: unknown;
}

/** A flag for a command. @param additions the packages whose agents its help lists. */
export function flagOption(flag: Flag, additions: readonly Addition[] = []): Option {
  const [flags, help] = table[flag];
  const agents = flag === 'agent' ? `: ${agentForms(additions)} (default: echo)` : '';
  const option = new Option(flags, `${help}${agents}`);
  const node = nodeAt(flag);
  if (node instanceof z.ZodEnum) option.choices(node.options.map(String));
  return lists.includes(flag)
    ? option.argParser((value: string, before: readonly string[] = []) => [...before, value])
    : option;
}

function nodeAt(flag: string): z.core.$ZodType | undefined {
  return apart.includes(flag) ? undefined : schemaNodeAt(configSchema, flag.split('.'));
}

/** Adds the options that every command on the pipeline takes, and flags of its own. */
export function addPipelineOptions(
  command: Command,
  additions: readonly Addition[] = [],
  ...own: readonly Flag[]
): Command {
  for (const flag of [...pipelineFlags, ...own]) command.addOption(flagOption(flag, additions));
  return command
    .option(
      '-c, --config <file>',
      'the config file (default: sluice.config.ts, .mts, .js, .mjs or .json here)',
    )
    .option('--no-config', 'read no config file')
    .option('--debug', 'stack traces of errors, and every log line');
}

/** The options of the pipeline as they were given, for another command. */
export function pipelineArgs({ config, ...given }: PipelineOptions): readonly string[] {
  const file = config === undefined ? [] : ['--config', String(config)];
  const flags = givenFlags(given)
    .filter(({ flag }) => pipelineFlags.some((one) => one === flag))
    .flatMap(({ option, values }) =>
      values.flatMap((value) => [option, ...(value === true ? [] : [String(value)])]),
    );
  return [...(config === false ? ['--no-config'] : file), ...flags];
}

/** The flags that were given, with their values. */
function givenFlags(given: PipelineOptions) {
  return (Object.keys(table) as Flag[]).flatMap((flag) => {
    const [flags, help] = table[flag];
    const option = new Option(flags, help);
    const values = [given[option.attributeName()] ?? []].flat();
    return values.length === 0 ? [] : [{ flag, option: option.long ?? flag, values }];
  });
}

/** Patches a config, as it is written, with the flags that were given. The folder of the command is `cwd`. */
export function withFlags(written: unknown, given: PipelineOptions, cwd: string): unknown {
  if (typeof written !== 'object' || written === null) return written; // its schema refuses it
  let patched: object = written;
  for (const { flag, values } of givenFlags(given)) {
    if (apart.includes(flag)) continue;
    const keys = flag.split('.');
    if (flag === 'journal.path') patched = withoutDatabase(patched);
    if (flag === 'inspect.port' && values[0] === true)
      patched = withValue(patched, ['inspect'], { ...Object(Object(patched)['inspect']) });
    else patched = withValue(patched, keys, patchValue(flag, values, Object(patched)[flag], cwd));
  }
  return patched;
}

/** A config without the settings of a journal in a database: the command line names a file. */
function withoutDatabase({ journal, ...config }: { readonly journal?: unknown }): object {
  const { url, leaseMs, partitions, listen, ...kept } = Object(journal);
  return { ...config, journal: kept };
}

/** The value that a flag writes into the config. @param before the list that is there, if it is one. */
function patchValue(flag: Flag, values: readonly unknown[], before: unknown, cwd: string): unknown {
  const [first] = values;
  const node = nodeAt(flag);
  if (node instanceof z.ZodNumber && /^\d+$/.test(String(first))) return Number(first);
  if (paths.includes(flag)) return resolve(cwd, String(first));
  if (!(node instanceof z.ZodArray)) return first;
  const added = values.map((path) => (node.element instanceof z.ZodObject ? { path } : path));
  return lists.includes(flag) && Array.isArray(before)
    ? [...new Set([...before, ...added])]
    : added;
}

/** A copy of plain data with another value at a place; without one if it is `undefined`. */
export function withValue(
  data: unknown,
  [key = '', ...rest]: readonly string[],
  value: unknown,
): object {
  const before = (typeof data === 'object' ? data : {}) as Readonly<Record<string, unknown>>; // by its own keys
  const next = rest.length === 0 ? value : withValue(before?.[key], rest, value);
  return Object.assign(Array.isArray(data) ? [...data] : { ...before }, { [key]: next });
}

/** The error of a flag whose value the config cannot have; nothing if no flag is at fault. */
export function flagError(
  given: PipelineOptions,
  problems: readonly ConfigProblem[],
): CommandError | undefined {
  for (const { flag, values } of givenFlags(given)) {
    const problem = problems.find(({ path }) => path.join('.') === flag);
    if (problem !== undefined)
      return badArguments(`"${values.join()}" is no ${flag}: ${problem.message}`, problem.hint);
  }
  return undefined;
}

import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openJournal } from 'sluice/host';
import { convertAgents } from './convert/agents.js';
import { convertChannels } from './convert/channels.js';
import type { Draft } from './convert/draft.js';
import { convertPlugins } from './convert/plugins.js';
import { convertRoutes } from './convert/routes.js';
import { convertSchedules } from './convert/schedules.js';
import { convertTools } from './convert/tools.js';
import { ImportError } from './import-error.js';
import { configText } from './report/config-text.js';
import { type Finding, Report } from './report/report.js';
import { reportText } from './report/report-text.js';
import { Node } from './source/node.js';
import { readSource } from './source/read-source.js';
import { findSessions, writeSessions } from './state/transcripts.js';
import { journalFile, writeFolder } from './write-folder.js';

/** The things that an import is told. */
export interface ImportOptions {
  /** The state folder of OpenClaw, or its `openclaw.json`. */
  readonly path: string;
  /** The folder of the new host. */
  readonly out: string;
  /** The paths of restrictions that are given up. */
  readonly accept?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Ends the import: nothing is written. */
  readonly signal?: AbortSignal;
}

/** The end of an import. */
export interface Imported {
  /** One for each path of the config. */
  readonly findings: readonly Finding[];
  /** A line on each file of the state folder. */
  readonly moved: Readonly<Record<string, string>>;
  /** A line on each thing that could not be read, with its file and line. */
  readonly broken: readonly string[];
  /** The variables of the environment that are to be set, by the paths of their secrets. */
  readonly variables: Readonly<Record<string, string>>;
  /** The packages that the new host needs. */
  readonly packages: readonly string[];
  /** `refused`: restrictions would be lost, and nothing was written. `unchanged`: the folder had all of it. */
  readonly status: 'written' | 'unchanged' | 'refused';
}

/**
 * Reads the state folder of OpenClaw, and writes the folder of a host that does the same. No secret is written.
 *
 * @throws ImportError, and nothing is written.
 * @example
 * const { status, findings } = await importOpenClaw({ path: '/home/ada/.openclaw', out: './host' });
 */
export async function importOpenClaw({
  path,
  out,
  accept = [],
  env = process.env,
  signal = new AbortController().signal,
}: ImportOptions): Promise<Imported> {
  const { folder, config } = readSource(resolve(path));
  const variables = new Map<string, string>();
  const report = new Report(accept);
  const root = new Node(config, [], {
    env: { ...variablesOf(config), ...env },
    variables,
    onSecret: (place, variable) => report.secret(place, variable),
    onUnread: (place, why) => report.refuse(place, `It cannot be read: ${why}.`),
  });
  const draft: Draft = {
    root,
    folder,
    home: env['HOME'] ?? '~',
    report,
    config: {},
    channels: [],
    extensions: [],
    plugins: [],
    carried: {},
    files: new Map(),
    broken: [],
    moved: new Map(),
  };
  for (const convert of [
    convertAgents,
    convertChannels,
    convertRoutes,
    convertTools,
    convertPlugins,
    convertSchedules,
    convertRest,
  ])
    convert(draft);
  const sessions = await findSessions(draft, signal);
  for (const name of readdirSync(folder).sort())
    if (
      !`${resolve(out)}/`.startsWith(join(folder, name, '/')) &&
      ![...draft.moved.keys(), 'openclaw.json'].some(
        (file) => file === name || file.startsWith(`${name}/`),
      )
    )
      draft.moved.set(name, 'Not carried over.');
  const findings = report.findings(config);
  const [unused] = report.unusedAccepts();
  if (unused !== undefined)
    throw new ImportError(
      'bad-arguments',
      `--accept ${unused} names no restriction that would be lost`,
      'Leave it out, or check the path.',
    );
  const told = {
    findings,
    moved: Object.fromEntries(draft.moved),
    broken: draft.broken,
    variables: Object.fromEntries([...variables].map(([name, place]) => [place, name])),
    packages: packagesOf(draft),
  };
  if (findings.some(({ isRefused }) => isRefused)) return { ...told, status: 'refused' };
  draft.files.set('sluice.config.ts', configText(draft));
  draft.files.set('import-report.md', reportText(told));
  const addJournal = async (file: string): Promise<void> => {
    const journal = await openJournal(file);
    try {
      await writeSessions(journal, sessions, signal);
    } finally {
      await journal.close();
    }
  };
  const isWritten = await writeFolder(
    resolve(out),
    draft.files,
    sessions.length > 0 ? addJournal : undefined,
    signal,
  );
  return { ...told, status: isWritten ? 'written' : 'unchanged' };
}

/** The variables that the config itself sets. Those of the environment win. */
function variablesOf(config: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const env = config['env'];
  const own = typeof env === 'object' && env !== null ? env : {};
  const vars: unknown = 'vars' in own ? own.vars : {};
  const all = { ...own, ...(typeof vars === 'object' ? vars : {}) };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

const levels: Readonly<Record<string, string>> = {
  trace: 'debug',
  debug: 'debug',
  info: 'info',
  warn: 'warn',
  error: 'error',
  fatal: 'error',
  silent: 'error',
};

/** Converts the log, and adds the journal and the extension of this package. */
function convertRest({ root, config, extensions, carried }: Draft): void {
  const logging = root.get('logging');
  const [level, file] = [levels[logging.get('level').text() ?? ''], logging.get('file').text()];
  if (level !== undefined || file !== undefined)
    config['logging'] = {
      ...(level !== undefined && { level }),
      ...(file !== undefined && { file }),
    };
  config['journal'] = { path: `./${journalFile}` };
  extensions.unshift({ path: 'sluice-import-openclaw', config: carried, required: true });
}

function packagesOf({ extensions, config }: Draft): readonly string[] {
  const usesClaude = JSON.stringify(config['agents']).includes('"claude');
  return [
    'sluice',
    ...extensions.map(({ path }) => path),
    ...(usesClaude ? ['@anthropic-ai/claude-agent-sdk'] : []),
  ];
}

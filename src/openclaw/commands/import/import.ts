import { resolve } from 'node:path';
import { asWord, CommandError, counted, interrupted, printable } from '@sluice/cli';
import { type Action, ownPackage, resource, withProgress } from '@sluice/cli/internal';
import { Option } from 'commander';

interface ImportOptions {
  readonly out: string;
  readonly accept: readonly string[];
  readonly json?: boolean;
}

/** The package of the importer, as far as the command line needs it: `Imported` and `ImportError` of the package. */
interface ImporterPackage {
  importOpenClaw(
    options: Omit<ImportOptions, 'json'> & { readonly path: string } & Record<string, unknown>,
  ): Promise<{
    readonly status: 'written' | 'unchanged' | 'refused';
    readonly findings: readonly Readonly<
      Record<'path' | 'verdict' | 'text', string> & { isRefused: boolean }
    >[];
    readonly broken: readonly string[];
    readonly variables: Readonly<Record<string, string>>;
  }>;
  readonly ImportError: new (...given: never) => Error & Pick<CommandError, 'code' | 'hint'>;
}

const help = `
Reads the state folder of OpenClaw: its config with what it includes, its people, prompts,
schedules, hooks, skills and transcripts. Writes a folder with sluice.config.ts, and
import-report.md, which says of each path what became of it. OpenClaw is left as it is.
No secret is written: the report names the variable that each is to be put in.

A restriction that cannot be kept ends the import, until --accept names its path. The
importer is in the package sluice-import-openclaw.

Examples:
  $ sluice import openclaw ~/.openclaw
  $ sluice import openclaw ~/.openclaw --out my-host --accept tools.exec.security`;

/** Adds `sluice import`, which moves a host of OpenClaw. */
export const addCommand = resource<ImportOptions>({
  options: [
    new Option('--out <dir>', 'the folder that is written').default('sluice-host'),
    new Option('--accept <path...>', 'paths of restrictions that are given up').default([]),
    new Option('--json', 'print a line of JSON per path'),
  ],
  actions: {
    'openclaw <path>': {
      summary: 'write the folder of a host that does what an OpenClaw host does',
      work: importHost,
    },
  },
  help,
});

async function importHost({
  args: [path = ''],
  options,
  shell,
}: Parameters<Action<ImportOptions>['work']>[0]): ReturnType<Action<ImportOptions>['work']> {
  const { cwd, env, stderr } = shell;
  const { out, accept } = options;
  const name = 'sluice-import-openclaw';
  const { importOpenClaw, ImportError } = await ownPackage<ImporterPackage>(
    name,
    'the importer is',
    cwd,
  );
  const signal = shell.takeStop();
  const given = { path: resolve(cwd, path), out: resolve(cwd, out), accept, env, signal };
  const imported = await withProgress(shell, options, 'importing', () =>
    importOpenClaw(given),
  ).catch((cause: unknown): never => {
    if (cause instanceof ImportError)
      throw new CommandError(cause.code, cause.message, cause.hint, { cause });
    if (!signal.aborted) throw cause;
    throw interrupted(signal, 'nothing was written');
  });
  const { status, findings, broken, variables } = imported;
  stderr.lines(broken.map((one) => `sluice: warn: not read: ${printable(one)}`));
  const lost = findings.filter(({ isRefused }) => isRefused);
  stderr.lines(lost.map((one) => printable(`not kept: ${one.path}. ${one.text}`)));
  if (status === 'refused')
    throw new CommandError(
      'bad-config',
      `${counted(lost.length, 'restriction', 'restrictions')} would be lost, and nothing was written`,
      'Change them in OpenClaw, or give each up by --accept PATH.',
    );
  const verdicts = [...new Set(findings.map(({ verdict }) => verdict))].map((verdict) => {
    const of = findings.filter((one) => one.verdict === verdict);
    return `${counted(of.length, 'path', 'paths')}: ${verdict}`;
  });
  const folder = asWord(printable(out));
  return {
    data: findings.map(({ isRefused: _, ...one }) => one),
    lines: () => [
      ...verdicts,
      ...Object.values(variables).map((variable) => `to set: ${variable}`),
      status === 'unchanged'
        ? `${folder} has all of it already`
        : `wrote ${folder}; read import-report.md there`,
    ],
  };
}

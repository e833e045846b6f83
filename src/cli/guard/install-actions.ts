import { homeFolder } from '@sluice/sdk/extension/internal';
import { Option } from 'commander';
import { inertText } from 'sluice-kernel/internal';
import { badArguments } from '../errors/command-error.js';
import { ownPackage } from '../installed/own-package.js';
import type { Action } from '../resource/resource.js';
import { exitCodes } from '../shell/exit-codes.js';
import { printable } from '../shell/text.js';

/** Of two actions: a command has it once. */
export const open = new Option('--open', 'let calls pass while the guard is away');

const site = [new Option('--user', 'the settings of the user, in the place of this repository')];

/** The actions of `sluice guard` that write the settings of agents, take them back and look after them. */
export const installActions: Readonly<Record<keyof GuardPackage['commands'], Action<object>>> = {
  init: {
    summary: 'write the hooks of the agents that are found, a config and policies',
    options: [
      ...site,
      new Option('--agent <name...>', 'these agents, found or not'),
      open,
      new Option('--dry-run', 'say what would be written'),
    ],
    work: workOf('init'),
  },
  remove: { summary: 'take back what init wrote', options: site, work: workOf('remove') },
  doctor: {
    summary: 'say what is enforced by agent and point, and what keeps the guard from more',
    options: [...site, new Option('--json', 'print a line of JSON per point')],
    work: workOf('doctor'),
  },
};

function workOf(name: keyof GuardPackage['commands']): Action<object>['work'] {
  return async ({ options, shell: { cwd, env } }) => {
    const { commands } = await ownPackage<GuardPackage>('sluice-guard', 'the guard is', cwd);
    const home = homeFolder(env) ?? cwd;
    const { data, lines, problems } = await commands[name]({ ...options, cwd, home, env });
    const told = problems.map(printable);
    if (name !== 'doctor' && told.length > 0)
      throw badArguments(told.join('; '), `See \`sluice guard ${name} --help\`.`);
    return {
      ...{ data, lines: () => [...lines.map(inertText), ...told] },
      ...(told.length > 0 && { code: exitCodes.failed }),
    };
  };
}

/** The package of the guard, as far as these actions need it. */
interface GuardPackage {
  readonly commands: Readonly<
    Record<'init' | 'remove' | 'doctor', (given: object) => Promise<Report>>
  >;
}

interface Report {
  readonly data: readonly object[];
  readonly lines: readonly string[];
  readonly problems: readonly string[];
}

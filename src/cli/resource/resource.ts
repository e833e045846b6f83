import { type Command, Help, type Option } from 'commander';
import { badArguments } from '../errors/command-error.js';
import type { Layout } from '../print/layout.js';
import { printData } from '../print/print-data.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { AddCommand, Shell } from '../shell/shell.js';

/** An answer of an action: data, a line of JSON each with `--json`, and lines for people without it. */
export interface Answer {
  readonly data: readonly unknown[];
  readonly lines: (layout: Layout) => readonly string[];
  /** `ok` by default. */
  readonly code?: ExitCode;
}

/** The parts of the command line that an action works with. */
export interface Given<O> {
  /** The arguments; the words of a variadic one are the last. */
  readonly args: readonly string[];
  readonly options: O;
  readonly shell: Shell;
}

/** One action on a kind of thing. */
export interface Action<O> {
  readonly summary: string;
  readonly options?: readonly Option[];
  readonly work: (given: Given<O>) => Promise<Answer>;
}

/** A command with a sub-command for each action on one kind of thing. */
interface Resource<O> {
  /** The options of every action. */
  readonly options: readonly Option[];
  /** By their names with their arguments, such as `show <id>`. */
  readonly actions: Readonly<Record<string, Action<O>>>;
  readonly help: string;
}

/**
 * Makes a command whose actions are sub-commands. An option may stand before or behind the name of an action; one that the action
 * does not take is refused.
 *
 * @example
 * export const addCommand = resource({ options: [json], actions: { list: { summary: 'all of them', work: list } }, help });
 */
export function resource<O extends object>(of: Resource<O>): AddCommand {
  return (command, shell, done) => {
    const rows = Object.entries(of.actions).map(([usage, { options = [], ...action }]) => ({
      ...{ ...action, usage, takes: [...options, ...of.options] },
    }));
    for (const option of new Set(rows.flatMap(({ takes }) => takes))) command.addOption(option);
    const helpWith = (options: readonly Option[]) => ({
      helpWidth: shell.width,
      visibleOptions: (one: Command) => [...options, ...new Help().visibleOptions(one).slice(-1)], // and --help
    });
    command.helpCommand(false).addHelpText('after', of.help).configureHelp(helpWith(of.options));
    for (const { usage, summary, takes, work } of rows) {
      const sub = command.command(usage).description(summary).configureHelp(helpWith(takes));
      sub.action(async () => {
        const isGiven = (one: Option): boolean =>
          command.getOptionValueSource(one.attributeName()) === 'cli';
        const other = command.options.find((one) => isGiven(one) && !takes.includes(one));
        if (other !== undefined)
          throw badArguments(
            `${sub.name()} takes no ${other.long}`,
            `See \`sluice ${command.name()} --help\`.`,
          );
        const options = command.opts<O & { readonly json?: boolean }>();
        const { data, lines, code } = await work({ args: sub.args, options, shell });
        printData(shell, options, data, lines);
        done(code ?? exitCodes.ok);
      });
    }
  };
}

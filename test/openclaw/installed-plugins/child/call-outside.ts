import process from 'node:process';
import { Command } from 'commander';
import type { LegacyPlugin } from '../../../../src/openclaw/index.js';
import type { Trial } from './trial.js';

/** Calls each gateway method of a plugin with the params that the corpus has for it. It works if it responds that it did. */
export async function callMethods(trial: Trial, { gatewayMethods }: LegacyPlugin): Promise<void> {
  for (const { method, call } of gatewayMethods)
    await trial.endsOutside(`method ${method}`, async () => {
      const { ok, payload, error } = await call(trial.inputOf(`method ${method}`) ?? {});
      trial.answered(payload);
      return ok ? undefined : `responds an error: ${JSON.stringify(error ?? payload)}`;
    });
}

/**
 * Runs each command of the command lines of a plugin, with the arguments that the corpus has, or a text for each that it requires. It works if it neither throws
 * nor sets an exit code.
 */
export async function callCli(trial: Trial, plugin: LegacyPlugin): Promise<void> {
  const { cliCommands, config, workspaceDir, logger } = plugin;
  const program = new Command('plugin');
  const { exit } = process;
  process.exit = (code) => {
    throw new Exit(Number(code ?? 0)); // the next command is to run, too
  };
  for (const { names, register } of cliCommands)
    try {
      await register({ program, config, workspaceDir, logger } as never); // the context of `sluice plugin run`
    } catch (error) {
      await trial.endsOutside(`cli ${names.join(' ')}`, () => Promise.reject(error as Error));
    }
  for (const { path, command } of inOrder(trial, leavesOf(program)))
    await trial.endsOutside(`cli ${path.join(' ')}`, async () => {
      const options = command.options.filter(({ mandatory }) => mandatory);
      const given = options.flatMap(({ long }) => (long ? [long, 'green tea'] : []));
      const required = command.registeredArguments.filter((one) => one.required);
      process.exitCode = undefined;
      const { args: written = [...given, ...required.map(() => 'green tea')] } =
        trial.inputOf(`cli ${path.join(' ')}`) ?? {};
      const args = [...path, ...(written as readonly string[])]; // of the corpus
      let exitCode = 0;
      try {
        await program.parseAsync(args, { from: 'user' });
        exitCode = Number(process.exitCode ?? 0);
      } catch (error) {
        if (!(error instanceof Exit)) throw error;
        exitCode = error.code;
      }
      process.exitCode = undefined;
      return exitCode === 0 ? undefined : `fails: exit code ${exitCode}`;
    });
  process.exit = exit;
}

/** The commands that the corpus has arguments for come first, in its order: one may need what another has made. */
function inOrder(trial: Trial, leaves: readonly Leaf[]): readonly Leaf[] {
  const placeOf = ({ path }: Leaf): number => trial.placeOf(`cli ${path.join(' ')}`);
  return leaves.toSorted((one, other) => placeOf(one) - placeOf(other));
}

/** A command has ended the process. */
class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit code ${code}`);
    this.code = code;
  }
}

interface Leaf {
  readonly path: readonly string[];
  readonly command: Command;
}

/** The commands without further ones. What commander would end the process for is thrown. */
function leavesOf(command: Command, path: readonly string[] = []): readonly Leaf[] {
  command.exitOverride();
  if (command.commands.length === 0) return path.length === 0 ? [] : [{ path, command }];
  return command.commands.flatMap((one) => leavesOf(one, [...path, one.name()]));
}

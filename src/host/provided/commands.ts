import { Trail } from '@sluice/agent';
import {
  type Clock,
  type Kernel,
  oneLine,
  type PayloadOf,
  type Principal,
  systemClock,
} from 'sluice-kernel/internal';

/** A command from any surface. */
type CommandCall = Omit<
  PayloadOf<'command.received'>,
  'sessionEntry' | 'previousSessionEntry' | 'config'
>;

/** The result of a command. */
export interface CommandResult<T> {
  readonly success: boolean;
  /** The value that it returned; absent if it threw. */
  readonly value?: T;
  /** The error that it threw. */
  readonly error?: unknown;
  /** The lines of handlers for its source. */
  readonly replies: readonly string[];
}

/** The options of running a command. */
export interface CommandOptions<T> {
  /** The dispatches that it follows; without them it begins a way of its own. */
  readonly trail?: Trail;
  readonly clock?: Clock;
  /** Turns its value into the fields of `command.completed`. An `error` there means no success. */
  readonly describe?: (
    value: T,
  ) => Partial<Pick<PayloadOf<'command.completed'>, 'result' | 'exitCode' | 'error'>>;
}

/**
 * Runs a command between `command.received` and `command.completed`. The command line calls this with the source
 * `cli`, the host with `chat` or `native`. The command runs whatever handlers of these stages do: both are audits.
 * A command that throws is completed without success; the error is in the result.
 *
 * @example
 * const { value = 1 } = await runCommand(kernel, { name: 'stages', args: [], source: 'cli' }, () => printStages(), {
 *   describe: (exitCode: number) => ({ exitCode }),
 * });
 */
export async function runCommand<T>(
  kernel: Kernel,
  command: CommandCall,
  run: (principal: Principal | undefined) => T | Promise<T>,
  options: CommandOptions<T> = {},
): Promise<CommandResult<T>> {
  const { trail = new Trail(kernel, undefined), clock = systemClock, describe } = options;
  const startedAtMs = clock.now();
  const received = await trail.dispatch('command.received', {
    ...command,
    args: [...command.args],
  });
  let ran: { readonly value: T } | { readonly error: unknown };
  try {
    ran = { value: await run(received.principal) };
  } catch (error) {
    ran = { error };
  }
  const told = 'value' in ran ? (describe?.(ran.value) ?? {}) : { error: oneLine(ran.error) };
  const success = 'value' in ran && told.error === undefined && (told.exitCode ?? 0) === 0;
  const completed = await trail.dispatch('command.completed', {
    ...command,
    args: [...command.args],
    ...told,
    success,
    durationMs: Math.max(0, clock.now() - startedAtMs),
  });
  // Annotations travel downstream and lists append, so the second outcome holds the replies of both.
  const replies = completed.annotations.replies ?? received.annotations.replies ?? [];
  return { success, ...ran, replies };
}

/**
 * Reads a command line of a chat: `/name` and its arguments. A path such as `/etc/hosts` is no command.
 *
 * @example
 * if (parseCommandLine(payload.message.content) !== undefined) return; // no agent answers it
 */
export function parseCommandLine(
  content: string,
): { readonly name: string; readonly args: string[] } | undefined {
  const match = /^\/([a-z][a-z0-9_-]*)(?:\s+(.*))?$/is.exec(content.trim());
  if (match === null) return undefined;
  const [, name = '', rest = ''] = match;
  return { name: name.toLowerCase(), args: rest.split(/\s+/).filter((word) => word !== '') };
}

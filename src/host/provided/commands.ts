import { Trail } from '../../agent/index.js';
import {
  type Clock,
  type Kernel,
  oneLine,
  type PayloadOf,
  systemClock,
} from '../../kernel/index.js';

/** A command, whichever surface it came from. */
export type CommandCall = Omit<
  PayloadOf<'command.received'>,
  'sessionEntry' | 'previousSessionEntry' | 'config'
>;

/** What a command came to. */
export interface CommandResult<T> {
  readonly success: boolean;
  /** What it returned; absent where it threw. */
  readonly value?: T;
  /** What it threw. */
  readonly error?: unknown;
  /** Lines that handlers want its source to see. */
  readonly replies: readonly string[];
}

/** How a command is run. */
export interface CommandOptions<T> {
  /** The dispatch that it follows; without one it begins a way of its own. */
  readonly trail?: Trail;
  readonly clock?: Clock;
  /** Turns what it returned into what `command.completed` tells of it. An `error` there means no success. */
  readonly describe?: (
    value: T,
  ) => Partial<Pick<PayloadOf<'command.completed'>, 'result' | 'exitCode' | 'error'>>;
}

/**
 * Runs a command between `command.received` and `command.completed`. The command line calls this with the source
 * `cli`, the host with `chat` or `native`. The command runs whatever handlers of these stages do: both are audits.
 * A command that throws is completed without success; what it threw is in the result.
 *
 * @example
 * const { value = 1 } = await runCommand(kernel, { name: 'stages', args: [], source: 'cli' }, () => printStages(), {
 *   describe: (exitCode: number) => ({ exitCode }),
 * });
 */
export async function runCommand<T>(
  kernel: Kernel,
  command: CommandCall,
  run: () => T | Promise<T>,
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
    ran = { value: await run() };
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

/** A command line in a chat: `/name` and what follows it. A path such as `/etc/hosts` is none. */
export function parseCommandLine(
  content: string,
): { readonly name: string; readonly args: string[] } | undefined {
  const match = /^\/([a-z][a-z0-9_-]*)(?:\s+(.*))?$/is.exec(content.trim());
  if (match === null) return undefined;
  const [, name = '', rest = ''] = match;
  return { name: name.toLowerCase(), args: rest.split(/\s+/).filter((word) => word !== '') };
}

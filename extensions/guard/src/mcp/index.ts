import { systemClock } from 'sluice';
import { readDoor } from '../door/place.js';
import { guardJudge } from './judge.js';
import { type McpOptions, usualBounds } from './options.js';

/**
 * Stands before a server of MCP, and has the guard of a folder judge its tools (see `runMcp`). The code is loaded when it is asked for.
 *
 * @returns whether it has ended with its client or by `stop`: else the server has gone.
 * @throws Error (as a rejection) if the server cannot be started, or the port is taken.
 */
export async function guardMcp({
  folder,
  ...options
}: Omit<McpOptions, 'judge' | 'clock' | 'bounds'> & { readonly folder: string }): Promise<boolean> {
  const { runMcp } = await import('./proxy.js');
  const judge = guardJudge(() => readDoor(folder));
  return runMcp({ ...options, judge, clock: systemClock, bounds: usualBounds });
}

import { homedir } from 'node:os';
import process from 'node:process';

/**
 * The home of the user, or nothing if the user has none: a container may run as a number that has no entry in the list of
 * users, and no `HOME`. Node throws then. Nothing else of Sluice asks the system for it.
 */
export function homeFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  if (env['HOME']) return env['HOME'];
  try {
    return homedir() || undefined;
  } catch {
    return undefined;
  }
}

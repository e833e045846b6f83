import { badArguments } from '../errors/command-error.js';

/** One `--set`: the id of an extension with the path of a setting, and its value. */
export interface SetConfig {
  /** `quiet-hours.days.from`: the id may have dots itself, so it is split when the id is known. */
  readonly path: string;
  readonly value: unknown;
}

/**
 * Reads a `--set`. A value that is JSON is that; any other is a text.
 *
 * @throws CommandError `bad-arguments`.
 */
export function setConfigOf(text: string): SetConfig {
  const [, path, written = ''] = /^([^=]+\.[^=.]+)=(.*)$/s.exec(text) ?? [];
  if (path === undefined || /(^|\.)(__proto__|\.|$)/.test(path))
    throw badArguments(
      `--set is "${text}"`,
      'Write the id of the extension, the setting and its value: --set quiet-hours.from=22:00.',
    );
  try {
    return { path, value: JSON.parse(written) };
  } catch {
    return { path, value: written };
  }
}

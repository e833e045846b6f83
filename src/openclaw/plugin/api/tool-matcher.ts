/** The names of tools that a hook of a plugin is for, in lower case; nothing if it is for all of them. */
export type ToolMatcher = readonly string[] | undefined;

const named = (name: unknown): string =>
  typeof name === 'string' ? name.trim().toLowerCase() : '';

/**
 * Reads the option `matcher` of a tool hook, as OpenClaw 2026.9 has it: a list of the names of tools, without wildcards.
 *
 * @returns the names, or a problem in words.
 */
export function toolMatcher(given: unknown): { readonly names: ToolMatcher } | string {
  if (given === undefined) return { names: undefined };
  if (!Array.isArray(given) || given.length === 0)
    return 'matcher must be a list of at least one name of a tool';
  const names = given.map(named);
  if (names.includes('')) return 'each name in matcher must be a text that is not empty';
  if (names.includes('*')) return 'matcher takes no wildcard: leave it out for all tools';
  return { names };
}

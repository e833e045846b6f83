import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Fields, isFields } from 'sluice-kernel/internal';

/**
 * A module that the OpenClaw of a plugin offers to plugins, by its name in `openclaw/plugin-sdk`.
 *
 * @param openclaw the folder of the package.
 * @returns nothing if there is no OpenClaw, it has no such module, or this Node cannot `require` it.
 */
export function moduleOf(openclaw: string | undefined, name: string): Fields | undefined {
  if (openclaw === undefined) return undefined;
  try {
    const module: unknown = createRequire(join(openclaw, 'package.json'))(
      `openclaw/plugin-sdk/${name}`,
    );
    return isFields(module) ? module : undefined;
  } catch {
    return undefined;
  }
}

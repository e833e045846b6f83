import { oneLine } from 'sluice-kernel/internal';
import { z } from 'zod';

/**
 * A place in a config as a program would write it.
 *
 * @example
 * placeOf(['extensions', 0, 'path']); // 'extensions[0].path'
 */
export function placeOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'its top level';
  return oneLine(z.core.toDotPath([...path])) || oneLine(JSON.stringify(path));
}

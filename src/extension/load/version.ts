import { thisCopy } from '../define/copy.js';

/**
 * The version of this package.
 *
 * @example
 * sluiceVersion(); // '0.1.0'
 */
export function sluiceVersion(): string {
  return thisCopy.version;
}

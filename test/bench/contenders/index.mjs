import { floor } from './floor.mjs';
import { hookable } from './hookable.mjs';
import { openclawStyle } from './openclaw-style.mjs';
import { sluiceOf } from './sluice.mjs';
import { tapable } from './tapable.mjs';

/** In the order of the tables. */
export const contenderNames = ['floor', 'sluice', 'tapable', 'hookable', 'openclaw-style'];

/** One contender by its name. `loadKernel` is called only for Sluice, so that no other process loads it. */
export async function contenderNamed(name, loadKernel) {
  if (name === 'sluice') return sluiceOf(await loadKernel());
  const found = [floor, tapable, hookable, openclawStyle].find((one) => one.name === name);
  if (found === undefined) throw new Error(`no contender is called "${name}"`);
  return found;
}

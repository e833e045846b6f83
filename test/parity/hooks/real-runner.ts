import type { MakeLegacyRunner } from '../../../src/testing/index.js';
import { openClawModule } from '../../support/openclaw-modules.js';

/** The real runner of the package at `root`. */
export async function realRunner(root: string): Promise<MakeLegacyRunner> {
  const { createHookRunner } = await openClawModule(root, 'hooks');
  return createHookRunner as MakeLegacyRunner; // it takes any hook name, and reads the same fields
}

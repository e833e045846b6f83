import { cutModule } from './openclaw-module.js';
import type { MakeLegacyRunner } from './parity-run.js';

/**
 * OpenClaw's own hook runner, for `compareParity`. It is cut out of an installed openclaw@2026.3.13, which exports it nowhere;
 * neither the rest of the package nor its dependencies are loaded. To get the package without its dependencies:
 * `npm pack openclaw@2026.3.13 && tar -xzf openclaw-2026.3.13.tgz`.
 *
 * @param folder the folder of the package, such as `./package` or `./node_modules/openclaw`.
 * @throws Error (as a rejection) if the package has no hook runner that runs by itself: it is another version.
 * @example
 * const legacyRunner = await openclawHookRunner('./node_modules/openclaw');
 * const report = await compareParity({ legacyRunner, plugin: './acme', hook, event, ctx });
 */
export async function openclawHookRunner(folder: string): Promise<MakeLegacyRunner> {
  const { createHookRunner } = (await cutModule(folder, {
    region: 'src/plugins/hooks.ts',
    exports: ['createHookRunner'],
    with: ['src/shared/text/join-segments.ts'],
  })) as { readonly createHookRunner: MakeLegacyRunner }; // it takes any hook name, and reads the same fields
  return createHookRunner;
}

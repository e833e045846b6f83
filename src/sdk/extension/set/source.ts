import process from 'node:process';
import { type Extension, idOf } from '../define/extension.js';
import { findModule, loadExtensionModule } from '../load/load-module.js';

/** The source of an extension, with its configuration. */
export interface ExtensionSource {
  /** Its name while its id is not known: its path, its package, or the id itself. */
  readonly name: string;
  /** Its configuration, as it was written. */
  readonly config?: unknown;
  /** The folder that its relative paths are read from, by default the working folder. */
  readonly configDir?: string;
  /** Reads it; each time anew, if it can change. */
  load(): Promise<Extension>;
  /** The file that it begins in, for a watcher. */
  file?(): string;
}

/**
 * Makes a source of an extension that was imported before. A reload runs its setup again.
 *
 * @example
 * await extensions.add(givenSource(quietHours, { from: '22:00' }));
 */
export function givenSource(extension: Extension, config?: unknown): ExtensionSource {
  return { name: idOf(extension, 'unnamed'), config, load: async () => extension };
}

/**
 * Makes a source of a module. A reload reads the module anew, and the modules that it imports by path; packages and CommonJS
 * modules stay as they are. Node keeps the code of the version before.
 *
 * @param from the folder that paths and package names are read from.
 * @example
 * await extensions.add(moduleSource('./quiet-hours.ts', { config: { from: '22:00' } }));
 */
export function moduleSource(
  specifier: string,
  { from = process.cwd(), config }: { readonly from?: string; readonly config?: unknown } = {},
): ExtensionSource {
  let version = 0;
  return {
    name: specifier,
    config,
    configDir: from,
    load: async () => {
      const loading = loadExtensionModule(specifier, { from, version });
      version = Number(process.hrtime.bigint()); // unique in this process
      return loading;
    },
    file: () => findModule(specifier, from).file,
  };
}

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Journal } from '@sluice/journal';
import type { ExtensionHost, ExtensionStore } from '@sluice/sdk/extension';
import { openStore } from '@sluice/sdk/extension/internal';
import { type Clock, definedFields, getOrMake, oneLine, systemClock } from 'sluice-kernel/internal';
import { hostError } from '../errors.js';

/** The data of extensions: their stores, and their folders. To dispose it removes folders that are temporary. */
export interface ExtensionData
  extends Pick<ExtensionHost, 'storeOf' | 'stateDirOf' | 'scrub'>,
    Disposable {}

/** The options of the data of extensions. */
interface ExtensionDataOptions {
  readonly clock?: Clock;
  /** The folder of their folders, by default beside the journal, or a temporary one if the journal is in no file. */
  readonly stateDir?: string | undefined;
}

/**
 * Keeps the data of extensions in a journal, and their files beside it (extensions-that-act §2, §3).
 *
 * @example
 * using data = extensionData(journal);
 * const extensions = new ExtensionSet(kernel, { host: data });
 */
export function extensionData(
  journal: Pick<Journal, 'keyValues' | 'path' | 'scrub'>,
  { clock = systemClock, stateDir }: ExtensionDataOptions = {},
): ExtensionData {
  const { keyValues: values, path, scrub } = journal;
  const stores = new Map<string, ExtensionStore>();
  const isInFile = path !== undefined && path !== ':memory:';
  const lasting = stateDir ?? (isInFile ? `${path}-state` : undefined);
  let temporary: string | undefined;
  return {
    ...definedFields({ scrub }),
    storeOf: (extensionId) =>
      getOrMake(stores, extensionId, () =>
        openStore(extensionId, { values, now: () => clock.now() }),
      ),
    stateDirOf: (extensionId) => {
      let folder = lasting ?? tmpdir();
      try {
        folder = lasting ?? (temporary ??= mkdtempSync(join(tmpdir(), 'sluice-state-')));
        folder = join(resolve(folder), folderName(extensionId));
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        chmodSync(folder, 0o700); // it may have been there, open to others
        return folder;
      } catch (error) {
        const problem = oneLine(error);
        throw hostError('state-dir', { extensionId, path: folder, problem }, { cause: error });
      }
    },
    [Symbol.dispose]: () => {
      if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
      temporary = undefined;
    },
  };
}

/** Makes a name of a folder that no other id has, also where a file system takes "A" and "a" for one. */
function folderName(extensionId: string): string {
  return extensionId.replace(/[^a-z0-9_.-]|^\.+|\.$/gu, (text) =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

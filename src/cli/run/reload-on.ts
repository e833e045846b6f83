import { type FSWatcher, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Host } from '@sluice/host';
import type { ExtensionSet } from '@sluice/sdk/extension';
import { moduleFiles } from '@sluice/sdk/extension/internal';
import { getOrMake } from 'sluice-kernel/internal';
import { errorLine } from '../errors/error-line.js';
import type { Shell } from '../shell/shell.js';

/**
 * Reloads extensions when their files change, if `--watch` asks for it, and all of them on SIGHUP, unless a person types
 * here: a terminal that is closed sends a SIGHUP, too. The reason of a failed reload goes to stderr.
 */
export function reloadOn(
  host: Host,
  extensions: ExtensionSet,
  { watch }: { readonly watch?: boolean },
  { isTerminal, onHangup, stderr }: Shell,
): Disposable | undefined {
  const reload = async (ids: readonly (string | undefined)[]): Promise<void> => {
    for (const id of ids) {
      if (host.state !== 'running') return;
      const results = await host.reload(id).catch(() => []); // it is stopping
      for (const { extensionId, result, error } of results) {
        if (result === 'reloaded') stderr.lines([`sluice: ${extensionId} was reloaded`]);
        if (error !== undefined) stderr.lines([errorLine(error, false)]);
      }
    }
  };
  if (!isTerminal.stdin) onHangup(() => void reload([undefined]));
  return watch === true ? new ExtensionWatch(extensions, reload) : undefined;
}

/** Milliseconds in which several changes count as one: an editor writes a file in several steps. */
const settleMs = 150;

/**
 * Watches the files of extensions and the files that they import by path, and names the extensions that have changed. It
 * watches folders and not files: an editor may save by renaming.
 *
 * @param changed is called when the files have rested for a moment. The next call waits for the end of this one.
 */
class ExtensionWatch implements Disposable {
  readonly #extensions: ExtensionSet;
  readonly #changed: (extensionIds: readonly string[]) => Promise<void>;
  readonly #folders = new Map<string, FSWatcher>();
  /** The extensions that each file belongs to. */
  #owners = new Map<string, Set<string>>();
  readonly #pending = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReporting = false;
  #isDisposed = false;

  constructor(
    extensions: ExtensionSet,
    changed: (extensionIds: readonly string[]) => Promise<void>,
  ) {
    this.#extensions = extensions;
    this.#changed = changed;
    this.#refresh();
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  /** Reads the files of the extensions anew: a change may add or remove some. */
  #refresh(): void {
    this.#owners = new Map();
    for (const [extensionId, [entry = '', ...named]] of this.#extensions.files())
      for (const file of [...moduleFiles(entry), ...named])
        getOrMake(this.#owners, file, () => new Set()).add(extensionId);
    const folders = new Set([...this.#owners.keys()].map((file) => dirname(file)));
    for (const [folder, watcher] of this.#folders)
      if (!folders.has(folder)) {
        watcher.close();
        this.#folders.delete(folder);
      }
    for (const folder of folders) if (!this.#folders.has(folder)) this.#watch(folder);
  }

  #watch(folder: string): void {
    const watcher = watch(folder, (_event, name) => {
      const files = name === null ? [...this.#owners.keys()] : [join(folder, name)];
      for (const file of files)
        for (const extensionId of this.#owners.get(file) ?? []) this.#pending.add(extensionId);
      if (this.#pending.size > 0) this.#soon();
    });
    watcher.on('error', () => watcher.close()); // the folder is gone
    this.#folders.set(folder, watcher);
  }

  #soon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#report(), settleMs);
  }

  async #report(): Promise<void> {
    if (this.#isReporting) return; // the changes that come meanwhile are told afterwards
    this.#isReporting = true;
    const ids = [...this.#pending];
    this.#pending.clear();
    await this.#changed(ids);
    this.#isReporting = false;
    if (this.#isDisposed) return;
    this.#refresh();
    if (this.#pending.size > 0) this.#soon();
  }
}

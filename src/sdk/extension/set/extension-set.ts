import {
  definedFields,
  isSluiceError,
  type Kernel,
  type Logger,
  oneLine,
  type SluiceError,
  silentLogger,
} from 'sluice-kernel/internal';
import { type Extension, idOf } from '../define/extension.js';
import type { ExtensionHost } from '../define/extension-host.js';
import type { UndoFailure } from '../define/scope.js';
import { extensionError } from '../errors.js';
import type { LiveExtension } from '../load/live-extension.js';
import { logDisabled, startExtension } from '../load/load.js';
import type { LoadedExtension, LoadOptions } from '../load/load-result.js';
import type { ExtensionStatus, ReloadResult } from './extension-status.js';
import { type Member, newMember, noteReload, type ReloadEnd, statusOf } from './member.js';
import type { ExtensionSource } from './source.js';

/** The user of the things that extensions provide, which has to be still while one is replaced: a host. */
export interface ExtensionUser {
  /** Resolves when nothing is under way that a swap would disturb, or when that took too long. Disposing goes on. */
  pause(): Promise<Disposable>;
  /** Lets go of what an extension provides. */
  release(extension: LoadedExtension): Promise<void>;
  /** Claims what an extension provides. */
  adopt(extension: LoadedExtension): Promise<void>;
}

/** The options that a set loads its extensions with. */
export type ExtensionSetOptions = Omit<LoadOptions, 'config' | 'configDir'>;

/**
 * The extensions of a host: loaded, replaced and unloaded one by one, each failing alone (spec §13).
 *
 * @example
 * await using extensions = new ExtensionSet(kernel, { logger });
 * await extensions.add(moduleSource('./quiet-hours.js', { config }));
 * await extensions.reload('quiet-hours');
 */
export class ExtensionSet implements AsyncDisposable {
  readonly #kernel: Kernel;
  readonly #options: ExtensionSetOptions;
  readonly #logger: Logger;
  readonly #members: Member[] = [];
  /** The parts of a host that there are now: each extension looks a part up when it needs it. */
  readonly #host: { -readonly [Part in keyof ExtensionHost]?: ExtensionHost[Part] };
  #user: ExtensionUser | undefined;
  /** One change at a time. */
  #changes: Promise<unknown> = Promise.resolve();

  constructor(kernel: Kernel, options: ExtensionSetOptions = {}) {
    this.#kernel = kernel;
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#host = { ...options.host };
  }

  /** The status of every extension that was added, in that order. */
  get statuses(): readonly ExtensionStatus[] {
    return this.#members.map(statusOf);
  }

  /** The extensions that are live. */
  get live(): readonly LoadedExtension[] {
    return this.#members.flatMap(({ live }) => live ?? []);
  }

  /** The files that the extensions begin in, if they come from a file, and those that they named by `api.reloadOn`; by id. */
  files(): ReadonlyMap<string, readonly string[]> {
    const files = new Map<string, readonly string[]>();
    for (const { source, extensionId, isUnloaded, live } of this.#members) {
      if (isUnloaded || source.file === undefined) continue;
      try {
        files.set(extensionId, [source.file(), ...(live?.files() ?? [])]);
      } catch {
        // there is no such file: its status says so
      }
    }
    return files;
  }

  /** Sets the user of the things that the extensions provide; there is one at a time, or none. */
  use(user: ExtensionUser | undefined): void {
    this.#user = user;
  }

  /**
   * Gives the extensions a host to act through, also those that are set up already, until it is disposed. The parts that
   * the options gave stay: they were there at setup.
   */
  serve(host: Partial<ExtensionHost>): Disposable {
    Object.assign(this.#host, host, this.#options.host);
    return {
      [Symbol.dispose]: () => {
        for (const part of Object.keys(host) as (keyof ExtensionHost)[]) // as its type says
          delete this.#host[part];
        Object.assign(this.#host, this.#options.host);
      },
    };
  }

  /** Loads an extension. A mistake of it is in its status; this never rejects. */
  add(source: ExtensionSource): Promise<ExtensionStatus> {
    return this.#change(async () => {
      const member = newMember(source);
      this.#members.push(member);
      await this.#loadFirst(member);
      return statusOf(member);
    });
  }

  /**
   * Reads extensions anew and puts the new versions in the place of the old, between two messages. An extension that cannot be
   * read or set up stays as it was. A mistake of an extension does not reject.
   *
   * @param extensionId reloads this extension alone; by default all of them.
   * @throws SluiceError (as a rejection) `unknown-extension`.
   */
  reload(extensionId?: string): Promise<readonly ReloadResult[]> {
    return this.#change(async () => {
      const chosen = this.#members.filter(
        (member) =>
          !member.isUnloaded && (extensionId === undefined || member.extensionId === extensionId),
      );
      if (extensionId !== undefined && chosen.length === 0)
        throw extensionError('unknown-extension', { extensionId });
      const results: ReloadResult[] = [];
      const read: { readonly member: Member; readonly next: Extension }[] = [];
      for (const member of chosen) {
        const next = await this.#read(member);
        if (next instanceof Error)
          results.push(noteReload(this.#logger, member, this.#unread(member, next)));
        else read.push({ member, next });
      }
      if (read.length === 0) return results;
      using _pause = await this.#user?.pause();
      for (const { member, next } of read)
        results.push(noteReload(this.#logger, member, await this.#replace(member, next)));
      return results;
    });
  }

  /** Unloads an extension for good. */
  unload(extensionId: string): Promise<ExtensionStatus> {
    return this.#change(async () => {
      const member = this.#members.find(
        (one) => one.extensionId === extensionId && !one.isUnloaded,
      );
      if (member === undefined) throw extensionError('unknown-extension', { extensionId });
      using _pause = await this.#user?.pause();
      await this.#unload(member);
      return statusOf(member);
    });
  }

  /** Unloads all of them, the last first. Never rejects. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#change(async () => {
      for (const member of this.#members.toReversed()) await this.#unload(member);
    });
  }

  #change<T>(work: () => Promise<T>): Promise<T> {
    const changed = this.#changes.then(work);
    this.#changes = changed.catch(() => undefined);
    return changed;
  }

  async #loadFirst(member: Member): Promise<void> {
    const extension = await this.#read(member);
    if (extension instanceof Error) {
      member.error = extension;
      logDisabled(this.#logger, member.extensionId, extension);
      return;
    }
    await this.#start(member, extension, undefined);
  }

  /** Reads the module of an extension, and checks that it may take its place. */
  async #read(member: Member): Promise<Extension | SluiceError> {
    const { source, extension: before } = member;
    let extension: Extension;
    try {
      extension = await source.load();
    } catch (thrown) {
      if (isSluiceError(thrown)) return thrown;
      const details = { file: source.name, problem: oneLine(thrown) };
      return extensionError('module-failed', details, { cause: thrown });
    }
    const extensionId = idOf(extension, source.name);
    if (before !== undefined && before.id !== extensionId) {
      const problem = `it was "${before.id}" when it was loaded; a reload keeps the id`;
      return extensionError('bad-extension', { extensionId, problem });
    }
    const other = this.#members.find(
      (one) => one !== member && !one.isUnloaded && one.extension?.id === extensionId,
    );
    if (other !== undefined)
      return extensionError('duplicate-extension', { extensionId, source: other.source.name });
    return extension;
  }

  /** Runs setup and goes live in the place of a predecessor. @returns the error if it could not. */
  async #start(
    member: Member,
    extension: Extension,
    predecessor: LiveExtension | undefined,
  ): Promise<SluiceError | undefined> {
    member.extension = extension;
    member.extensionId = idOf(extension, member.source.name);
    const { config, configDir } = member.source;
    const options = { ...this.#options, host: this.#host, config, ...definedFields({ configDir }) };
    const started = await startExtension(this.#kernel, extension, options, predecessor);
    if (started.status === 'disabled') {
      member.error = started.error;
      member.undoFailures = started.undoFailures;
      return started.error;
    }
    member.live = started;
    member.error = undefined;
    await this.#user?.adopt(started);
    return undefined;
  }

  async #replace(member: Member, next: Extension): Promise<ReloadEnd> {
    const { live: before, extension: old } = member;
    if (before === undefined) {
      const error =
        member.undoFailures.length > 0 ? member.error : await this.#start(member, next, undefined);
      return { result: error === undefined ? 'reloaded' : 'disabled', error };
    }
    await this.#user?.release(before);
    const { failures, abandoned } = await before.retire();
    const error = failures.length > 0 ? undefined : await this.#start(member, next, before);
    const undoFailures = error === undefined ? failures : member.undoFailures;
    if (undoFailures.length > 0) {
      before.withdraw();
      this.#fence(member, undoFailures);
      return { result: 'disabled', error: member.error, abandoned };
    }
    if (error === undefined) return { result: 'reloaded', error, abandoned };
    // its handlers are still there, but their resources are gone: the version before is set up again
    const again = old === undefined ? error : await this.#start(member, old, before);
    if (again === undefined) return { result: 'kept', error, abandoned };
    before.withdraw();
    member.live = undefined;
    member.error = error;
    return { result: 'disabled', error, abandoned };
  }

  async #unload(member: Member): Promise<void> {
    const { live } = member;
    member.isUnloaded = true;
    member.live = undefined;
    if (live === undefined) return;
    await this.#user?.release(live);
    const { failures } = await live.dispose();
    if (failures.length > 0) this.#fence(member, failures);
  }

  #fence(member: Member, failures: readonly UndoFailure[]): void {
    const problem = failures.map(({ label, error }) => `"${label}": ${oneLine(error)}`).join('; ');
    member.live = undefined;
    member.undoFailures = failures;
    member.error = extensionError('not-undone', { extensionId: member.extensionId, problem });
  }

  #unread(member: Member, error: SluiceError): ReloadEnd {
    if (member.live !== undefined) return { result: 'kept', error };
    if (member.error?.code !== 'not-undone') member.error = error;
    return { result: 'disabled', error };
  }
}

import type { Kernel, Logger } from 'sluice-kernel';
import type { Manifest } from '../define/manifest.js';
import type { ProvisionKind, Provisions } from '../define/provisions.js';
import { Scope } from '../define/scope.js';
import type { Registration } from '../named/registration.js';
import type { LoadedExtension, LoadOptions, UnloadReport } from './load-result.js';
import type { Provision, RegistrationWindow } from './registration-window.js';

/** Milliseconds that the handlers of an extension have to end by default. */
const defaultDrainTimeoutMs = 5_000;

/** The parts of a live extension. */
interface LiveExtensionParts {
  readonly kernel: Kernel;
  readonly extensionId: string;
  readonly manifest: Manifest;
  /** The contributions of its setup. */
  readonly window: RegistrationWindow;
  /** The resources of its setup. */
  readonly resources: Scope;
  readonly log: Logger;
  readonly options: Pick<LoadOptions, 'drainTimeoutMs'>;
}

/** An extension from when it goes live until it is undone (spec §13.3). */
export class LiveExtension implements LoadedExtension {
  readonly status = 'loaded';
  readonly extensionId: string;
  readonly manifest: Manifest;
  readonly #parts: LiveExtensionParts;
  /** Its handlers, registrations and provisions. */
  #live: Scope;
  #provided = new Set<Provision>();
  #registered = new Set<Registration>();
  #unloaded: Promise<UnloadReport> | undefined;

  constructor(parts: LiveExtensionParts) {
    this.extensionId = parts.extensionId;
    this.manifest = parts.manifest;
    this.#parts = parts;
    this.#live = new Scope(parts.extensionId, parts.log);
  }

  labels(): readonly string[] {
    return [...this.#parts.resources.labels(), ...this.#live.labels()];
  }

  provided<K extends ProvisionKind>(kind: K): readonly Provisions[K][] {
    return [...this.#provided].flatMap(
      (one) => (one.kind === kind ? [one.value as Provisions[K]] : []), // typed by api.provide
    );
  }

  /** The files that it named, whose changes are its own. */
  files(): readonly string[] {
    return this.#parts.window.files;
  }

  registered(): readonly Registration[] {
    return [...this.#registered];
  }

  /**
   * Makes everything live in one synchronous step, in which it takes the place of a predecessor.
   *
   * @throws SluiceError of the kernel, if it refuses a contribution. The contributions of the predecessor are as they were.
   */
  begin(predecessor?: LiveExtension): void {
    predecessor?.withdraw();
    try {
      this.#goLive();
    } catch (refused) {
      if (predecessor !== undefined) predecessor.#goLive(); // it was taken before, so it is now
      throw refused;
    }
  }

  /** Takes its handlers, registrations and provisions out, at once. */
  withdraw(): void {
    void this.#live.dispose(); // all of it is undone synchronously
  }

  /**
   * Waits for its handlers that run, then undoes its resources. The handlers stay in their plans, so that no event goes by
   * without them before a successor is there.
   */
  async retire(): Promise<UnloadReport> {
    const { kernel, extensionId, resources, log, options } = this.#parts;
    const { drainTimeoutMs: timeoutMs = defaultDrainTimeoutMs } = options;
    const abandoned = await kernel.quiet(extensionId, { timeoutMs });
    for (const { contributionId, family } of abandoned)
      log.warn(`${extensionId}/${contributionId} on "${family}" had not ended and is left behind`);
    return { ...(await resources.dispose()), abandoned };
  }

  dispose(): Promise<UnloadReport> {
    this.#unloaded ??= this.#unload();
    return this.#unloaded;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  async #unload(): Promise<UnloadReport> {
    const withdrawn = this.#live.dispose(); // before anything waits
    const retired = await this.retire();
    const { undone, failures } = await withdrawn;
    return {
      undone: [...undone, ...retired.undone],
      failures: [...failures, ...retired.failures],
      abandoned: retired.abandoned,
    };
  }

  #goLive(): void {
    const { kernel, extensionId, window, log } = this.#parts;
    const live = new Scope(extensionId, log);
    window.goLive(kernel, live);
    this.#live = live;
    if (kernel.isAudited(extensionId)) {
      reportAudited(window, log);
      return;
    }
    for (const registration of window.registrations) {
      this.#registered.add(registration);
      const { kind, name } = registration;
      live.add(`${kind} ${name}`, () => this.#registered.delete(registration));
    }
    for (const provision of window.provisions) {
      this.#provided.add(provision);
      live.add(`provided ${labelOf(provision)}`, () => this.#provided.delete(provision));
    }
  }
}

/** Logs that an extension is audited, and which of its things are left out (judgement §3.9). */
function reportAudited({ registrations, provisions }: RegistrationWindow, log: Logger): void {
  const named = registrations.map(({ kind, name }) => `${kind} ${name}`);
  const leftOut = [...named, ...provisions.map(labelOf)];
  if (leftOut.length === 0) log.info('it is audited, and has no effect');
  else
    log.warn('it is audited, and has no effect: what it gives the host is left out', { leftOut });
}

/** Names a provision for people, by its id, its name or its path if it has one. */
function labelOf({ kind, value }: Provision): string {
  const { id, name, path } = (typeof value === 'object' && value !== null ? value : {}) as {
    readonly id?: unknown;
    readonly name?: unknown;
    readonly path?: unknown;
  }; // read field by field
  const called = [id, name, path].find((text) => typeof text === 'string');
  return called === undefined ? kind : `${kind} ${String(called)}`;
}

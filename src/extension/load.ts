import {
  type Clock,
  isSluiceError,
  type Kernel,
  type Logger,
  oneLine,
  SluiceError,
  silentLogger,
  systemClock,
  type TimerHandle,
} from '../kernel/index.js';
import type { ExtensionApi } from './api.js';
import { readConfig } from './config-schema.js';
import { type Extension, extensionProblem } from './extension.js';
import { loggerOf } from './logger.js';
import { labelOf, type Provision, type ProvisionKind, type Provisions } from './provisions.js';
import { openRegistration } from './registration-window.js';
import { Scope, type UndoFailure, type UndoReport } from './scope.js';

/** Milliseconds that setup may take where the host does not say otherwise. */
export const defaultSetupTimeoutMs = 30_000;

/** What the host says about loading an extension. */
export interface LoadOptions {
  /** The extension's configuration, as it was written: its schema reads it. */
  readonly config?: unknown;
  /** Where the extension writes, and where is written why it is disabled. Silent where unsaid. */
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** Milliseconds that setup may take. A setup that waits for ever disables its extension, not the host. */
  readonly setupTimeoutMs?: number;
}

/** An extension that is live. Disposing it, once or twice, undoes everything that it registered. */
export interface LoadedExtension extends AsyncDisposable {
  readonly status: 'loaded';
  readonly extensionId: string;
  /** What it holds: its resources and contributions, in the order in which they came. */
  labels(): readonly string[];
  /** What it gave with `api.provide`, of one kind; nothing once it is disposed. */
  provided<K extends ProvisionKind>(kind: K): readonly Provisions[K][];
  /** Undoes all of it, in reverse: its handlers first, at once and together. Never rejects. */
  dispose(): Promise<UndoReport>;
}

/** An extension that could not be loaded. Nothing of it is live. */
export interface DisabledExtension {
  readonly status: 'disabled';
  readonly extensionId: string;
  /** Why. Its `details.path` names the setting, where it is one. */
  readonly error: SluiceError;
  /** Resources that setup had taken and that could not be undone. */
  readonly undoFailures: readonly UndoFailure[];
}

/** How loading an extension went: a union by `status`. */
export type LoadResult = LoadedExtension | DisabledExtension;

/**
 * Loads an extension: reads its configuration, runs its setup, then makes all that it contributed live in one
 * synchronous step (spec §13). Whatever is wrong with the extension disables it, and nothing else: this never
 * rejects.
 *
 * @example
 * const result = await loadExtension(kernel, quietHours, { config: { from: '22:00', to: '07:00' }, logger });
 * if (result.status === 'disabled') console.error(result.error.message);
 * else await result.dispose();
 */
export async function loadExtension(
  kernel: Kernel,
  extension: Extension,
  options: LoadOptions = {},
): Promise<LoadResult> {
  const { logger = silentLogger, clock = systemClock } = options;
  const extensionId = String((extension as Partial<Extension> | undefined)?.id ?? 'unnamed'); // may be no extension
  const log = loggerOf(logger, extensionId);
  const scope = new Scope(extensionId, log);
  const registration = openRegistration(extensionId);
  const provided = new Set<Provision>();
  const api: ExtensionApi = Object.freeze({
    extensionId,
    log,
    clock,
    ...registration.registering,
    own: scope.add.bind(scope),
  });
  try {
    const problem = extensionProblem(extension);
    if (problem !== undefined) throw new SluiceError('bad-extension', { extensionId, problem });
    const config = readConfig(extensionId, extension.config, options.config);
    await setUp(extension, api, config, options.setupTimeoutMs ?? defaultSetupTimeoutMs);
    registration.goLive(kernel, scope);
    for (const provision of registration.provisions) {
      provided.add(provision);
      scope.add(`provided ${labelOf(provision)}`, () => provided.delete(provision));
    }
  } catch (thrown) {
    registration.close();
    const error = isSluiceError(thrown) ? thrown : setupFailed(extensionId, thrown);
    log.error(`disabled: ${error.message}`, { code: error.code, hint: error.hint });
    const { failures: undoFailures } = await scope.dispose();
    return { status: 'disabled', extensionId, error, undoFailures };
  }
  return {
    status: 'loaded',
    extensionId,
    labels: () => scope.labels(),
    provided: <K extends ProvisionKind>(kind: K) =>
      [...provided].flatMap((one) => (one.kind === kind ? [one.value as Provisions[K]] : [])), // typed by api.provide
    dispose: () => scope.dispose(),
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  };
}

/** Runs setup, for as long as it may take. */
async function setUp(
  extension: Extension,
  api: ExtensionApi,
  config: unknown,
  timeoutMs: number,
): Promise<void> {
  const { extensionId, clock, log } = api;
  const work = (async () => extension.setup(api, config))(); // async: it may throw, or return what it likes
  let timer: TimerHandle | undefined;
  const expiry = new Promise<never>((_, expire) => {
    timer = clock.setTimeout(() => {
      expire(new SluiceError('setup-timed-out', { extensionId, timeoutMs }));
      work.catch((late: unknown) =>
        log.warn(`setup failed after its time was up: ${oneLine(late)}`),
      );
    }, timeoutMs);
  });
  try {
    await Promise.race([work, expiry]);
  } finally {
    if (timer !== undefined) clock.clearTimeout(timer);
  }
}

function setupFailed(extensionId: string, thrown: unknown): SluiceError {
  return new SluiceError(
    'setup-failed',
    { extensionId, problem: oneLine(thrown) },
    { cause: thrown },
  );
}

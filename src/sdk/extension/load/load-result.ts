import type { Clock, Logger, RunningHandler, SluiceError } from 'sluice-kernel';
import type { ExtensionHost } from '../define/extension-host.js';
import type { Manifest } from '../define/manifest.js';
import type { ProvisionKind, Provisions } from '../define/provisions.js';
import type { UndoFailure, UndoReport } from '../define/scope.js';
import type { Registration } from '../named/registration.js';

/** The host's options for loading an extension. */
export interface LoadOptions {
  /** The extension's configuration, as it was written: its schema reads it. */
  readonly config?: unknown;
  /** The log of the extension, which also gets the reason why it is disabled. Silent by default. */
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** Milliseconds that setup may take. A setup that waits for ever disables its extension, not the host. */
  readonly setupTimeoutMs?: number;
  /** Milliseconds that its handlers have to end when it is unloaded, by default 5 000. */
  readonly drainTimeoutMs?: number;
  /** Milliseconds that each undo may take, by default 5 000. */
  readonly undoTimeoutMs?: number;
  /**
   * The host that the extension acts through. Each part may be missing, also at first: it is looked up when it is called.
   * Without one its store is in memory, and other acts are refused as `no-host`.
   */
  readonly host?: Partial<ExtensionHost>;
  /** The folder that its relative paths are read from, by default the working folder. */
  readonly configDir?: string;
  /** Runs setup: a host can put a mark around it, by which it knows the work of the extension later. */
  readonly around?: <T>(extensionId: string, work: () => T) => T;
}

/** The report of an unload. */
export interface UnloadReport extends UndoReport {
  /** Handlers that had not ended in time. Their results have no effect in the pipeline any more. */
  readonly abandoned: readonly RunningHandler[];
}

/** An extension that is live. To dispose it, once or twice, undoes everything that it registered. */
export interface LoadedExtension extends AsyncDisposable {
  readonly status: 'loaded';
  readonly extensionId: string;
  readonly manifest: Manifest;
  /** The labels of its resources and contributions, in the order in which they came. */
  labels(): readonly string[];
  /** The things of one kind that it gave with `api.provide`; none after it is disposed. */
  provided<K extends ProvisionKind>(kind: K): readonly Provisions[K][];
  /** The things that it registered by name, in order; none after it is disposed. */
  registered(): readonly Registration[];
  /**
   * Undoes all of it, in reverse: its handlers first, at once and together. Running handlers have `drainTimeoutMs` to end
   * before their resources are undone. Never rejects.
   */
  dispose(): Promise<UnloadReport>;
}

/** An extension that could not be loaded. Nothing of it is live. */
export interface DisabledExtension {
  readonly status: 'disabled';
  readonly extensionId: string;
  /** The reason. Its `details.path` names the setting, if a setting is wrong. */
  readonly error: SluiceError;
  /** The resources of its setup that could not be undone. */
  readonly undoFailures: readonly UndoFailure[];
}

/** The result of loading an extension: a union by `status`. */
export type LoadResult = LoadedExtension | DisabledExtension;

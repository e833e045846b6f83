import type { Clock, Logger, RunningHandler, SluiceError } from '../../kernel/index.js';
import type { Manifest } from '../define/manifest.js';
import type { ProvisionKind, Provisions } from '../define/provisions.js';
import type { UndoFailure, UndoReport } from '../define/scope.js';

/** What the host says about loading an extension. */
export interface LoadOptions {
  /** The extension's configuration, as it was written: its schema reads it. */
  readonly config?: unknown;
  /** Where the extension writes, and where is written why it is disabled. Silent where unsaid. */
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** Milliseconds that setup may take. A setup that waits for ever disables its extension, not the host. */
  readonly setupTimeoutMs?: number;
  /** Milliseconds that its handlers have to end when it is unloaded, 5 000 where unsaid. */
  readonly drainTimeoutMs?: number;
  /** Milliseconds that each undo may take, 5 000 where unsaid. */
  readonly undoTimeoutMs?: number;
  /** Runs setup: a host that wants to know later whose work something was puts a mark around it. */
  readonly around?: <T>(extensionId: string, work: () => T) => T;
}

/** How an unload went. */
export interface UnloadReport extends UndoReport {
  /** Handlers that had not ended in time. Nothing more of what they do has an effect in the pipeline. */
  readonly abandoned: readonly RunningHandler[];
}

/** An extension that is live. Disposing it, once or twice, undoes everything that it registered. */
export interface LoadedExtension extends AsyncDisposable {
  readonly status: 'loaded';
  readonly extensionId: string;
  readonly manifest: Manifest;
  /** What it holds: its resources and contributions, in the order in which they came. */
  labels(): readonly string[];
  /** What it gave with `api.provide`, of one kind; nothing once it is disposed. */
  provided<K extends ProvisionKind>(kind: K): readonly Provisions[K][];
  /**
   * Undoes all of it, in reverse: its handlers first, at once and together. Those that run have `drainTimeoutMs` to end
   * before what they use is undone. Never rejects.
   */
  dispose(): Promise<UnloadReport>;
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

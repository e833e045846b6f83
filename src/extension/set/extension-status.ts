import type { RunningHandler, SluiceError } from '../../kernel/index.js';
import type { Manifest } from '../define/manifest.js';
import type { UndoFailure } from '../define/scope.js';

/** How a reload went. */
export interface ReloadResult {
  readonly extensionId: string;
  /**
   * `reloaded`: the new version is live. `kept`: it could not be loaded, and the one before is. `disabled`: neither is.
   */
  readonly result: 'reloaded' | 'kept' | 'disabled';
  /** Why it is not `reloaded`. */
  readonly error?: SluiceError;
  /** Handlers of the version before that had not ended in time. */
  readonly abandoned: readonly RunningHandler[];
}

/** What a host knows of one of its extensions, loaded or not. */
export interface ExtensionStatus {
  /** Its id; the path or package that it should come from while that is not known. */
  readonly extensionId: string;
  /** The path or package that it comes from. */
  readonly source: string;
  readonly status: 'loaded' | 'disabled' | 'unloaded';
  /** Why it is disabled. Its code says in which part of loading: import, manifest, config, grants, setup, dispose. */
  readonly error?: SluiceError;
  readonly manifest?: Manifest;
  /** What it holds. */
  readonly labels: readonly string[];
  /** What could not be undone, by label. */
  readonly undoFailures: readonly UndoFailure[];
  /** How often it was reloaded. */
  readonly reloads: number;
  readonly lastReload?: ReloadResult;
}

import type { RunningHandler, SluiceError } from 'sluice-kernel';
import type { Manifest } from '../define/manifest.js';
import type { UndoFailure } from '../define/scope.js';

/** The result of a reload. */
export interface ReloadResult {
  readonly extensionId: string;
  /**
   * `reloaded`: the new version is live. `kept`: it could not be loaded, and the version before is live. `disabled`: neither is.
   */
  readonly result: 'reloaded' | 'kept' | 'disabled';
  /** The reason why it is not `reloaded`. */
  readonly error?: SluiceError;
  /** Handlers of the version before that had not ended in time. */
  readonly abandoned: readonly RunningHandler[];
}

/** The knowledge of a host about one of its extensions, loaded or not. */
export interface ExtensionStatus {
  /** Its id; while that is not known, the path or package that it should come from. */
  readonly extensionId: string;
  /** The path or package that it comes from. */
  readonly source: string;
  readonly status: 'loaded' | 'disabled' | 'unloaded';
  /** The reason why it is disabled. The code tells the part of loading: import, manifest, config, grants, setup, dispose. */
  readonly error?: SluiceError;
  readonly manifest?: Manifest;
  /** The labels of its resources and contributions. */
  readonly labels: readonly string[];
  /** The effects that could not be undone, by label. */
  readonly undoFailures: readonly UndoFailure[];
  /** How often it was reloaded. */
  readonly reloads: number;
  readonly lastReload?: ReloadResult;
}

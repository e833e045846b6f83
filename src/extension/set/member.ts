import { definedFields, type Logger, type SluiceError } from '../../kernel/index.js';
import type { Extension } from '../define/extension.js';
import type { UndoFailure } from '../define/scope.js';
import type { LiveExtension } from '../load/live-extension.js';
import type { ExtensionStatus, ReloadResult } from './extension-status.js';
import type { ExtensionSource } from './source.js';

/** An extension of a set, whatever became of it. */
export interface Member {
  readonly source: ExtensionSource;
  extensionId: string;
  /** The version that is live, or that was last. */
  extension: Extension | undefined;
  live: LiveExtension | undefined;
  error: SluiceError | undefined;
  undoFailures: readonly UndoFailure[];
  isUnloaded: boolean;
  reloads: number;
  lastReload: ReloadResult | undefined;
}

/** An extension that nothing was done with yet. */
export function newMember(source: ExtensionSource): Member {
  return {
    source,
    extensionId: source.name,
    extension: undefined,
    live: undefined,
    error: undefined,
    undoFailures: [],
    isUnloaded: false,
    reloads: 0,
    lastReload: undefined,
  };
}

/** What is told of it. */
export function statusOf(member: Member): ExtensionStatus {
  const {
    source,
    extensionId,
    extension,
    live,
    error,
    undoFailures,
    isUnloaded,
    reloads,
    lastReload,
  } = member;
  const manifest = extension?.manifest;
  return {
    extensionId,
    source: source.name,
    status: live !== undefined ? 'loaded' : isUnloaded ? 'unloaded' : 'disabled',
    labels: live?.labels() ?? [],
    undoFailures,
    reloads,
    ...definedFields({ manifest, error, lastReload }),
  };
}

/** Writes down how a reload went: in the status, and in the log. */
export function noteReload(
  logger: Logger,
  member: Member,
  result: ReloadResult['result'],
  error?: SluiceError,
  abandoned: ReloadResult['abandoned'] = [],
): ReloadResult {
  const { extensionId } = member;
  const noted = { extensionId, result, abandoned, ...definedFields({ error }) };
  member.reloads++;
  member.lastReload = noted;
  if (error === undefined) logger.info(`${extensionId} was reloaded`, { extensionId });
  else
    logger.error(
      `${extensionId} was not reloaded, and ${result === 'kept' ? 'runs as it was' : 'is disabled'}`,
      { extensionId, code: error.code, error },
    );
  return noted;
}

import { definedFields, type Logger, type SluiceError } from 'sluice-kernel/internal';
import type { Extension } from '../define/extension.js';
import type { UndoFailure } from '../define/scope.js';
import type { LiveExtension } from '../load/live-extension.js';
import type { ExtensionStatus, ReloadResult } from './extension-status.js';
import type { ExtensionSource } from './source.js';

/** An extension of a set, from when it is added. */
export interface Member {
  readonly source: ExtensionSource;
  extensionId: string;
  /** The version that is live, or that was last. */
  extension?: Extension | undefined;
  live?: LiveExtension | undefined;
  error?: SluiceError | undefined;
  undoFailures: readonly UndoFailure[];
  isUnloaded: boolean;
  reloads: number;
  lastReload?: ReloadResult | undefined;
}

/** Makes the member of an extension that is still to be loaded. */
export function newMember(source: ExtensionSource): Member {
  return { source, extensionId: source.name, undoFailures: [], isUnloaded: false, reloads: 0 };
}

/** Returns the status of a member, as others may see it. */
export function statusOf(member: Member): ExtensionStatus {
  const { source, extensionId, live, undoFailures, isUnloaded, reloads } = member;
  const { error, lastReload, extension } = member;
  return {
    extensionId,
    source: source.name,
    status: live !== undefined ? 'loaded' : isUnloaded ? 'unloaded' : 'disabled',
    labels: live?.labels() ?? [],
    undoFailures,
    reloads,
    ...definedFields({ manifest: extension?.manifest, error, lastReload }),
  };
}

/** The end of a reload. */
export interface ReloadEnd {
  readonly result: ReloadResult['result'];
  readonly error: SluiceError | undefined;
  readonly abandoned?: ReloadResult['abandoned'];
}

/** Notes the end of a reload in the status and in the log. */
export function noteReload(
  logger: Logger,
  member: Member,
  { result, error, abandoned = [] }: ReloadEnd,
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

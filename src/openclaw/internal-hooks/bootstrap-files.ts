import { definedFields, type PayloadOf } from 'sluice-kernel/internal';
import type { InternalHookEvent } from './event.js';

/** Files of the workspace, as `agent.prompt.building` carries them. */
export type BootstrapFiles = NonNullable<PayloadOf<'agent.prompt.building'>['bootstrapFiles']>;

/** Copies that a legacy handler may write to. */
export function copyFiles(files: BootstrapFiles): BootstrapFiles {
  return files.map((file) => ({ ...file }));
}

/**
 * Keeps the file list of a legacy event and that of a payload together, while handlers of both kinds take turns.
 * A file that the payload's schema refuses stays in the event, for the legacy handlers after it.
 */
export function bootstrapView(event: InternalHookEvent, given: BootstrapFiles) {
  /** The payload's list at the last look. */
  let seen = given;
  /** The list of the last patch, which the kernel may have refused. */
  let offered: readonly unknown[] = given;
  return {
    /** Before a legacy handler: what others have made of the list since goes into the event. */
    pull(files: BootstrapFiles): void {
      const isKnown = sameFiles(files, offered) || sameFiles(files, seen);
      seen = files;
      if (!isKnown) event.context.bootstrapFiles = copyFiles(files);
    },
    /** After a legacy handler: the patch that makes the payload's list what the handler has left, or nothing. */
    patch(files: BootstrapFiles): { readonly bootstrapFiles: unknown } | undefined {
      const left = event.context.bootstrapFiles;
      if (!Array.isArray(left) || sameFiles(left, files)) return undefined; // the legacy caller ignores a value that is no list
      const bootstrapFiles = left.map((file: unknown) =>
        typeof file === 'object' && file !== null ? definedFields(file) : file,
      );
      offered = bootstrapFiles;
      return { bootstrapFiles };
    },
  };
}

function sameFiles(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((file, i) => sameFile(file, other[i]));
}

function sameFile(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return one === other;
  const [a, b] = [
    Object.entries(definedFields(one)),
    new Map(Object.entries(definedFields(other))),
  ];
  return a.length === b.size && a.every(([key, value]) => b.get(key) === value);
}

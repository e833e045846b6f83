import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { JournalCounts } from '@sluice/journal';
import { backupJournal, newEnding, restoreJournal } from '@sluice/journal/internal';
import { isSluiceError } from 'sluice-kernel';
import { CommandError, interrupted } from '../errors/command-error.js';
import { checkFile } from '../errors/file-error.js';
import { withProgress } from '../print/progress-bar.js';
import { unwritable } from '../print/write-file.js';
import type { Action } from '../resource/resource.js';
import type { Shell } from '../shell/shell.js';
import { counted } from '../shell/text.js';
import { type JournalChoice, journalFile } from './journal-of.js';

/** The action that copies a journal, also while a host runs. */
export const backup: Action<JournalChoice> = {
  summary:
    'copy a journal into a new file, also while a host uses it, and look at every row of the copy',
  work: async ({ args: [file = ''], options, shell }) => {
    const path = await journalFile(options, shell);
    const to = resolve(shell.cwd, file);
    if (existsSync(to)) throw alreadyThere(to);
    const { bytes, counts } = await copying(
      { what: 'copied', from: path, to, part: `${to}.part`, options, shell },
      (stop) => backupJournal(path, to, stop),
    );
    const files = `${path}-state`;
    return {
      data: [{ journal: path, backup: to, bytes, ...counts }],
      lines: () => [
        `${to}: ${bytes} bytes, and every row of it is well; ${openIn(counts)}`,
        ...(existsSync(files)
          ? [`the files of extensions are not in it: copy the folder ${files}, too`]
          : []),
      ],
    };
  },
};

/** The action that puts a copy in the place of a journal. */
export const restore: Action<JournalChoice> = {
  summary:
    'put a backup in the place of the journal, while no host uses it: the journal as it was stays beside it',
  work: async ({ args: [file = ''], options, shell }) => {
    const path = await journalFile(options, shell, true);
    const from = resolve(shell.cwd, file);
    checkFile(from, from, 'Name a file that `sluice journal backup` has made.');
    const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
    const { bytes, counts, kept } = await inPlace(
      { what: 'restored', from, to: path, options, shell },
      (stop) => restoreJournal(path, from, stamp, stop),
    );
    return {
      data: [{ journal: path, backup: from, bytes, ...counts, kept }],
      lines: () => [
        `${path} is as ${from} has it; ${openIn(counts)}`,
        ...(kept === undefined ? [] : [`the journal as it was: ${kept}`]),
        'the next host goes on from there: what came to its end since then may be done again',
      ],
    };
  },
};

function openIn({ updates: { accepted, handling }, sends }: JournalCounts): string {
  const open = counted(accepted + handling, 'message', 'messages');
  return `${open} and ${counted(sends.prepared + sends.sending, 'send', 'sends')} in it have not ended`;
}

interface Copying {
  /** The word for it, as the bar has it. */
  readonly what: string;
  readonly from?: string;
  readonly to: string;
  readonly part: string;
  readonly options: JournalChoice;
  readonly shell: Shell;
}

/** Works on a journal in its place. @throws as `copying`. */
export function inPlace<T>(
  given: Omit<Copying, 'part'>,
  work: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  return copying({ ...given, part: given.to + newEnding }, work);
}

/**
 * Copies a journal, shows how much of it is copied, and names the file that is written in the errors of the file system.
 *
 * @throws CommandError `interrupted`, `file-exists` or `unwritable-file`; SluiceError.
 */
async function copying<T>(
  { what, to, from = to, part, options, shell }: Copying,
  copy: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = shell.takeStop();
  const copied = (): number | undefined => {
    const bytes = sizeOf(part) + sizeOf(`${part}-wal`);
    return bytes === 0 ? undefined : bytes / sizeOf(from);
  };
  try {
    return await withProgress(shell, options, what, () => copy(stop), copied);
  } catch (error) {
    if (stop.aborted && error === stop.reason) throw interrupted(stop, `${to} is as it was`);
    if (isSluiceError(error)) throw error;
    throw Object(error).code === 'EEXIST' ? alreadyThere(to, error) : unwritable(to, error);
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function alreadyThere(to: string, cause?: unknown): CommandError {
  const hint = `Name a new file, and remove ${to}.part if a copy was killed: nothing is replaced.`;
  return new CommandError('file-exists', `${to} or ${to}.part is there already`, hint, { cause });
}

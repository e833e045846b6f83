import type { JournalReader } from '@sluice/journal';
import { openUpdates } from '@sluice/journal/internal';
import type { Registration } from '@sluice/sdk/extension';
import { listItems } from '@sluice/sdk/extension/internal';
import { readItems } from '../inquiries/kept-items.js';
import { questionKind } from '../inquiries/question-row.js';
import { accountOfJobs, jobsChannel } from '../provided/jobs-channel.js';
import { schedulesNamespace } from './due-schedules.js';
import { isKeptTime, timesPrefix } from './kept-times.js';

/** A schedule or a question that the journal knows, and that no extension registers (extensions-that-act §5.4). */
export interface SuspendedName {
  /** `schedule:acme/tea` or `question:acme/deploy`. */
  readonly name: string;
  /** The runs, the times that were added, the open questions and the ends of questions that wait for it. */
  readonly waiting: number;
}

/** The rows of one kind that are read. */
const most = 1_000;

/**
 * Finds the schedules and questions that a journal keeps for names that nothing registers any more. Reads at most 1,000 rows of
 * each kind.
 *
 * @param registered the registrations of the extensions that are live.
 */
export async function suspendedNames(
  journal: Pick<JournalReader, 'keyValues' | 'updates'>,
  registered: readonly { readonly extensionId: string; readonly registration: Registration }[],
): Promise<readonly SuspendedName[]> {
  const { keyValues } = journal;
  const waiting = new Map<string, number>();
  const add = (name: string, more: number): void => {
    waiting.set(name, (waiting.get(name) ?? 0) + more);
  };
  for (const { key } of await keyValues.list(schedulesNamespace, { prefix: '', limit: most }))
    add(key, 0);
  for (const { extensionId, name } of await readItems(keyValues, questionKind, most))
    add(accountOfJobs({ kind: 'question', extensionId, name }).accountId, 1);
  for (const { namespace } of await keyValues.namespaces())
    if (namespace.startsWith(timesPrefix))
      for (const { item } of await listItems(keyValues, { isItem: isKeptTime }, namespace, {
        limit: most,
      }))
        if (item.name !== '') add(accountOfJobs({ ...item, kind: 'schedule' }).accountId, 1);
  const open = { states: openUpdates, limit: most, withoutBody: true };
  for (const { channel, accountId } of await journal.updates(open))
    if (channel === jobsChannel.id && !jobsChannel.accounts.includes(accountId)) add(accountId, 1);
  for (const { extensionId, registration } of registered)
    waiting.delete(accountOfJobs({ ...registration, extensionId }).accountId);
  return [...waiting].map(([name, count]) => ({ name, waiting: count }));
}

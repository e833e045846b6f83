import { randomUUID } from 'node:crypto';
import { digestOf, eventIdOf } from '@sluice/journal/internal';
import type { ExtensionHost, ExtensionMessage } from '@sluice/sdk/extension';
import { notPlain, readTimes } from '@sluice/sdk/extension/internal';
import { Recent } from '@sluice/sdk/stream/internal';
import { definedFields } from 'sluice-kernel/internal';
import { type extensionSends, sendIdOf } from '../egress/extension-sends.js';
import { hostError } from '../errors.js';
import { usualUpdateLength } from '../parts/options.js';
import type { HostParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';
import { accountOfJobs, sendAccount } from '../provided/jobs-channel.js';
import { boundedJson } from '../timeline/bounded-json.js';
import type { KeptTime, KeptTimes } from './kept-times.js';

/** Keys that a host without a journal in a file remembers. */
const keysInMemory = 10_000;
/** Milliseconds that a time may have passed: as late as a run may be. */
const graceMs = 60_000;
/** Milliseconds that a time may lie ahead: ten years. */
const furthestMs = 3_653 * 86_400_000;

type ReadLater = ReturnType<typeof extensionSends>['readLater'];

/** Keeps times that extensions add while the host runs (extensions-that-act §6.7). */
export function extensionTimes(
  parts: HostParts,
  times: KeptTimes,
  readLater: ReadLater,
): ExtensionHost['timesOf'] {
  const { clock } = parts;
  /** The newest keys, if the journal does not know those whose jobs have ended. */
  const known = new Recent<string, true>(keysInMemory);
  const { maxUpdateLength: maxLength = usualUpdateLength } = parts.options.journal;

  return (extensionId, name) => {
    const idOf = (key: string) =>
      name === '' ? sendIdOf(extensionId, key) : digestOf(['times', extensionId, name, key]);
    const namesOf = (key: string) => ({ extensionId, name, id: idOf(key) });

    return {
      add: async ({ key = randomUUID(), data: given, ...when }) => {
        const refuse = (problem: string): never => {
          throw hostError('bad-time', { extensionId, key, problem });
        };
        const read = 'misfire' in when ? 'there is no option "misfire"' : readTimes(when);
        const { spec, nextDue } = typeof read === 'string' ? refuse(read) : read;
        const wrong = given === undefined || name === '' ? undefined : notPlain(given, 'data');
        if (wrong !== undefined) refuse(`${wrong.path}: ${wrong.problem}`);
        const { job, data, account, isSent, counted } = await jobOf(readLater, {
          extensionId,
          name,
          key,
          spec,
          data: given,
        });
        const names = namesOf(key);
        const { id } = names;
        const digest = digestOf([data ?? null, when.cron ?? null]);
        const asKept = (kept: KeptTime) => {
          if (kept.digest !== digest) throw hostError('key-conflict', { extensionId, key });
          return { key, id, dueAt: kept.dueAtMs, data };
        };
        const there = await times.entered(names);
        if (there !== undefined) return asKept(there);
        const before = isSent || known.has(id) ? [id] : await takenIn(parts, account, id);
        if (before.length > 0) return { key, id, data };
        const nowMs = clock.now();
        const dueAtMs =
          nextDue(nowMs - (when.cron === undefined ? graceMs : 0)) ?? refuse('its time has passed');
        if (dueAtMs > nowMs + furthestMs) refuse('its time is more than ten years ahead');
        if ('problem' in boundedJson(job, { maxLength }))
          refuse(`it is too long: a job has ${maxLength} characters at most`);
        counted?.();
        const row = { ...names, key, job, spec, digest, dueAtMs, ...definedFields({ data }) };
        const added = asKept(await times.add(row)); // another call with its key may have come first
        if (!parts.backlog.mayDefer && when.cron === undefined) known.set(id, true);
        return added;
      },
      list: async () => {
        const rows = await times.list(extensionId, name);
        return rows.map(({ key, id, dueAtMs: dueAt, data }) => ({ key, id, dueAt, data }));
      },
      cancel: async (key) => {
        const isCancelled = await times.cancel(namesOf(key));
        if (isCancelled) known.delete(idOf(key)); // one that has come keeps its key
        return isCancelled;
      },
    };
  };
}

/** Finds the update of a job. */
function takenIn({ journal }: HostParts, { channel, accountId }: RunningAccount, id: string) {
  const eventId = eventIdOf(channel.id, accountId, id);
  return journal.updates({ eventId, limit: 1, withoutBody: true });
}

/** Makes the job of a time, and finds whether its key was taken in before. */
async function jobOf(
  readLater: ReadLater,
  {
    extensionId,
    name,
    key,
    spec,
    data,
  }: Pick<KeptTime, 'extensionId' | 'name' | 'key' | 'spec' | 'data'>,
) {
  if (name === '') {
    const { after, ...kept } = data as ExtensionMessage; // as api.send was given it
    const read = await readLater(extensionId, key, { ...kept, ...definedFields({ after }) });
    return { ...read, data: kept, account: sendAccount };
  }
  const about = { kind: 'schedule', extensionId, name } as const;
  const job = { ...about, added: { key, spec, ...definedFields({ data }) } };
  return { job, data, account: accountOfJobs(about), isSent: false, counted: undefined };
}

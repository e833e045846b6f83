import { randomUUID } from 'node:crypto';
import { digestOf, problemOfText } from '@sluice/journal/internal';
import type { ExtensionHost } from '@sluice/sdk/extension';
import { Recent } from '@sluice/sdk/stream/internal';
import { hostError } from '../errors.js';
import type { InjectJob } from '../jobs/job.js';
import { usualUpdateLength } from '../parts/options.js';
import type { HostParts } from '../parts/parts.js';
import { injectAccount } from '../provided/jobs-channel.js';
import { boundedJson } from '../timeline/bounded-json.js';
import { receiveUpdate } from './receive-update.js';

/** Keys that a host without a journal in a file remembers. */
const keysInMemory = 10_000;

/** Takes the injections of extensions in, as updates of the host (extensions-that-act §5.2). */
export function extensionInjects(parts: HostParts): ExtensionHost['inject'] {
  /** The newest keys, if the journal does not know those that have ended. */
  const known = new Recent<string, true>(keysInMemory);

  return async (extensionId, sessionKey, text, { key } = {}) => {
    const wrong = problemOf(sessionKey, text);
    if (wrong !== undefined) throw hostError('bad-injection', { extensionId, problem: wrong });
    const raw: InjectJob = { kind: 'inject', extensionId, sessionKey, text };
    const { maxUpdateLength: maxLength = usualUpdateLength } = parts.options.journal;
    const problem = `its text is too long: a job has ${maxLength} characters at most`;
    if ('problem' in boundedJson(raw, { maxLength }))
      throw hostError('bad-injection', { extensionId, problem }); // a host after this one would not find it
    const updateId = key === undefined ? randomUUID() : digestOf([extensionId, key]);
    if (known.has(updateId)) return;
    if (key !== undefined && !parts.backlog.mayDefer) known.set(updateId, true);
    const taken = await receiveUpdate(parts, injectAccount, { raw, updateId });
    if (taken === undefined) return;
    known.delete(updateId);
    throw hostError('not-kept', { extensionId, problem: 'the journal could not keep it' });
  };
}

/** Names the fault of an injection that comes from outside the types. */
function problemOf(sessionKey: unknown, text: unknown): string | undefined {
  if (typeof sessionKey !== 'string' || sessionKey === '') return 'it names no session';
  const problem = problemOfText(sessionKey);
  if (problem !== undefined) return `the key of its session is ${problem}`;
  return typeof text === 'string' && text.trim() !== '' ? undefined : 'it has no text';
}

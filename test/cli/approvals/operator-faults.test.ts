import { expect, it } from 'vitest';
import { answerAsOperator, approvalsIn } from '../../../src/cli/approvals/approvals.js';
import type { ApprovalRow } from '../../../src/host/internal.js';
import { journalError } from '../../../src/journal/errors.js';
import type { KeyValues } from '../../../src/sdk/extension/index.js';
import { memoryKeyValues } from '../../../src/sdk/extension/internal.js';

const askedAtMs = Date.now();
const row: ApprovalRow = {
  ...{ id: 'abcdef0123456789', state: 'pending', correlationId: 'u-1', eventId: 'e-1' },
  ...{ family: 'agent.tool.calling', about: 'tool deploy', payload: '{}', sessionKey: 's' },
  question: {
    ...{ title: 'Deploy?', of: 'owner', scopes: ['tool'] },
    asker: { extensionId: 'guard', contributionId: 'deploys' },
  },
  ...{ askedAtMs, dueAtMs: askedAtMs + 3_600_000 },
};

/** Key-values of which one call fails: it is made, or it is not. */
function failingOnce(values: KeyValues, nth: number, isMade: boolean) {
  let count = 0;
  const once =
    <Given extends unknown[], T>(call: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      const isFailing = ++count === nth;
      if (!isFailing) return call(...given);
      if (isMade) await call(...given);
      throw journalError('database-io', { path: 'memory', problem: 'no answer' });
    };
  const { get, list, namespaces, write } = values;
  const failing: KeyValues = {
    ...values,
    ...{ get: once(get), list: once(list), namespaces: once(namespaces), write: once(write) },
  };
  return { failing, count: () => count };
}

it.each([true, false])(
  'an answer of an operator for always is told as it came, whichever single call of the journal fails, if made: %s (judgement §4.19, judgement §4.22)',
  async (isMade) => {
    for (let nth = 1, isOver = false; !isOver; nth++) {
      const values = memoryKeyValues();
      await values.write('/approvals/asked', row.id, { body: JSON.stringify(row) }, {});
      const { failing, count } = failingOnce(values, nth, isMade);
      const given = { id: 'abcdef', state: 'allowed', scope: 'tool' } as const;
      const { ended, grant } = await answerAsOperator(failing, given);
      expect([nth, ended.state, ended.always, grant?.scope]).toEqual([
        nth,
        'allowed',
        'tool',
        'tool',
      ]);
      const approvals = approvalsIn(values);
      expect(await approvals.load()).toMatchObject([{ state: 'allowed', always: 'tool' }]);
      expect(await approvals.grants.list()).toHaveLength(1);
      isOver = count() < nth;
    }
  },
);

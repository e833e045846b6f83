import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../src/journal/index.js';
import { entryKinds } from '../../../src/journal/internal.js';
import { scrubber } from '../../../src/journal/privacy/scrub.js';
import { virtualClock } from '../../../src/testing/index.js';
import { testFolder } from '../../support/folder.js';
import { hostLab } from '../../support/host-lab.js';

const mail = 'ada@leak.example';

async function labWith(scrub?: ReturnType<typeof scrubber>, isMutated = false) {
  const clock = virtualClock();
  const journal = await openJournal(join(testFolder(), 'sluice.db'), { clock, scrub });
  const lab = await hostLab({
    ...{ journal, store: journal.store, clock },
    contribute: (kernel) => {
      if (!isMutated) return;
      kernel.contribute<'egress.preparing', 'mutator'>({
        ...{ extensionId: 'mine', id: 'words', family: 'egress.preparing', class: 'mutator' },
        handler: ({ payload }) => ({ content: payload.content.replace(mail, 'somebody') }),
      });
    },
  });
  return { lab, journal };
}

describe('the words of a send that has ended', () => {
  it('are those that egress.preparing has passed, without a scrub, too (durability §13.5)', async () => {
    const { lab, journal } = await labWith(undefined, true);
    await using _ = lab;
    await lab.say(`write to ${mail}`);
    const [send] = await journal.sends();
    expect(lab.texts().join()).toContain('somebody');
    expect(JSON.parse(send?.body ?? '').content).toBe('write to somebody');
  });

  it('are as they were emitted if no handler has changed them', async () => {
    const { lab, journal } = await labWith();
    await using _ = lab;
    await lab.say(`write to ${mail}`);
    expect((await journal.sends())[0]?.body).toContain(mail);
  });
});

describe('a host that scrubs', () => {
  it('answers with all words, and keeps none of them in a row (durability §13.1)', async () => {
    const { lab, journal } = await labWith(scrubber({ patterns: { email: true } }));
    await using _ = lab;
    expect(await lab.say(`write to ${mail}`)).toMatchObject({ status: 'answered' });
    expect(lab.texts().join()).toContain(mail);
    const rows = [
      ...(await journal.updates()),
      ...(await journal.sends()),
      ...(await journal.dispatches({ kinds: entryKinds })),
      ...(await journal.store.readTranscript(lab.outcomes.at(-1)?.event.sessionId ?? '')),
    ];
    expect(rows.length).toBeGreaterThan(5);
    expect(JSON.stringify(rows)).toContain('[email]');
    expect(JSON.stringify(rows)).not.toContain(mail);
  });
});

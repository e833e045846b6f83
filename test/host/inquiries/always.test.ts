import { describe, expect, it } from 'vitest';
import { memoryJournal } from '../../../src/journal/index.js';
import type { Principal } from '../../../src/kernel/internal.js';
import { approvalLab } from '../../support/approval-lab.js';
import { explained } from '../../support/explained.js';
import { type PortLabOptions, portLab, until } from '../../support/port-lab.js';

const ada: Principal = {
  ...{ channel: 'console', accountId: 'default', senderId: 'ada', isOwner: true, roles: ['owner'] },
};
const bob: Principal = { ...ada, senderId: 'bob', isOwner: false, roles: [] };
const day = 86_400_000;

/** A lab whose first question was answered with its button for "always", and the first answer used. */
async function answeredLab(options: PortLabOptions) {
  const lab = await portLab(options);
  lab.say('v1');
  await until(() => lab.asked().length === 1);
  lab.press(lab.button(2));
  await until(() => lab.ends.length === 2);
  await expect.poll(() => lab.rows()).toEqual([]);
  return lab;
}

/** Says something, and tells whether the agent was let go without a question. */
async function isLetGo(lab: Awaited<ReturnType<typeof portLab>>, what: string, who?: string) {
  const before = lab.asked().length;
  lab.say(what, what, who);
  await until(() => lab.ran.includes(what) || lab.asked().length > before);
  return lab.asked().length === before;
}

describe('"always"', () => {
  it('is offered for the scopes of the asker that are known, and for no other (judgement §4.22)', async () => {
    const lab = await portLab({ question: { scopes: ['tool', 'principal'] } });
    lab.say('v1');
    await until(() => lab.asked().length === 1);
    const { content = '', interactive } = lab.asked()[0] ?? {};
    expect(interactive?.buttons?.map(({ label }) => label)).toEqual([
      ...['Allow', 'Deny', 'Always for this tool'],
    ]);
    expect(content).toContain(`/approve ${lab.idOf()} always tool.`);
    lab.say(`/approve ${lab.idOf()} always session`);
    lab.press(lab.button().replace(/0$/, '4')); // a button that the question does not have
    await until(() => lab.texts().filter((text) => text.endsWith('with: tool.')).length === 2);
    expect(await lab.rows()).toMatchObject([{ state: 'pending' }]);
    await lab.stop();
    const other = await portLab();
    other.say('v1');
    await until(() => other.asked().length === 1);
    expect(other.asked()[0]?.interactive?.buttons).toHaveLength(2);
    other.say(`/approve ${other.idOf()} always tool`);
    await until(() => other.texts().some((text) => text.includes('cannot be given for always')));
    expect(await other.rows()).toMatchObject([{ state: 'pending' }]);
    await other.stop();
  });

  it('answers later questions of the asker about the tool, for 30 days by the clock (judgement §4.22, judgement §4.24)', async () => {
    const journal = memoryJournal();
    const question = { scopes: ['tool'] } as const;
    const lab = await answeredLab({ journal, question });
    expect(lab.texts().join()).toContain('is allowed, and for 30 days always for this tool');
    expect(await isLetGo(lab, 'v2')).toBe(true);
    expect(await lab.parts.approvals.grants.list()).toMatchObject([{ uses: 1 }]);
    await lab.stop();
    const { clock } = lab;
    await clock.advance(30 * day - 60_000);
    const last = await portLab({ journal, clock, question });
    expect(await isLetGo(last, 'v3')).toBe(true);
    await last.clock.advance(60_000);
    expect(await isLetGo(last, 'v4')).toBe(false);
    await last.stop();
  });

  it('is not for another asker, nor for what the asker does not offer any more (judgement §4.23, judgement §4.24)', async () => {
    const journal = memoryJournal();
    const lab = await answeredLab({ journal, question: { scopes: ['tool'] } });
    await lab.stop();
    const { clock } = lab;
    const asker = { extensionId: 'guard', contributionId: 'other' };
    for (const question of [
      { scopes: ['tool'], asker },
      { scopes: ['tool'], of: { role: 'owner' } },
      { scopes: [] },
      { scopes: ['session'] },
    ] as const) {
      const other = await portLab({ journal: memoryJournal(), clock, question });
      await copyGrants(journal, other.journal);
      expect(await isLetGo(other, 'v2')).toBe(false);
      await other.stop();
    }
  });

  it('for a session is not for another session (judgement §4.23)', async () => {
    const lab = await answeredLab({ question: { scopes: ['session'] } });
    expect(await isLetGo(lab, 'v2')).toBe(true);
    expect(await isLetGo(lab, 'v3', 'console:bob')).toBe(false);
    await lab.stop();
  });

  it('for a principal is not for another, and a principal answers for himself alone (judgement §4.23)', async () => {
    for (const question of [
      { scopes: ['principal'] },
      { scopes: ['tool'], of: 'principal' },
    ] as const) {
      const journal = memoryJournal();
      const lab = await answeredLab({ journal, question, principal: ada });
      expect(await isLetGo(lab, 'v2')).toBe(true);
      await lab.stop();
      const other = await portLab({ journal, clock: lab.clock, question, principal: bob });
      expect(await isLetGo(other, 'v3')).toBe(false);
      await other.stop();
    }
  });

  it('is listed, and revoked by whoever may answer (judgement §4.25)', async () => {
    const lab = await portLab({
      ...{ question: { scopes: ['tool'] }, argsOf: (said) => said.split('+') },
    });
    lab.say('v1+v2');
    await until(() => lab.asked().length === 1);
    lab.say(`/approve ${lab.idOf()} always tool`);
    await until(() => lab.ran.length === 2);
    const [grant] = await lab.parts.approvals.grants.list();
    const id = grant?.id.slice(0, 8) ?? '';
    lab.say('/approvals');
    await until(() => lab.texts().some((text) => text.includes(`${id}  always for this tool`)));
    lab.say(`/approvals revoke ${id}`);
    await until(() => lab.texts().includes(`${id} is revoked.`));
    expect(await isLetGo(lab, 'v3')).toBe(false);
    await lab.stop();
  });

  it('that was revoked does not come back by its answer, which the next host reads (judgement §4.25)', async () => {
    const journal = memoryJournal();
    const question = { scopes: ['tool'] } as const;
    const first = await portLab({ journal, question, hangs: true });
    first.say('v1');
    await until(() => first.asked().length === 1);
    first.press(first.button(2));
    await until(() => first.ran.length === 1);
    const { grants } = first.parts.approvals;
    for (const grant of await grants.list()) expect(await grants.revoke(grant)).toBe(true);
    await first.kill();
    expect(await first.rows()).toMatchObject([{ state: 'used', always: 'tool' }]);
    const next = await portLab({ journal, question, clock: first.clock });
    expect(await next.parts.approvals.grants.list()).toEqual([]);
    await next.stop();
  });

  it('is neither listed for strangers nor revoked by them (judgement §4.25)', async () => {
    const journal = memoryJournal();
    const lab = await answeredLab({ journal, question: { scopes: ['tool'] } });
    const [grant] = await lab.parts.approvals.grants.list();
    await lab.stop();
    const stranger = await portLab({ journal, clock: lab.clock, channelId: 'scripted' });
    stranger.say('/approvals');
    await until(() => stranger.texts().includes('No approval waits for you.'));
    stranger.say(`/approvals revoke ${grant?.id}`);
    await until(() => stranger.texts().some((text) => text.startsWith('You have no such')));
    expect(await stranger.parts.approvals.grants.list()).toHaveLength(1);
    await stranger.stop();
  });

  it('that is revoked before the action refuses it (judgement §4.24)', async () => {
    const lab = await answeredLab({ question: { scopes: ['tool'] } });
    const { grants } = lab.parts.approvals;
    const [grant] = await grants.list();
    if (grant === undefined) throw new Error('it is persisted');
    expect(await grants.revoke(grant)).toBe(true);
    expect(await grants.use(grant)).toBe(false);
    expect(await grants.revoke(grant)).toBe(false);
    await lab.stop();
  });

  it('does not answer about a call that may have happened already (judgement §4.24)', async () => {
    const journal = memoryJournal();
    const question = { scopes: ['tool'] } as const;
    const first = await portLab({ journal, question, hangs: true });
    first.say('v2');
    await until(() => first.asked().length === 1);
    first.press(first.button(2));
    await until(() => first.ran.length === 1);
    await first.kill();
    const next = await portLab({ journal, question, clock: first.clock });
    await until(() => next.asked().length === 1);
    expect(next.asked()[0]?.content).toContain('may have happened already');
    expect(next.ran).toEqual([]);
    await next.stop();
  });

  it('that was said while no host ran is kept by the next (judgement §4.22)', async () => {
    const journal = memoryJournal();
    const question = { scopes: ['tool'] } as const;
    const first = await portLab({ journal, question });
    first.say('v2');
    await until(() => first.asked().length === 1);
    await first.kill();
    const [row] = await journal.keyValues.list('/approvals/asked', { prefix: '', limit: 1 });
    if (row === undefined) throw new Error('it is asked');
    const answer = {
      state: 'allowed',
      always: 'tool',
      answeredBy: 'operator',
      endedAtMs: first.clock.now(),
    };
    const body = JSON.stringify({ ...JSON.parse(row.body), ...answer });
    const quota = { maxKeys: 10, maxBytes: 100_000 };
    await journal.keyValues.write('/approvals/asked', row.key, { body }, { quota });
    const next = await portLab({ journal, question, clock: first.clock });
    await until(() => next.ran.length === 1);
    expect(await isLetGo(next, 'v3')).toBe(true);
    await next.stop();
  });
});

async function copyGrants(
  from: ReturnType<typeof memoryJournal>,
  to: { readonly keyValues: ReturnType<typeof memoryJournal>['keyValues'] },
): Promise<void> {
  const rows = await from.keyValues.list('/always/granted', { prefix: '', limit: 10 });
  expect(rows).toHaveLength(1);
  const quota = { maxKeys: 10, maxBytes: 100_000 };
  for (const { key, body } of rows)
    await to.keyValues.write('/always/granted', key, { body }, { quota });
}

describe('the answer to a question', () => {
  const guarded = (question: Parameters<typeof approvalLab>[0]) =>
    approvalLab({ journal: memoryJournal(), ...question });
  const howOf = (lab: Awaited<ReturnType<typeof guarded>>): readonly unknown[] =>
    lab.of('agent.tool.calling').flatMap(({ answered = [] }) => answered.map(({ how }) => how));

  it('is named by the outcome, which explain prints: who, when, and for how long (judgement §4.27)', async () => {
    await using lab = await guarded({ question: { scopes: ['tool'] } });
    void lab.say('v1');
    await until(() => lab.asked().length === 1);
    await lab.say(`/approve ${lab.idOf()} always tool`);
    await until(() => lab.ran.length === 1);
    await lab.say('v2');
    expect(lab.ran).toEqual(['v1', 'v2']);
    expect(lab.asked()).toHaveLength(1);
    const [first, second] = howOf(lab);
    const by = /by scripted\/default:ada, owner, roles owner at \d{4}-\d\d-\d\dT[\d:.]+Z/.source;
    expect(first).toMatch(new RegExp(`^always for this tool, ${by} \\([0-9a-f]{8}\\)$`));
    expect(second).toMatch(
      new RegExp(`^"always" for this tool, ${by}, until \\d{4}-\\d\\d-\\d\\d \\([0-9a-f]{8}\\)$`),
    );
    const outcome = lab.of('agent.tool.calling').at(-1);
    if (outcome === undefined) throw new Error('it was dispatched');
    expect(explained(outcome)).toContain(
      `  a human allowed what acting/deploys had asked: ${String(second)}`,
    );
  });

  it('that holds for a principal is shown to him with its giver, and he may not revoke it (judgement §4.25, judgement §4.27)', async () => {
    const lab = await answeredLab({ question: { scopes: ['principal'] }, principal: bob });
    const sayAs = async (from: string, text: string): Promise<string> => {
      const ended = lab.ends.length;
      await lab.channel.receive({ text, from, conversation: `console:${from}` }, `${from} ${text}`);
      await until(() => lab.ends.length > ended);
      return lab.texts().at(-1) ?? '';
    };
    const listed = await sayAs('bob', '/approvals');
    expect(listed).toContain('given by console/default:ada');
    const [grant] = await lab.parts.approvals.grants.list();
    const refused = await sayAs('bob', `/approvals revoke ${grant?.id}`);
    expect(refused).toContain('You have no such "always"');
    expect(await sayAs('eve', '/approvals')).toBe('No approval waits for you.');
    await lab.stop();
  });
});

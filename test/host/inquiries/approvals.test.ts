import { describe, expect, it } from 'vitest';
import { memoryJournal, openJournal } from '../../../src/journal/index.js';
import { eventIdOf } from '../../../src/journal/internal.js';
import { portLab, until } from '../../support/port-lab.js';

describe('a question to a human', () => {
  it('is on the disk before anybody is asked, and a press of its button is the answer (judgement §4.14, judgement §4.16)', async () => {
    const lab = await portLab();
    lab.say('v2');
    await until(() => lab.asked().length === 1);
    expect(await lab.rows()).toMatchObject([{ state: 'pending' }]);
    const { content } = lab.asked()[0] ?? { content: '' };
    expect(content).toContain('Approval needed: Deploy?');
    expect(content).toContain('tool deploy\n  what: v2\n  token: [redacted]\n');
    expect(content).toContain(`/approve ${lab.idOf()}`);
    lab.press(lab.button());
    await until(() => lab.ends.length === 2);
    expect(lab.ran).toEqual(['v2']);
    expect(lab.ends.map(({ status }) => status).sort()).toEqual(['answer', 'answered']);
    await expect.poll(() => lab.rows()).toEqual([]);
    expect(lab.texts()).toContain(`${lab.idOf()} is allowed.`);
    await lab.stop();
  });

  it('is denied with a reason that the agent reads; a second answer changes nothing (judgement §4.19)', async () => {
    const lab = await portLab({ argsOf: () => ['v2', 'v3'] });
    lab.say('all');
    await until(() => lab.asked().length === 1);
    const first = lab.button();
    lab.say(`/deny ${lab.idOf()} not on a Friday`);
    await until(() => lab.asked().length === 2);
    lab.press(first);
    await until(() => lab.texts().includes('This approval is not open any more.'));
    lab.say('/approve 00000000');
    await until(() => lab.ends.length === 3);
    expect(lab.ran).toEqual([]);
    lab.say(`/approve ${lab.idOf()}`);
    await until(() => lab.ends.length === 5);
    expect(lab.ran).toEqual(['v3']);
    expect(lab.texts()).toContain('denied: not on a Friday, allowed');
    await lab.stop();
  });

  it('is not answered by somebody who may not, nor for a principal that nobody has proven (judgement §4.18)', async () => {
    const lab = await portLab({ channelId: 'scripted' });
    lab.say('v2');
    await until(() => lab.asked().length === 1);
    lab.press(lab.button());
    lab.say(`/approve ${lab.idOf()}`);
    await until(() => lab.ends.length === 2);
    expect(lab.texts().filter((text) => text.startsWith('You may not answer this'))).toHaveLength(
      2,
    );
    lab.say('/approvals');
    await until(() => lab.texts().includes('No approval waits for you.'));
    expect(await lab.rows()).toMatchObject([{ state: 'pending' }]);
    await lab.stop();
    const other = await portLab({ question: { of: 'principal' } });
    other.say('v2');
    await until(() => other.ends.length === 1);
    expect(other.asked()).toEqual([]);
    expect(other.texts()[0]).toContain('denied: nobody could be asked');
    await other.stop();
  });

  it('that nobody answers in time is a denial (judgement §4.20)', async () => {
    const lab = await portLab({ approvals: { timeoutMs: 60_000 } });
    lab.say('v2');
    await until(() => lab.asked().length === 1);
    await lab.clock.advance(59_000);
    expect(lab.ends).toEqual([]);
    await lab.clock.advance(2_000);
    await until(() => lab.ends.length === 1);
    expect(lab.texts().at(-1)).toBe('expired');
    expect(lab.ran).toEqual([]);
    await lab.stop();
  });

  it('goes to the conversation that the config names, and is listed for those who may answer (judgement §4.16, judgement §4.19)', async () => {
    const to = { channel: 'console', accountId: 'default', to: 'console:ops' };
    const lab = await portLab({ approvals: { to } });
    lab.say('v2');
    await until(() => lab.asked().length === 1);
    expect(lab.asked()[0]).toMatchObject({ to: 'console:ops' });
    lab.say('/approvals');
    await until(() => lab.texts().some((text) => text.startsWith(`${lab.idOf()}  1 hour left`)));
    await lab.stop();
  });

  it('whose answer is not used is told to the approver when the message ends (judgement §4.21)', async () => {
    const lab = await portLab({ isIdle: true });
    lab.say('v2');
    await until(() => lab.asked().length === 1);
    lab.press(lab.button());
    await until(() => lab.texts().some((text) => text.includes('was allowed, and was not used')));
    await lab.stop();
  });
});

describe.each([
  ['in memory', async () => memoryJournal()],
  ['in a file', () => openJournal(':memory:')],
] as const)('after a restart, with a journal %s,', (_, journalOf) => {
  it('a message with an open question is not begun before it is answered, and then takes the answer (judgement §4.21)', async () => {
    const journal = await journalOf();
    const ran: string[] = [];
    const first = await portLab({ journal, ran });
    first.say('v2');
    await until(() => first.asked().length === 1);
    const button = first.button();
    await first.kill();
    const { clock } = first;
    const next = await portLab({ journal, ran, clock });
    next.say('later');
    await clock.advance(5_000);
    expect(next.begun).toEqual([]);
    next.press(button);
    await until(() => next.begun.length > 0);
    await until(() => ran.length === 1);
    expect(ran).toEqual(['v2']);
    expect(next.asked().filter(({ content }) => content.includes('v2'))).toEqual([]); // it was asked once
    await until(() => next.begun.length === 2);
    expect(next.begun).toEqual(['v2', 'later']);
    await next.stop();
  });

  it('its deadline begins it, too, and then it is denied (judgement §4.21)', async () => {
    const journal = await journalOf();
    const first = await portLab({ journal, approvals: { timeoutMs: 60_000 } });
    first.say('v2');
    await until(() => first.asked().length === 1);
    await first.kill();
    const next = await portLab({ journal, clock: first.clock });
    await next.clock.advance(61_000);
    await until(() => next.ends.length === 1);
    expect(next.texts()).toEqual(['expired']);
    await next.stop();
  });

  it('other arguments ask anew, and the answer that nobody wanted is told (judgement §4.15, judgement §4.21)', async () => {
    const journal = await journalOf();
    const first = await portLab({ journal });
    first.say('v2');
    await until(() => first.asked().length === 1);
    const button = first.button();
    await first.kill();
    const next = await portLab({ journal, clock: first.clock, argsOf: () => ['v3'] });
    next.press(button);
    await until(() => next.asked().length === 1);
    expect(next.asked()[0]?.content).toContain('what: v3');
    next.press(next.button(1));
    await until(() => next.texts().some((text) => text.includes('was allowed, and was not used')));
    expect(next.ran).toEqual([]);
    await next.stop();
  });

  it('a call that was let go and has no result is asked anew, and the question says so (judgement §4.21)', async () => {
    const journal = await journalOf();
    const first = await portLab({ journal, hangs: true });
    first.say('v2');
    await until(() => first.asked().length === 1);
    first.press(first.button());
    await until(() => first.ran.length === 1);
    expect(await first.rows()).toMatchObject([{ state: 'used' }]);
    await first.kill();
    const next = await portLab({ journal, clock: first.clock });
    await until(() => next.asked().length === 1);
    expect(next.asked()[0]?.content).toContain('may have happened already');
    expect(next.ran).toEqual([]);
    next.press(next.button());
    await until(() => next.ran.length === 1);
    await next.stop();
  });

  it('a crash suspect that waits for a person takes no last attempt of a young host: another one is begun in its time (durability §7.7, judgement §4.21)', async () => {
    const journal = memoryJournal();
    /** Leaves a message that so many hosts have begun, and ended with. */
    const leave = async (text: string, deaths: number): Promise<void> => {
      const eventId = eventIdOf('console', 'default', text);
      const lane = JSON.stringify(['console', 'default', text, '']);
      const about = { channel: 'console', accountId: 'default', updateId: text, receivedAtMs: 0 };
      const body = JSON.stringify({ text, conversation: text });
      await journal.accept({ eventId, ...about, lane, body });
      for (let times = 0; times < deaths; times++) await journal.begin(eventId);
    };
    await leave('asks', 1);
    const first = await portLab({ journal });
    await until(() => first.asked().length === 1);
    await first.kill();
    await leave('other', 2);
    const next = await portLab({ journal, clock: first.clock, lastAttemptAfterMs: 1_000 });
    await next.clock.advance(1_000);
    expect(next.begun).toEqual(['other']);
    await next.stop();
  });
});

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../extensions/guard/src/asking/words.js';
import { readDoor } from '../../../extensions/guard/src/door/place.js';
import {
  askDoor,
  type GuardLab,
  guardLab,
  preToolUse,
  refusalIn,
} from '../../support/guard-lab.js';

const admin = { from: 'ada', conversation: 'ops', roles: ['admin'] };

/** The questions that were sent. */
const questions = ({ test }: GuardLab): readonly string[] =>
  test.replies().filter((text) => text.includes('(rule '));

/** Has Claude call a command that is asked about, and waits until the question is out. */
async function asked(lab: GuardLab, command: string, more?: object) {
  const before = questions(lab).length;
  const words = lab.call(command, more);
  await expect.poll(() => questions(lab).length).toBe(before + 1);
  return { words };
}

/** The person presses a button. */
const press = (lab: GuardLab, label: string, from: object = admin) => lab.test.press(label, from);

describe('a guard that asks', () => {
  it('shows the whole call, with the rule, and who may answer', async () => {
    await using lab = await guardLab();
    const { words } = await asked(lab, 'deploy a\u202eb\u0007 c');
    expect(questions(lab)).toEqual([
      [
        'Deploy? (rule deploys)',
        'Claude Code, in /tmp:',
        'shell\ncommand: deploy a\\u{202e}b\\u{7} c',
        'Only somebody with the role "admin" may answer. A text in place of a button denies it, and is the reason.',
      ].join('\n\n'),
    ]);
    await press(lab, 'Deny');
    await words;
  });

  it('shows lines of an argument as no lines of the question', async () => {
    await using lab = await guardLab();
    const { words } = await asked(lab, 'deploy\n\nshell\ncommand: ls');
    expect(questions(lab)[0]).toContain(
      'shell\ncommand: deploy\n  \n  shell\n  command: ls\n\nOnly',
    );
    await press(lab, 'Deny');
    await words;
  });

  it('lets a call go on that waits for the yes, once', async () => {
    await using lab = await guardLab();
    const first = await asked(lab, 'deploy');
    await press(lab, 'Allow once');
    expect(await first.words).toBeUndefined();
    const outcome = lab.test.of('agent.tool.calling').at(-1);
    expect(outcome?.answered).toMatchObject([{ contributionId: 'deploys', how: 'ada on fake' }]);
    const second = await asked(lab, 'deploy');
    await press(lab, 'Deny');
    expect(await second.words).toBe('a human denied it');
  });

  it('gives one of two equal calls the yes, and asks about the other', async () => {
    await using lab = await guardLab();
    const first = await asked(lab, 'deploy');
    const second = lab.call('deploy');
    await expect.poll(() => lab.test.of('agent.tool.calling').length).toBe(2);
    expect(questions(lab)).toHaveLength(1);
    await press(lab, 'Allow once');
    await expect.poll(() => questions(lab).length).toBe(2);
    await press(lab, 'Deny');
    const ends = await Promise.all([first.words, second]);
    expect(ends.filter((one) => one === undefined)).toHaveLength(1);
  });

  it('asks once about equal calls that come at one moment', async () => {
    await using lab = await guardLab();
    const calls = [1, 2, 3, 4].map(() => lab.call('deploy'));
    await expect.poll(() => questions(lab).length).toBe(1);
    await expect.poll(() => lab.test.of('agent.tool.calling').length).toBe(4);
    await press(lab, 'Allow in this session');
    expect(await Promise.all(calls)).toEqual([undefined, undefined, undefined, undefined]);
    expect(questions(lab)).toHaveLength(1);
  });

  it('denies when the agent waits no longer, and lets the next try pass by the answer', async () => {
    await using lab = await guardLab();
    const { words } = await asked(lab, 'deploy');
    await lab.test.clock.advance(600_000);
    expect(await words).toContain('nobody has answered yet: try exactly this call again');
    const again = lab.call('deploy');
    await expect.poll(() => lab.test.of('agent.tool.calling').length).toBe(2);
    await lab.test.clock.advance(600_000);
    expect(await again).toContain('try exactly this call again');
    expect(questions(lab)).toHaveLength(1);
    await press(lab, 'Allow once');
    expect(await lab.call('deploy')).toBeUndefined();
    expect(questions(lab)).toHaveLength(1);
  });

  it('binds a yes to the session, the folder, the tool and the exact arguments', async () => {
    await using lab = await guardLab();
    const { words } = await asked(lab, 'deploy');
    await press(lab, 'Allow in this session');
    expect(await words).toBeUndefined();
    expect(await lab.call('deploy')).toBeUndefined();
    expect(questions(lab)).toHaveLength(1);
    const others: readonly [string, object][] = [
      ['deploy ', {}],
      ['deploy', { session_id: 's2' }],
      ['deploy', { cwd: '/' }],
      ['deploy', { tool_input: { command: 'deploy', run_in_background: true } }],
    ];
    for (const [command, more] of others) {
      const other = await asked(lab, command, more);
      await press(lab, 'Deny');
      expect(await other.words).toBe('a human denied it');
    }
  });

  it('holds a yes for the repository in each session there, and nowhere else', async () => {
    await using lab = await guardLab();
    const { words } = await asked(lab, 'deploy', { cwd: lab.folder });
    await press(lab, 'Always in this repository');
    expect(await words).toBeUndefined();
    expect(await lab.call('deploy', { cwd: lab.folder, session_id: 's2' })).toBeUndefined();
    const elsewhere = await asked(lab, 'deploy', { cwd: '/', session_id: 's2' });
    await press(lab, 'Deny');
    await elsewhere.words;
  });

  it('tells the agent the words of a denial, and holds it for five minutes', async () => {
    await using lab = await guardLab();
    const { words } = await asked(lab, 'deploy');
    await lab.test.say({ ...admin, text: 'not on a Friday' });
    expect(await words).toBe('a human denied it: not on a Friday');
    expect(await lab.call('deploy')).toBe('a human denied it: not on a Friday');
    await lab.test.clock.advance(300_001);
    const later = await asked(lab, 'deploy');
    await press(lab, 'Allow once');
    expect(await later.words).toBeUndefined();
  });

  it('takes a word that names a scope as the reason of a denial', async () => {
    await using lab = await guardLab();
    const { words } = await asked(lab, 'deploy');
    await lab.test.say({ ...admin, text: 'repository' });
    expect(await words).toBe('a human denied it: repository');
  });

  it('takes no answer of somebody else, says so, and asks again', async () => {
    await using lab = await guardLab();
    const { words } = await asked(lab, 'deploy');
    await press(lab, 'Allow once', { from: 'eve', conversation: 'ops' });
    await expect.poll(() => questions(lab).length).toBe(2);
    expect(lab.test.replies()).toContain(
      'eve may not answer this: only somebody with the role "admin" may.',
    );
    await press(lab, 'Allow once', { ...admin, isUnproven: true });
    await expect.poll(() => questions(lab).length).toBe(3);
    await press(lab, 'Allow once');
    expect(await words).toBeUndefined();
  });

  it('gives a question up after five answers of somebody else', async () => {
    await using lab = await guardLab();
    const { words } = await asked(lab, 'deploy');
    for (let count = 1; count <= 5; count++) {
      await press(lab, 'Allow once', { from: 'eve', conversation: 'ops' });
      await expect.poll(() => questions(lab).length).toBe(count + 1);
    }
    await press(lab, 'Allow once', { from: 'eve', conversation: 'ops' });
    expect(await words).toContain('only somebody with the role "admin" may answer');
  });

  it('asks the role that a rule names, and lets the question expire in its time', async () => {
    await using lab = await guardLab();
    const first = await asked(lab, 'release');
    await press(lab, 'Allow once');
    await expect.poll(() => questions(lab).length).toBe(2);
    await press(lab, 'Allow once', { ...admin, roles: ['releaser'] });
    expect(await first.words).toBeUndefined();
    const second = await asked(lab, 'release');
    await lab.test.clock.advance(60_001);
    expect(await second.words).toBe('no human allowed it in time');
  });

  it('keeps sixteen questions open in a chat, and refuses a call beyond that', async () => {
    await using lab = await guardLab();
    const calls: Promise<string | undefined>[] = [];
    for (let at = 0; at < 16; at++) calls.push((await asked(lab, `deploy ${at}`)).words);
    expect(await lab.call('deploy more')).toContain('16 questions are open already');
    await press(lab, 'Deny');
    expect(await calls[15]).toBe('a human denied it');
    const more = await asked(lab, 'deploy more');
    await press(lab, 'Allow once');
    expect(await more.words).toBeUndefined();
    await lab.test.host.stop({ timeoutMs: 0 });
    for (const one of calls.slice(0, 15))
      expect(await one).toContain('try exactly this call again');
  });

  it('goes on after a reload: who waits is told to try again, and the answer is there', async () => {
    await using lab = await guardLab();
    const { words } = await asked(lab, 'deploy');
    await lab.test.host.reload('guard');
    expect(await words).toContain('try exactly this call again');
    await press(lab, 'Allow once');
    const body = preToolUse('deploy');
    const again = await askDoor(await readDoor(join(lab.folder, 'guard')), { body });
    expect(refusalIn(again)).toBeUndefined();
  });

  it('refuses what would be asked if it knows nobody to ask', async () => {
    await using lab = await guardLab({ asks: false });
    expect(await lab.call('deploy')).toBe('an approval is needed: Deploy?');
  });

  it('refuses what would be asked if the question cannot be sent', async () => {
    const to = { channel: 'nowhere', to: 'ops' };
    await using lab = await guardLab({ config: { ask: to } });
    expect(await lab.call('deploy')).toContain('nobody could be asked');
  });
});

describe('the digest of a call', () => {
  it('is the same for another order of keys, and another for another value', () => {
    const one = digestOf({ b: [1, { d: null, c: 'x' }], a: true });
    expect(digestOf({ a: true, b: [1, { c: 'x', d: null }] })).toBe(one);
    expect(digestOf({ a: true, b: [1, { c: 'x', d: 0 }] })).not.toBe(one);
    expect(digestOf(JSON.parse('{"__proto__":1}'))).not.toBe(digestOf({}));
  });
});

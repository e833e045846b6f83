import { expect, it } from 'vitest';
import type { CsdkFrame } from '../../../src/claude/index.js';
import type { FamilyName } from '../../../src/kernel/internal.js';
import { calls, held, says } from '../../support/messages-api/reply.js';
import { ClaudeLab, type ClaudeTurn, describeClaude, until } from './claude-lab.js';
import { expectSound } from './soundness.js';

const agent = (id: string, prompt: string, more: object = {}) =>
  calls(id, 'Agent', { description: id, prompt, subagent_type: 'general-purpose', ...more });
const bash = (id: string, command: string, more: object = {}) =>
  calls(id, 'Bash', { command, description: id, ...more });
const aside = { run_in_background: true };

/** Each call that was allowed is told as called, once, and nothing is called that was not (§16.3). */
function expectEachCalled(lab: ClaudeLab, ...names: readonly string[]): void {
  const told = (family: FamilyName) =>
    lab.test.outcomes
      .filter(({ event }) => event.family === family)
      .map(({ event }) => Object(event.payload))
      .map(({ toolName, toolCallId }) => `${toolName} ${toolCallId}`)
      .toSorted();
  expect(told('agent.tool.called')).toEqual(told('agent.tool.calling'));
  expect(told('agent.tool.called').map((one) => one.split(' ')[0])).toEqual(names);
}

/** A lab whose replies are made of it: they may wait for its frames and its requests. */
async function labOf(
  script: (lab: () => ClaudeLab) => Parameters<typeof ClaudeLab.start>[0],
  env: Readonly<Record<string, string>> = {},
) {
  let made: ClaudeLab | undefined;
  const lab = await ClaudeLab.start(
    script(() => made ?? expect.fail('it has not begun')),
    { idleTimeoutMs: 60_000, env },
  );
  made = lab;
  return lab;
}

const count = (lab: ClaudeLab, subtype: string): number =>
  lab.frames.filter((frame: CsdkFrame) => frame.subtype === subtype).length;
const asked = (lab: ClaudeLab, lane: string): number =>
  lab.api.requests.filter((one) => one.lane === lane).length;

async function expectAll(turn: ClaudeTurn, lab: ClaudeLab, texts: readonly string[]) {
  expect(turn.result.status).toBe('completed');
  expect(lab.api.sent).toEqual(texts);
  await expectSound(turn, texts);
}

/** The SDK says when it is idle, or, as the operator may ask, it does not. */
const silent = { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '0' };

describeClaude('what goes on in the background of the real SDK (csdk §7.2)', () => {
  it.each([
    ['', {}, 'session_state_changed'],
    [', where the SDK does not tell its state', silent, 'success'],
  ])(
    'is told in order, once: a report that comes while the first one is answered%s',
    async (_, env, last) => {
      const script = (of: () => ClaudeLab) => ({
        main: [
          says('Two go.', agent('toolu_1', 'LANE ONE'), agent('toolu_2', 'LANE TWO')),
          says('They went.'),
          held(() => until(() => count(of(), 'task_notification') === 2), 'One is back.'),
          says('Two is back.'),
        ],
        lanes: {
          'LANE ONE': [held(() => until(() => asked(of(), 'main') === 2), 'Report one.')],
          'LANE TWO': [held(() => until(() => asked(of(), 'main') === 3), 'Report two.')],
        },
      });
      await using lab = await labOf(script, env);
      const turn = await lab.turn('Delegate');
      await expectAll(turn, lab, ['Two go.', 'They went.', 'One is back.', 'Two is back.']);
      expectEachCalled(lab, 'Agent', 'Agent');
      expect(turn.frames.at(-1)).toMatchObject({ subtype: last });
    },
  );

  it.each([
    ['before the main answer has ended', 'sleep 0.1', 1, {}],
    ['before it, where the SDK does not tell its state', 'sleep 0.1', 1, silent],
    ['after it', 'sleep 2', 0, {}],
    ['after it, where the SDK does not tell its state', 'sleep 2', 0, silent],
  ])('is told: a command that ends %s', async (_when, command, ended, env) => {
    const script = (of: () => ClaudeLab) => ({
      main: [
        says('It runs.', bash('toolu_b', command, aside)),
        held(() => until(() => count(of(), 'task_notification') >= ended), 'I wait.'),
        says('It ran.'),
      ],
    });
    await using lab = await labOf(script, env);
    const turn = await lab.turn('Run it');
    await expectAll(turn, lab, ['It runs.', 'I wait.', 'It ran.']);
    expectEachCalled(lab, 'Bash');
  });

  it('is told: a fork that ends before the main answer', async () => {
    const fork = agent('toolu_f', 'LANE FORK', { subagent_type: 'fork' });
    await using lab = await labOf((of) => ({
      main: [
        says('It forks.', fork),
        says('One of two.'),
        held(() => until(() => count(of(), 'task_notification') === 1), 'Another.'),
        says('The last.'),
      ],
    }));
    const turn = await lab.turn('Fork');
    expect(lab.api.sent).toHaveLength(4); // a fork has the main conversation: one of these is its own
    expect(turn.result.assistantTexts).toHaveLength(3);
    expect(turn.result.assistantTexts.at(-1)).toBe('The last.');
    expectEachCalled(lab, 'Agent');
  });

  it('is told: a subagent that is sent a message after its report', async () => {
    const to = () => String(/agentId: (\w+)/.exec(sent())?.[1]);
    let sent = (): string => '';
    await using lab = await labOf((of) => {
      sent = () =>
        of()
          .api.requests.flatMap(({ messages }) => messages)
          .join('');
      return {
        main: [
          says('It goes.', agent('toolu_1', 'LANE ONE')),
          says('It went.'),
          () =>
            says(
              'More.',
              calls('toolu_m', 'SendMessage', { to: to(), summary: 'more', message: 'More.' }),
            ),
          says('I asked.'),
          says('It is back again.'),
        ],
        lanes: { 'LANE ONE': [says('Report one.'), says('Report two.')] },
      };
    });
    const turn = await lab.turn('Delegate');
    await expectAll(turn, lab, ['It goes.', 'It went.', 'More.', 'I asked.', 'It is back again.']);
    expectEachCalled(lab, 'Agent', 'SendMessage');
  });

  it('tells each call of a workflow’s agents, and one subagent for the workflow (§16.3, §18.6)', async () => {
    const script = `export const meta = { name: 'count', description: 'count', phases: [{ title: 'Count' }] }
const r = await parallel([() => agent('LANE ONE', { label: 'one', phase: 'Count' }), () => agent('LANE TWO', { label: 'two', phase: 'Count' })]);
return { r };`;
    await using lab = await labOf(() => ({
      main: [
        says('It begins.', calls('toolu_w', 'Workflow', { script })),
        says('It runs.'),
        says('It is done.'),
      ],
      lanes: {
        'LANE ONE': [says(bash('toolu_x', 'echo one')), says('One counted.')],
        'LANE TWO': [says(bash('toolu_y', 'exit 3')), says('Two counted.')],
      },
    }));
    const turn = await lab.turn('Count');
    await expectAll(turn, lab, ['It begins.', 'It runs.', 'It is done.']);
    expectEachCalled(lab, 'Bash', 'Bash', 'Workflow');
    const of = (family: FamilyName) =>
      lab.test.outcomes.flatMap(({ event }) => (event.family === family ? [event.payload] : []));
    expect(of('subagent.spawning')).toMatchObject([{ agentId: 'workflow' }]);
    expect(of('subagent.spawned')).toMatchObject([{ agentId: 'workflow' }]);
    expect(of('subagent.completed')).toMatchObject([{ reason: 'completed', outcome: 'ok' }]);
    expect(JSON.stringify(of('agent.tool.called'))).toContain('"stdout":"one"');
    expect(of('agent.tool.called')).toContainEqual(
      expect.objectContaining({ toolCallId: 'toolu_y', isError: true }),
    );
  });

  it('is waited for no longer than the limit', async () => {
    const main = [says('It runs.', bash('toolu_b', 'sleep 60', aside)), says('I wait.')];
    await using lab = await ClaudeLab.start({ main }, { idleTimeoutMs: 1_000 });
    const turn = await lab.turn('Run it');
    expect(turn.result.assistantTexts).toEqual(['It runs.', 'I wait.']);
    expect(turn.result.status).toBe('completed');
    await lab.untilNothingRuns();
  });
});

import { describe, expect, it } from 'vitest';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Approvals,
  RunDispatcher,
  Trail,
} from '../../src/agent/index.js';
import { prepareSend } from '../../src/host/egress/prepare-send.js';
import type { SendParts } from '../../src/host/parts/parts.js';
import { timelineRecorder } from '../../src/host/timeline/timeline-recorder.js';
import { allow, ask, type Contribution, cancel } from '../../src/kernel/internal.js';
import { createTestKernel } from '../../src/testing/index.js';
import { end, scripted, start, turnLab } from '../support/turn-lab.js';

const bash = { toolCallId: 't', toolName: 'Bash', args: { command: 'ls' } };

type Answer = ApprovalAnswer['status'] | ApprovalAnswer | Error | 'unusable';

/** An approver who gives answers one after the other, then the last again. */
function approver(...answers: Answer[]) {
  const requests: ApprovalRequest[] = [];
  const log: string[] = [];
  const approvals: Approvals = {
    ask: async (request) => {
      const answer = answers[Math.min(requests.length, answers.length - 1)];
      requests.push(request);
      log.push(`asked ${request.question.title}`);
      if (answer instanceof Error) throw answer;
      if (typeof answer === 'object') return answer;
      if (answer === 'expired' || answer === 'withdrawn') return { status: answer };
      if (answer === 'denied') return { status: 'denied' };
      const use = async () => {
        log.push(`used ${request.question.title}`);
        return answer === 'allowed';
      };
      return { status: 'allowed', use };
    },
  };
  return { approvals, requests, log };
}

function lab(approvals?: Approvals) {
  const { kernel, clock, log, outcomes } = createTestKernel();
  const fields = { agentId: 'main', sessionKey: 'k', sessionId: 's' };
  const run = new RunDispatcher({
    trail: new Trail(kernel, undefined),
    run: { ...fields, runId: 'r-1', trigger: 'user' },
    session: fields,
    clock,
    logger: log,
    signal: new AbortController().signal,
    ...(approvals !== undefined && { approvals }),
  });
  run.open({
    id: 'p',
    toolGate: 'enforce',
    subagentOf: ({ toolName }) => (toolName === 'Agent' ? { agentId: 'explore' } : undefined),
  });
  const veto = (
    id: string,
    handler: Contribution<'agent.tool.calling', 'veto'>['handler'],
    recheck = true,
  ) =>
    kernel.contribute({
      ...{ family: 'agent.tool.calling', class: 'veto', extensionId: 'test', id, recheck },
      handler,
    });
  return { kernel, run, veto, outcomes };
}

describe('a tool call that a veto asks about (judgement §4.7)', () => {
  it('is refused if nobody can be asked', async () => {
    const { run, veto } = lab();
    veto('a', () => ask({ title: 'Run it?' }));
    expect(await run.gate(bash)).toEqual({
      allowed: false,
      reason: 'an approval is needed: Run it?',
    });
  });

  it.each([
    ['allowed', 'allowed'],
    ['denied', 'denied'],
    ['expired', 'expired'],
    ['withdrawn', 'withdrawn'],
    [new Error('no channel'), 'withdrawn'],
    [undefined, 'withdrawn'],
  ] as const)('tells the asker the answer of %s as %s (judgement §4.26)', async (answer, told) => {
    const { run, veto } = lab(answer && approver(answer).approvals);
    const heard: string[] = [];
    veto('a', () => ask({ title: 'Run it?', onAnswer: (one) => void heard.push(one) }));
    await run.gate(bash);
    await new Promise(setImmediate);
    expect(heard).toEqual([told]);
  });

  it('runs with the data that the approver saw, and the answer is used before (judgement §4.9)', async () => {
    const { approvals, requests, log } = approver('allowed');
    const { kernel, run, veto, outcomes } = lab(approvals);
    let patches = 0;
    kernel.contribute({
      ...{ family: 'agent.tool.calling', class: 'mutator', extensionId: 'test', id: 'm' },
      handler: () => ({ params: { patched: ++patches } }),
    });
    veto('a', () => ask({ title: 'Run it?' }));
    const decision = await run.gate({ ...bash, subagentId: 'child' });
    expect(decision).toEqual({ allowed: true, args: { command: 'ls', patched: 1 } });
    expect(log).toEqual(['asked Run it?', 'used Run it?']);
    expect(requests).toMatchObject([
      {
        family: 'agent.tool.calling',
        payload: { toolName: 'Bash', params: { command: 'ls', patched: 1 } },
        ...{ runId: 'r-1', sessionKey: 'k', subagentId: 'child' },
        event: { family: 'agent.tool.calling', metadata: { subagentId: 'child' } },
      },
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['cancelled', 'passed']);
    expect(outcomes[1]?.event.metadata).toEqual({ subagentId: 'child' });
  });

  it.each([
    ['denied', 'a human denied it'],
    [{ status: 'denied', reason: 'use the test server' }, 'a human denied it: use the test server'],
    ['expired', 'no human allowed it in time'],
    ['withdrawn', 'nobody waits for the answer of a human any more'],
    [new Error('no channel'), 'nobody could be asked: no channel'],
    ['unusable', 'the answer cannot be used: it was used before, or is too old'],
  ] as const)(
    'is refused with words for the model: %j (judgement §4.8)',
    async (answer, reason) => {
      const { run, veto } = lab(approver(answer).approvals);
      veto('a', () => ask({ title: 'Run it?' }));
      expect(await run.gate(bash)).toEqual({ allowed: false, reason });
    },
  );

  it('is asked about once by each veto, and judged by the policy of today', async () => {
    const { approvals, log } = approver('allowed');
    const { run, veto } = lab(approvals);
    veto('a', () => ask({ title: 'A?' }));
    veto('b', () => ask({ title: 'B?' }), false);
    expect((await run.gate(bash)).allowed).toBe(true);
    expect(log).toEqual(['asked A?', 'asked B?', 'used A?', 'used B?']);
    veto('c', ({ pass }) =>
      pass === 'answered' ? cancel('policy', { text: 'too late' }) : allow(),
    );
    expect(await run.gate({ ...bash, toolCallId: 'u' })).toEqual({
      allowed: false,
      reason: 'too late',
    });
    expect(log.filter((line) => line.startsWith('used'))).toHaveLength(2);
  });

  it('does not run if its asker has gone meanwhile (judgement §4.10)', async () => {
    const gone = new AbortController();
    const { approvals, log } = approver('allowed');
    const { run, veto } = lab({
      ask: (request) => {
        gone.abort();
        return approvals.ask(request);
      },
    });
    veto('a', () => ask({ title: 'Run it?' }));
    expect((await run.gate(bash, gone.signal)).allowed).toBe(false);
    expect(log).toEqual(['asked Run it?']);
  });

  it('asks about the subagent that it starts, too', async () => {
    const { approvals, log, requests } = approver('allowed', 'denied');
    const { kernel, run } = lab(approvals);
    kernel.contribute({
      ...{ family: 'subagent.spawning', class: 'veto', extensionId: 'test', id: 's' },
      handler: () => ask({ title: 'Start it?' }),
    });
    const agent = { toolCallId: 't', toolName: 'Agent', args: {} };
    expect((await run.gate(agent)).allowed).toBe(true);
    expect(await run.gate({ ...agent, toolCallId: 'u' })).toEqual({
      allowed: false,
      reason: 'a human denied it',
    });
    expect(log).toEqual(['asked Start it?', 'used Start it?', 'asked Start it?']);
    expect(requests[0]).toMatchObject({ family: 'subagent.spawning', runId: 'r-1' });
  });

  it('is asked about by the port of a turn', async () => {
    const decisions: unknown[] = [];
    const { approvals, log } = approver('allowed');
    const provider = scripted(async function* ({ gate }) {
      yield start;
      decisions.push(await gate(bash));
      yield end();
    });
    const turn = turnLab({
      provider,
      approvals,
      contribute: (kernel) =>
        kernel.contribute({
          ...{ family: 'agent.tool.calling', class: 'veto', extensionId: 'test', id: 'a' },
          handler: () => ask({ title: 'Run it?' }),
        }),
    });
    await turn.result;
    expect(decisions).toEqual([{ allowed: true, args: { command: 'ls' } }]);
    expect(log).toEqual(['asked Run it?', 'used Run it?']);
  });
});

describe('a send that a veto asks about (judgement §4.7)', () => {
  function sends(asking?: Approvals) {
    const { kernel, clock, outcomes } = createTestKernel();
    kernel.contribute({
      ...{ family: 'egress.preparing', class: 'mutator', extensionId: 'test', id: 'm' },
      handler: ({ payload }) => ({ content: `${payload.content}!` }),
    });
    kernel.contribute({
      ...{ family: 'egress.preparing', class: 'veto', extensionId: 'test', id: 'a' },
      handler: () => ask({ title: 'Send it?' }),
    });
    const kept: unknown[] = [];
    const accounts = { offered: () => [{ channel: 'c', accountId: 'd' }], find: () => undefined };
    const outbox = {
      nextId: () => 'send-1',
      prepare: async (
        _hold: unknown,
        { event, payload }: { event: { payload: unknown }; payload: unknown },
      ) => {
        kept.push(event.payload, payload);
      },
    };
    const timeline = timelineRecorder();
    const parts = { kernel, clock, accounts, outbox, asking, timeline } as unknown as SendParts; // what prepareSend reads
    const prepare = (kind: 'reply' | 'approval', streaming = false) =>
      prepareSend(
        parts,
        new Trail(kernel, undefined),
        { kind, content: 'hi', to: 'ada', channel: 'c', accountId: 'd', explicit: true },
        { streaming, signal: new AbortController().signal },
      );
    return { prepare, kept, outcomes };
  }

  it('goes out as it was judged, under one id, and is kept as it was emitted', async () => {
    const { approvals, log } = approver('allowed');
    const { prepare, kept, outcomes } = sends(approvals);
    const { outcome, cancel: refusal } = await prepare('reply');
    expect(refusal).toBeUndefined();
    expect(outcome).toMatchObject({ status: 'passed', payload: { content: 'hi!' } });
    expect(outcomes.map(({ event }) => event.eventId)).toEqual(['send-1', 'send-1']);
    expect(kept).toMatchObject([{ content: 'hi' }, { content: 'hi!' }]);
    expect(log).toEqual(['asked Send it?', 'used Send it?']);
  });

  it('is cancelled with the code of the answer', async () => {
    for (const [answer, code] of [
      ['denied', 'approval-denied'],
      ['expired', 'approval-timeout'],
      ['unusable', 'approval-required'],
    ] as const) {
      const { prepare } = sends(approver(answer).approvals);
      expect((await prepare('reply')).cancel).toMatchObject({ code, contributionId: 'a' });
    }
  });

  it('is not asked about if it is a question itself (judgement §4.4)', async () => {
    const { approvals, log } = approver('allowed');
    const { outcome } = await sends(approvals).prepare('approval');
    expect(outcome).toMatchObject({
      status: 'passed',
      failures: [{ kind: 'bad-output', policy: 'open' }],
    });
    expect(log).toEqual([]);
  });

  it('is not asked about as the opening of a stream, which shows nothing (judgement §4.11)', async () => {
    const { approvals, log } = approver('allowed');
    const { cancel: refusal } = await sends(approvals).prepare('reply', true);
    expect(refusal?.code).toBe('approval-required');
    expect(log).toEqual([]);
  });
});

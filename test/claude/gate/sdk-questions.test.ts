import { describe, expect, it } from 'vitest';
import type { ApprovalAnswer, ApprovalRequest } from '../../../src/agent/index.js';
import { type BridgeOptions, bridgeCsdk, bridgeQuery } from '../../../src/claude/index.js';
import { allow, ask, cancel, type Handler, type Kernel } from '../../../src/kernel/internal.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { bridged, bridgedSession, frames, type Script } from '../../support/bridge-lab.js';

const { init, text, call, answer, result } = frames;
const byHook = { decisionReason: 'my hook wants a human', decisionReasonType: 'hook' };
const byRule = { decisionReasonType: 'rule' };
const noRule = { blockedPath: '/srv/a' };

type Asks = Readonly<Record<string, unknown>>;

/** One tool call that the SDK asks about after its hook, as often as it is told to. */
function askedCall(answers: unknown[], ...asks: readonly Asks[]): Script {
  return async function* ({ pre, permit }) {
    yield init();
    yield call('t', 'Bash', { command: 'ls' });
    answers.push(await pre('t', 'Bash', { command: 'ls' }));
    for (const [at, fields] of asks.entries()) {
      const given = { requestId: `r-${at}`, ...fields };
      answers.push(await permit('t', 'Bash', { command: 'ls' }, given));
      await new Promise(setImmediate); // a question that was given up has ended
    }
    const refused = JSON.stringify(answers).includes('deny');
    yield answer('t', refused ? 'denied' : 'a.txt', {}, refused);
    yield text('m2', 'Done.');
    yield result();
  };
}

/** Humans who give one answer to each question, and what happened in which order. */
function humans(said: Partial<ApprovalAnswer> & Pick<ApprovalAnswer, 'status'>) {
  const requests: ApprovalRequest[] = [];
  const log: string[] = [];
  const use = async () => {
    log.push('used');
    return true;
  };
  const approvals = {
    ask: async (request: ApprovalRequest): Promise<ApprovalAnswer> => {
      requests.push(request);
      log.push(`asked ${request.question.title}`);
      return { use, ...said } as ApprovalAnswer; // `use` is more than a denial needs
    },
  };
  return { approvals, requests, log };
}

function veto(handler: Handler<'agent.tool.calling', 'veto'>, id = 'guard', recheck = true) {
  return (kernel: Kernel) =>
    kernel.contribute({
      ...{ extensionId: 'test', id, class: 'veto', family: 'agent.tool.calling', recheck },
      handler,
    });
}

const explicit = { permissions: { sdkQuestions: 'explicit' } } as const;
const all = { permissions: { sdkQuestions: 'all' } } as const;
const allowed = { behavior: 'allow', updatedInput: { command: 'ls' } };
const title = 'May Bash run? The Claude SDK asks.';

describe('a tool call that the SDK itself asks about (judgement §4.32)', () => {
  it.each([
    ['none', byHook, 0],
    ['none', byRule, 0],
    ['explicit', byHook, 1],
    ['explicit', byRule, 1],
    ['explicit', { decisionReason: 'of an SDK that tells no kind' }, 1],
    ['explicit', { ...noRule, matchedAskRule: { source: 'user' } }, 1],
    ['explicit', noRule, 0],
    ['explicit', { decisionReason: 'a part', decisionReasonType: 'subcommandResults' }, 0],
    ['all', noRule, 1],
    ['all', byHook, 1],
  ] as const)('with sdkQuestions %s and %j is %i questions', async (sdkQuestions, asks, count) => {
    const answers: unknown[] = [];
    const { approvals, requests } = humans({ status: 'allowed' });
    await bridged(askedCall(answers, asks), { permissions: { sdkQuestions }, approvals });
    expect(requests).toHaveLength(count);
    expect(answers).toEqual([{}, allowed]);
  });

  it('is put to an owner, named as asked by the SDK, and runs when its answer is used', async () => {
    const answers: unknown[] = [];
    const { approvals, requests, log } = humans({ status: 'allowed', how: 'once' });
    const lab = await bridged(askedCall(answers, { ...byHook, ...noRule }), {
      ...explicit,
      approvals,
    });
    expect(requests).toMatchObject([
      {
        family: 'agent.tool.calling',
        question: {
          asker: { extensionId: 'claude-agent-sdk', contributionId: 'canUseTool' },
          title,
          text: 'my hook wants a human\npath: /srv/a',
          of: 'owner',
          scopes: [],
        },
        payload: { toolName: 'Bash', toolCallId: 't', params: { command: 'ls' } },
        runId: 'r-1',
        sessionKey: 'agent:main',
      },
    ]);
    expect(log).toEqual([`asked ${title}`, 'used']);
    expect(answers).toEqual([{}, allowed]);
    const answered = [
      { extensionId: 'claude-agent-sdk', contributionId: 'canUseTool', how: 'once' },
    ];
    expect(lab.of('agent.tool.calling')).toMatchObject([
      { status: 'passed' },
      { status: 'passed', answered },
    ]);
    expect(lab.of('agent.tool.called')).toMatchObject([{ payload: { isError: false } }]);
  });

  it.each([
    [{ status: 'denied', reason: 'not today' }, 'a human denied it: not today'],
    [{ status: 'expired' }, 'no human allowed it in time'],
    [{ status: 'withdrawn' }, 'nobody waits for the answer of a human any more'],
    [
      { status: 'allowed', use: async () => false },
      'the answer cannot be used: it was used before, or is too old',
    ],
  ] as const)('does not run after %j', async (said, message) => {
    const answers: unknown[] = [];
    const { approvals } = humans(said);
    const lab = await bridged(askedCall(answers, byHook, byHook), { ...explicit, approvals });
    const denied = { behavior: 'deny', message };
    expect(answers).toEqual([{}, denied, denied]);
    expect(lab.of('agent.tool.called')).toMatchObject([
      { payload: { isError: true, error: message } },
    ]);
  });

  it('does not run if nobody can be asked', async () => {
    const answers: unknown[] = [];
    await bridged(askedCall(answers, byHook), explicit);
    expect(answers[1]).toEqual({
      behavior: 'deny',
      message: `an approval is needed: ${title}`,
    });
  });

  it('is one question, however often the SDK asks', async () => {
    const answers: unknown[] = [];
    const { approvals, requests } = humans({ status: 'allowed' });
    await bridged(askedCall(answers, byHook, byHook, byRule), { ...explicit, approvals });
    expect(requests).toHaveLength(1);
    expect(answers).toEqual([{}, allowed, allowed, allowed]);
  });

  it('is no question if a veto denies it, before or after the answer', async () => {
    const denies = humans({ status: 'allowed' });
    const contribute = veto(() => cancel('policy', { text: 'never' }));
    const answers: unknown[] = [];
    await bridged(askedCall(answers, byHook), { ...all, approvals: denies.approvals, contribute });
    expect(denies.requests).toEqual([]);
    expect(answers[1]).toEqual({ behavior: 'deny', message: 'never' });

    const later: unknown[] = [];
    const { approvals, log } = humans({ status: 'allowed' });
    await bridged(askedCall(later, byHook), {
      ...all,
      approvals,
      contribute: veto(({ pass }) =>
        pass === 'answered' ? cancel('policy', { text: 'since then' }) : allow(),
      ),
    });
    expect(log).toEqual([`asked ${title}`]); // and the answer is not used
    expect(later[1]).toEqual({ behavior: 'deny', message: 'since then' });
  });

  it.each([true, false])('is one question with that of a veto (recheck: %s)', async (recheck) => {
    const answers: unknown[] = [];
    const { approvals, log } = humans({ status: 'allowed' });
    const contribute = veto(() => ask({ title: 'Run it?' }), 'guard', recheck);
    await bridged(askedCall(answers, byHook), { ...all, approvals, contribute });
    expect(log).toEqual(['asked Run it?', 'used']);
    expect(answers).toEqual([{}, allowed]);
  });

  it.each([true, false])(
    'is asked beside the question of a veto that another may answer (recheck: %s)',
    async (recheck) => {
      const answers: unknown[] = [];
      const { approvals, log } = humans({ status: 'allowed' });
      const contribute = veto(() => ask({ title: 'Run it?', of: 'principal' }), 'guard', recheck);
      await bridged(askedCall(answers, byHook), { ...all, approvals, contribute });
      expect(log).toEqual(['asked Run it?', 'used', `asked ${title}`, 'used']);
      expect(answers).toEqual([{}, allowed]);
    },
  );

  it('is asked if an "always" has answered the veto, because no human has seen this call', async () => {
    const { approvals, log } = humans({ status: 'allowed', isGranted: true });
    const contribute = veto(() => ask({ title: 'Run it?', scopes: ['tool'] }));
    await bridged(askedCall([], byHook), { ...all, approvals, contribute });
    expect(log).toContain(`asked ${title}`);
  });

  it('is asked with the data that the vetoes have passed, and runs with it', async () => {
    const answers: unknown[] = [];
    const { approvals, requests } = humans({ status: 'allowed' });
    let patches = 0;
    const contribute = (kernel: Kernel) =>
      kernel.contribute({
        ...{ extensionId: 'test', id: 'm', class: 'mutator', family: 'agent.tool.calling' },
        handler: () => ({ params: { command: `ls ${++patches}` } }),
      });
    await bridged(askedCall(answers, byHook), { ...all, approvals, contribute });
    expect(requests).toMatchObject([{ payload: { params: { command: 'ls 1' } } }]);
    expect(answers[1]).toEqual({ behavior: 'allow', updatedInput: { command: 'ls 1' } });
  });

  it('is asked anew, with one judgement, after the SDK has given up its question', async () => {
    const answers: unknown[] = [];
    const gone = new AbortController();
    const { approvals, requests } = humans({ status: 'allowed' });
    const lab = await bridged(askedCall(answers, { ...byHook, signal: gone.signal }, byHook), {
      ...all,
      approvals: {
        ask: (request) => {
          gone.abort();
          return approvals.ask(request);
        },
      },
    });
    expect(answers[1]).toMatchObject({ behavior: 'deny' });
    expect(answers[2]).toEqual(allowed);
    expect(requests).toHaveLength(2);
    const passes = lab.of('agent.tool.calling').map(({ answered = [] }) => answered.length);
    expect(passes).toEqual([0, 1]);
  });

  it('is a question of the subagent that calls', async () => {
    const { approvals, requests } = humans({ status: 'allowed' });
    await bridged(
      async function* ({ permit }) {
        yield init();
        await permit('t', 'Bash', { command: 'ls' }, { ...byRule, agentID: 'child' });
        yield result();
      },
      { ...explicit, approvals },
    );
    expect(requests).toMatchObject([{ subagentId: 'child' }]);
  });

  it('is refused at configuration beside a canUseTool of the host, and where a bridge only observes', () => {
    const { kernel } = createTestKernel();
    const of = (options: Partial<BridgeOptions>) => () =>
      bridgeCsdk(kernel, { session: bridgedSession, runId: 'r-1', ...options });
    const canUseTool = async () => ({ behavior: 'allow' }) as const;
    const permissions = { sdkQuestions: 'explicit', canUseTool } as const;
    const code = expect.objectContaining({ code: 'bad-sdk-questions' });
    expect(of({ permissions })).toThrow(code);
    expect(of({ ...all, gate: 'observe-only' })).toThrow(code);
    expect(of({ permissions: { sdkQuestions: 'none' }, gate: 'observe-only' })).not.toThrow();
    const run = () => ({ runId: 'r-1' });
    expect(() => bridgeQuery(kernel, { session: bridgedSession, run, permissions })).toThrow(code);
    // @ts-expect-error the questions are none, the explicit ones, or all
    of({ permissions: { sdkQuestions: 'some' } });
  });
});

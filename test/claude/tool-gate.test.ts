import { describe, expect, it } from 'vitest';
import { type CsdkCallback, callbackQueue } from '../../src/claude/frames/callback.js';
import type { CsdkPermissionOptions } from '../../src/claude/gate/sdk-callbacks.js';
import { type ToolGateOptions, toolGate } from '../../src/claude/gate/tool-gate.js';
import type { ToolCall, ToolDecision, ToolGate } from '../../src/sdk/stream/index.js';
import { deferred } from '../support/kernel-lab.js';

const never = new AbortController().signal;

/** A gate under test, the calls that it was asked about, and the callbacks that came out of it. */
function lab(
  decide: (call: ToolCall) => ToolDecision | Promise<ToolDecision> = ({ args }) => ({
    allowed: true,
    args,
  }),
  options: ToolGateOptions = {},
) {
  const asked: ToolCall[] = [];
  const callbacks = callbackQueue();
  const gate: ToolGate = async (call) => {
    asked.push(call);
    return decide(call);
  };
  const { canUseTool, hooks } = toolGate(gate, callbacks, options);
  const hook = async (
    event: keyof typeof hooks,
    fields: Record<string, unknown> = {},
    signal = never,
  ) => hooks[event][0]?.hooks[0]?.({ hook_event_name: event, ...fields }, undefined, { signal });
  const pre = (input: unknown, fields: Record<string, unknown> = {}, signal = never) =>
    hook(
      'PreToolUse',
      { tool_name: 'Bash', tool_use_id: 't', tool_input: input, ...fields },
      signal,
    );
  const permit = (input: Record<string, unknown>, fields: Partial<CsdkPermissionOptions> = {}) =>
    canUseTool('Bash', input, { signal: never, toolUseID: 't', ...fields });
  const told = async (): Promise<readonly CsdkCallback[]> => {
    callbacks.close();
    const all: CsdkCallback[] = [];
    for await (const callback of callbacks) all.push(callback);
    return all;
  };
  return { asked, hooks, hook, pre, permit, told, canUseTool };
}

const refuse = (): ToolDecision => ({ allowed: false, reason: 'not here' });
const patch = ({ args }: ToolCall): ToolDecision => ({
  allowed: true,
  args: { ...args, safe: true },
});
const pretool = (fields: object) => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields },
});

describe('a PreToolUse hook', () => {
  it('denies what the gate refuses, with its reason', async () => {
    expect(await lab(refuse).pre({})).toEqual(
      pretool({ permissionDecision: 'deny', permissionDecisionReason: 'not here' }),
    );
  });

  it('decides nothing about what the gate passes: the user’s own rules still do', async () => {
    expect(await lab().pre({ a: 1 })).toEqual({});
  });

  it('hands on changed arguments, and decides nothing else', async () => {
    expect(await lab(patch).pre({ a: 1 })).toEqual(pretool({ updatedInput: { a: 1, safe: true } }));
  });

  it('allows what the gate passes only where the host says so', async () => {
    const options = { onPass: 'allow' } as const;
    expect(await lab(undefined, options).pre({ a: 1 })).toEqual(
      pretool({ permissionDecision: 'allow' }),
    );
    expect(await lab(patch, options).pre({})).toEqual(
      pretool({ permissionDecision: 'allow', updatedInput: { safe: true } }),
    );
  });

  it('fails closed: a gate that throws, a call without an id, and a hook that is late do not run the tool', async () => {
    const throws = lab(() => {
      throw new Error('no policy');
    });
    expect(JSON.stringify(await throws.pre({}))).toMatch(/deny.*could not be judged: .*no policy/);
    expect(JSON.stringify(await lab().pre({}, { tool_use_id: undefined }))).toMatch(/deny.*no id/);
    const { hooks } = lab(undefined, { timeoutSeconds: 7 });
    expect(hooks.PreToolUse).toMatchObject([{ timeout: 7, onFailure: 'block' }]);
  });

  it('is waited for longer than any question to a human is open (judgement §4.12)', () => {
    const [matcher] = lab().hooks.PreToolUse;
    expect(matcher?.timeout).toBeGreaterThan(24 * 60 * 60);
  });

  it('answers at once when its signal aborts, and refuses', async () => {
    const waiting = deferred<ToolDecision>();
    const { pre } = lab(() => waiting.promise);
    const asker = new AbortController();
    const answer = pre({}, {}, asker.signal);
    asker.abort();
    expect(JSON.stringify(await answer)).toMatch(/deny.*aborted/);
    const late = new AbortController();
    late.abort();
    expect(JSON.stringify(await lab(() => waiting.promise).pre({}, {}, late.signal))).toMatch(
      /aborted/,
    );
  });

  it('names the subagent that calls', async () => {
    const { pre, asked } = lab();
    await pre({}, { agent_id: 'a-1' });
    expect(asked).toMatchObject([{ toolCallId: 't', toolName: 'Bash', subagentId: 'a-1' }]);
  });
});

describe('canUseTool', () => {
  it('denies what the gate refuses, and allows what it passes with the arguments that it passed', async () => {
    expect(await lab(refuse).permit({})).toEqual({ behavior: 'deny', message: 'not here' });
    expect(await lab(patch).permit({ a: 1 })).toEqual({
      behavior: 'allow',
      updatedInput: { a: 1, safe: true },
    });
  });

  it('asks the gate once where the hook has asked, also at the same time, and answers what it judged', async () => {
    const { pre, permit, asked } = lab(patch);
    const [, allowed] = await Promise.all([pre({ a: 1 }), permit({ a: 'of another hook' })]);
    expect(allowed).toEqual({ behavior: 'allow', updatedInput: { a: 1, safe: true } });
    expect(asked).toHaveLength(1);
  });

  it('gives a repeated request the same answer, and asks nobody again', async () => {
    let hosts = 0;
    const { permit, asked } = lab(undefined, {
      canUseTool: async () => ({ behavior: 'deny', message: `no ${++hosts}` }),
    });
    const first = permit({}, { requestId: 'q' });
    expect(await permit({}, { requestId: 'q' })).toEqual(await first);
    expect({ hosts, asked: asked.length }).toEqual({ hosts: 1, asked: 1 });
  });

  it('asks the gate again where the request before was aborted', async () => {
    const waiting = deferred<ToolDecision>();
    const { permit, asked } = lab(() => waiting.promise);
    const asker = new AbortController();
    const first = permit({}, { requestId: 'q', signal: asker.signal });
    asker.abort();
    expect(await first).toMatchObject({ behavior: 'deny' });
    waiting.resolve({ allowed: true, args: {} });
    await waiting.promise;
    await new Promise((resolve) => setImmediate(resolve)); // the judgement that was given up settles
    expect(await permit({}, { requestId: 'q' })).toMatchObject({ behavior: 'allow' });
    expect(asked).toHaveLength(2);
  });

  it('asks the host after the gate has passed a call, with what it passed, and not otherwise', async () => {
    const heard: unknown[] = [];
    const host: ToolGateOptions['canUseTool'] = async (toolName, input) => {
      heard.push({ toolName, input });
      return { behavior: 'allow' };
    };
    await lab(refuse, { canUseTool: host }).permit({});
    expect(heard).toEqual([]);
    expect(await lab(patch, { canUseTool: host }).permit({ a: 1 })).toEqual({
      behavior: 'allow',
      updatedInput: { a: 1, safe: true },
    });
    expect(heard).toEqual([{ toolName: 'Bash', input: { a: 1, safe: true } }]);
  });

  it('lets the host’s answer stand, other fields and another input included, and says so', async () => {
    const inputs: unknown[] = [];
    const canUseTool = async () => ({
      behavior: 'allow' as const,
      updatedInput: { answers: 'yes' },
      updatedPermissions: ['kept'],
    });
    const { permit } = lab(undefined, {
      canUseTool,
      onInput: (id, args) => inputs.push([id, args]),
    });
    expect(await permit({})).toEqual(await canUseTool());
    expect(inputs).toEqual([['t', { answers: 'yes' }]]);
  });

  it('hands a null of the host on: the answer has gone another way', async () => {
    const callbacks = callbackQueue();
    const gate: ToolGate = async ({ args }) => ({ allowed: true, args });
    const { canUseTool } = toolGate(gate, callbacks, { canUseTool: async () => null });
    expect(await canUseTool('Bash', {}, { signal: never, toolUseID: 't' })).toBeNull();
  });

  it('denies where the host’s own throws: nothing is thrown into the SDK', async () => {
    const { permit } = lab(undefined, {
      canUseTool: async () => {
        throw new Error('terminal is gone');
      },
    });
    expect(await permit({})).toEqual({
      behavior: 'deny',
      message: expect.stringMatching(/canUseTool failed: .*terminal is gone/),
    });
  });
});

describe('what a gate tells the stream', () => {
  const kinds = (callbacks: readonly CsdkCallback[]) =>
    callbacks.map((callback) =>
      callback.kind === 'permission_decision'
        ? callback.decision
        : callback.kind === 'hook'
          ? callback.event
          : callback.kind,
    );

  it('is one request and one decision per call, by whichever way it was asked', async () => {
    const both = lab(patch);
    await both.pre({ a: 1 });
    await both.permit({ a: 1 }, { requestId: 'q' });
    expect(await both.told()).toEqual([
      { kind: 'permission_request', toolUseId: 't', toolName: 'Bash', input: { a: 1 } },
      {
        kind: 'permission_decision',
        toolUseId: 't',
        toolName: 'Bash',
        decision: 'granted',
        updatedInput: { a: 1, safe: true },
        requestId: 'q',
      },
    ]);
  });

  it.each([
    ['asks with', ({ permit }: ReturnType<typeof lab>) => permit({ a: 1, safe: true }), 'granted'],
    [
      'ran it with',
      ({ hook }: ReturnType<typeof lab>) =>
        hook('PostToolUse', { tool_use_id: 't', tool_input: { a: 1, safe: true } }),
      'auto',
    ],
  ] as const)(
    'holds the input that the hook changed, though the SDK %s that (csdk §4.2)',
    async (_, then, decision) => {
      const both = lab(patch);
      await both.pre({ a: 1 });
      await then(both);
      expect((await both.told())[1]).toMatchObject({
        decision,
        updatedInput: { a: 1, safe: true },
      });
    },
  );

  it('says that the user’s own rules allowed a call that ran and that nobody was asked about', async () => {
    const { pre, hook, told } = lab();
    await pre({});
    await hook('PostToolUse', { tool_name: 'Bash', tool_use_id: 't', tool_input: {} });
    expect(kinds(await told())).toEqual(['permission_request', 'auto', 'PostToolUse']);
  });

  it('says a refusal once, with the reason that the model is told', async () => {
    const { pre, permit, told } = lab(refuse);
    await pre({});
    await permit({});
    const all = await told();
    expect(kinds(all)).toEqual(['permission_request', 'denied']);
    expect(all[1]).toMatchObject({ message: 'not here' });
  });

  it('holds the hooks of compactions and subagents, as they were called', async () => {
    const { hook, told } = lab();
    const input = { trigger: 'auto', agent_id: 'a-1' };
    const events = ['PreCompact', 'PostCompact', 'SubagentStart', 'SubagentStop'] as const;
    for (const event of events) expect(await hook(event, input)).toEqual({});
    const all = await told();
    expect(kinds(all)).toEqual([...events]);
    expect(all[0]).toEqual({
      kind: 'hook',
      event: 'PreCompact',
      input: { hook_event_name: 'PreCompact', ...input },
    });
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cancel, type FamilyName } from '../../../src/kernel/internal.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import { calls, overloaded, says, stalls, thinks } from '../../support/messages-api/reply.js';
import { afterDeltas, ClaudeLab, describeClaude } from './claude-lab.js';
import { expectSound } from './soundness.js';

const own = { extensionId: 'test', id: 'probe' } as const;

const text = 'Grüße, 世界 👋🏽\n\n```ts\nconst a = 1;\n```\nDone.';

function touches(file: string) {
  return calls(`toolu_${file}`, 'Bash', { command: `touch ${file} && echo made ${file}` });
}

function kinds(events: readonly SessionEvent[], type: SessionEvent['type']) {
  return events.filter((event) => event.type === type);
}

function dispatched(lab: ClaudeLab, family: FamilyName) {
  return lab.test.outcomes.filter(({ event }) => event.family === family);
}

describeClaude('the real SDK', () => {
  it('answers with a text', async () => {
    await using lab = await ClaudeLab.start({ main: [says(text)] });
    const turn = await lab.turn('Hello');
    expect(turn.result).toMatchObject({ status: 'completed', usage: { output: 20 } });
    await expectSound(turn, [text]);
    expect(lab.api.sent).toEqual([text]);
    expect(lab.api.requests[0]).toMatchObject({ what: 'POST /v1/messages', lane: 'main' });
    expect(lab.api.requests[0]?.headers['x-api-key']).toBe('no-key');
  });

  it('thinks, says something, calls a tool and answers', async () => {
    const main = [
      says(thinks('A file is wanted.'), 'I make it.', touches('a')),
      says('It is made.'),
    ];
    await using lab = await ClaudeLab.start({ main });
    const turn = await lab.turn('Make a');
    await expectSound(turn, ['I make it.', 'It is made.']);
    expect(lab.api.sent).toEqual(turn.result.assistantTexts);
    expect(existsSync(join(lab.cwd, 'a'))).toBe(true);
    const thoughts = turn.events.flatMap((event) =>
      event.type === 'message_update' && event.assistantMessageEvent.type === 'thinking_delta'
        ? [event.assistantMessageEvent.delta]
        : [],
    );
    expect(thoughts.join('')).toBe('A file is wanted.');
    expect(kinds(turn.events, 'tool_execution_start')).toMatchObject([
      { toolCallId: 'toolu_a', toolName: 'Bash' },
    ]);
    expect(kinds(turn.events, 'tool_execution_end')).toMatchObject([
      { toolCallId: 'toolu_a', isError: false },
    ]);
    expect(dispatched(lab, 'agent.tool.calling')).toHaveLength(1);
    expect(dispatched(lab, 'agent.tool.called')).toHaveLength(1);
  });

  it('calls two tools at once', async () => {
    const main = [says('Two.', touches('a'), touches('b')), says('Both are made.')];
    await using lab = await ClaudeLab.start({ main });
    const turn = await lab.turn('Make both');
    await expectSound(turn, ['Two.', 'Both are made.']);
    const made = ['a', 'b'].map((file) => existsSync(join(lab.cwd, file)));
    expect(made).toEqual([true, true]);
    expect(kinds(turn.events, 'tool_execution_end')).toHaveLength(2);
    expect(dispatched(lab, 'agent.tool.calling')).toHaveLength(2);
    expect(dispatched(lab, 'agent.tool.called')).toHaveLength(2);
  });

  it('does not run a tool that a veto refuses, and is told why', async () => {
    const main = [says('I make it.', touches('a')), says('I may not.')];
    await using lab = await ClaudeLab.start({ main });
    lab.test.kernel.contribute({
      ...own,
      class: 'veto',
      family: 'agent.tool.calling',
      handler: () => cancel('policy', { text: 'Nobody makes files here.' }),
    });
    const turn = await lab.turn('Make a');
    await expectSound(turn, ['I make it.', 'I may not.']);
    expect(existsSync(join(lab.cwd, 'a'))).toBe(false);
    expect(lab.api.requests[1]?.messages.at(-1)).toContain('Nobody makes files here.');
    expect(kinds(turn.events, 'tool_execution_end')).toMatchObject([{ isError: true }]);
    expect(dispatched(lab, 'agent.tool.calling')).toMatchObject([{ status: 'cancelled' }]);
    expect(dispatched(lab, 'agent.tool.called')).toMatchObject([
      { payload: { isError: true, error: 'Nobody makes files here.' } },
    ]);
  });

  it('refuses a tool that its own rules would run unasked', async () => {
    const reads = calls('toolu_r', 'Bash', { command: 'echo secret' });
    await using lab = await ClaudeLab.start({ main: [says(reads), says('I may not.')] });
    lab.test.kernel.contribute({
      ...own,
      class: 'veto',
      family: 'agent.tool.calling',
      handler: () => cancel('policy'),
    });
    const turn = await lab.turn('Read');
    await expectSound(turn, ['I may not.']);
    expect(lab.api.requests[1]?.messages.at(-1)).not.toContain('secret');
  });

  it('runs a tool with the input that a mutator has made of it', async () => {
    await using lab = await ClaudeLab.start({ main: [says(touches('a')), says('It is made.')] });
    lab.test.kernel.contribute({
      ...own,
      class: 'mutator',
      family: 'agent.tool.calling',
      handler: () => ({ params: { command: 'touch patched && echo made patched' } }),
    });
    const turn = await lab.turn('Make a');
    await expectSound(turn, ['It is made.']);
    expect(existsSync(join(lab.cwd, 'a'))).toBe(false);
    expect(existsSync(join(lab.cwd, 'patched'))).toBe(true);
    expect(lab.api.requests[1]?.messages.at(-1)).toContain('made patched');
    expect(dispatched(lab, 'agent.tool.called')).toMatchObject([
      { payload: { params: { command: 'touch patched && echo made patched' } } },
    ]);
  });

  it.each([
    ['a subagent that it waits for', { run_in_background: false }],
    ['a subagent in the background, and answers when that is done', {}],
  ])('starts %s', async (_, input) => {
    const task = 'SUBTASK: make the file.';
    const given = { description: 'make', prompt: task, subagent_type: 'general-purpose', ...input };
    const asks = says('I ask another.', calls('toolu_agent', 'Agent', given));
    const waits = 'run_in_background' in input ? [] : [says('It is at work.')];
    const lanes = { [task]: [says('Mine alone.', touches('a')), says('The file is there.')] };
    const script = { main: [asks, ...waits, says('All is done.')], lanes };
    await using lab = await ClaudeLab.start(script);
    const turn = await lab.turn('Delegate');
    expect(turn.result.status).toBe('completed');
    await expectSound(turn, lab.api.sent);
    expect(lab.api.sent.at(-1)).toBe('All is done.');
    expect(existsSync(join(lab.cwd, 'a'))).toBe(true);
    const judged = dispatched(lab, 'agent.tool.calling').map(({ payload }) => Object(payload));
    expect(judged.map(({ toolName }) => toolName)).toEqual(['Agent', 'Bash']);
  });

  it('stops after the turns that it was given', async () => {
    const main = [says('One.', touches('a')), says('Two.', touches('b')), says('Three.')];
    await using lab = await ClaudeLab.start({ main }, { sdk: { maxTurns: 2 } });
    const turn = await lab.turn('Go on');
    expect(turn.result).toMatchObject({ status: 'failed', error: { code: 'provider-failed' } });
    expect(turn.result.error?.message).toContain('error_max_turns');
    await expectSound(turn, ['One.', 'Two.']);
  });

  it('says what the API says, where that fails', async () => {
    const env = { CLAUDE_CODE_MAX_RETRIES: '0' };
    await using lab = await ClaudeLab.start({ main: [overloaded()] }, { env });
    const turn = await lab.turn('Hello');
    expect(turn.result).toMatchObject({ status: 'failed', error: { code: 'provider-failed' } });
    expect(turn.result.error?.message).toContain('529');
    expect(turn.result.error?.message).toMatch(/^api_error: API Error/);
    expect(lab.api.sent).toEqual([]);
    const failed = turn.events.filter((event) => event.type === 'message_end');
    expect(failed).toMatchObject([{ message: { providerError: { httpStatus: 529 } } }]);
    await expectSound(turn, []);
  });

  it('answers once, where the API fails first', async () => {
    await using lab = await ClaudeLab.start({ main: [overloaded(), says(text)] });
    const turn = await lab.turn('Hello');
    expect(turn.result.status).toBe('completed');
    await expectSound(turn, [text]);
  });

  it('stops in the middle of a text, and leaves what was said', async () => {
    const stop = new AbortController();
    await using lab = await ClaudeLab.start({ main: [stalls('one two three four five six', 3)] });
    const onEvent = afterDeltas(3, () => stop.abort());
    const turn = await lab.turn('Count', { signal: stop.signal, callbacks: { onEvent } });
    expect(turn.result.status).toBe('aborted');
    await expectSound(turn, lab.api.sent);
    expect(lab.api.sent).toEqual(['one two three four fi']);
    await lab.untilNothingRuns();
  });

  it('is gone when its reader leaves', async () => {
    await using lab = await ClaudeLab.start({ main: [stalls('one two three four five six', 3)] });
    const controller = new AbortController();
    const events = lab.provider.run({
      runId: 'r',
      agentId: 'main',
      sessionId: 's',
      sessionKey: 'k',
      model: 'default',
      prompt: 'Count',
      attachments: [],
      history: [],
      session: { context: {}, memoryKeys: [], metadata: {} },
      gate: async ({ args }) => ({ allowed: true, args }),
      tell: () => undefined,
      keepSession: () => undefined,
      offer: () => [],
      written: () => [],
      llmCalling: () => undefined,
      llmReturning: (message) => message,
      toolReturning: async (_call, result) => result,
      signal: controller.signal,
    });
    for await (const event of events) if (event.type === 'message_update') break;
    await lab.untilNothingRuns();
  });

  it('gets the environment that it is given, and nothing else', async () => {
    process.env['SLUICE_CANARY'] = 'a secret of the host';
    const main = [says(calls('toolu_e', 'Bash', { command: 'env > env.txt' })), says('Done.')];
    await using lab = await ClaudeLab.start({ main });
    await expectSound(await lab.turn('Look'), ['Done.']);
    const env = readFileSync(join(lab.cwd, 'env.txt'), 'utf8');
    const names = env.split('\n').flatMap((line) => /^([A-Za-z_]\w*)=/.exec(line)?.[1] ?? []);
    expect(names).toEqual(expect.arrayContaining(Object.keys(lab.env)));
    const added =
      /^(CLAUDE|AI_AGENT$|BUN_|COREPACK_|GIT_EDITOR$|NoDefault|OLDPWD$|PWD$|SHELL$|SHLVL$|_$)/;
    const others = names.filter((name) => !(name in lab.env) && !added.test(name));
    expect(others).toEqual([]);
    expect(lab.env['HOME']).toBe(lab.home);
  });
});

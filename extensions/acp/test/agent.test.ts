import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask, cancel, defineExtension, silentLogger, systemClock } from 'sluice';
import { checkOrdering } from 'sluice/csdk';
import { type AgentRequest, type SessionEvent, type ToolGate, textOf } from 'sluice/stream';
import { fakeChannel, loadForTest, startTestHost, virtualClock } from 'sluice/testing';
import { describe, expect, it, vi } from 'vitest';
import acp, { acpAgent } from '../src/index.js';
import { acpLab, command } from './acp-lab.js';

type Lab = Pick<ReturnType<typeof acpLab>, 'provider'>;
const slow = 60_000;

/** The result of one turn. */
interface Taken {
  readonly events: SessionEvent[];
  readonly kept: string[];
  /** The texts of the messages, with what they thought. */
  readonly said: string;
  readonly error: string | undefined;
}

/** A request that allows each call, with the fields that this agent reads. */
function requestOf(prompt: string, given: Partial<AgentRequest> = {}): AgentRequest {
  return {
    ...{ runId: 'run', agentId: 'main', sessionId: 'session', sessionKey: 'agent:main:main' },
    ...{ model: 'default', prompt, attachments: [], history: [] },
    session: { context: {}, memoryKeys: [], metadata: {} },
    keepSession: () => undefined,
    gate: async ({ args }) => ({ allowed: true, args }),
    offer: () => [],
    written: () => [],
    tell: () => undefined,
    signal: new AbortController().signal,
    ...given,
  };
}

/** Takes one turn of an agent, as a host does. */
async function take(
  { provider }: Lab,
  prompt: string,
  given: Partial<AgentRequest> = {},
): Promise<Taken> {
  const events: SessionEvent[] = [];
  const kept: string[] = [];
  let error: string | undefined;
  const keepSession = (token: string): void => void kept.push(token);
  const request = requestOf(prompt, { keepSession, ...given });
  try {
    for await (const event of provider.run(request)) events.push(event);
  } catch (thrown) {
    error = String(thrown);
  }
  if (error === undefined) expect(checkOrdering(events)).toEqual([]);
  const messages = events.flatMap((event) => (event.type === 'message_end' ? [event.message] : []));
  return { events, kept, said: messages.map(textOf).join('|'), error };
}

const ends = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === 'tool_execution_end' ? [event] : []));

describe('the session events of a program', () => {
  it(
    'are its words, thoughts and plans, a message for each of its ids, and its usage',
    async () => {
      await using lab = acpLab();
      const { events, said } = await take(lab, 'think');
      expect(said).toBe('One.|Two.');
      const thoughts = events.flatMap((event) =>
        event.type === 'message_update' && event.assistantMessageEvent.type === 'thinking_end'
          ? [event.assistantMessageEvent.content]
          : [],
      );
      expect(thoughts).toEqual(['Hm.Plan:\n- [x] look\n- [ ] leap\n']);
      const usage = { input: 700, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 700 };
      expect(events.at(-1)).toMatchObject({
        type: 'agent_end',
        usage: { ...usage, costUsd: 0.25 },
      });
      const next = await take(lab, 'think'); // the program tells what the session has cost so far
      expect(next.events.at(-1)).toMatchObject({ usage: { ...usage, costUsd: 0.25 } });
    },
    slow,
  );

  it(
    'are its tool calls, with what they show while they run and at their end',
    async () => {
      await using lab = acpLab();
      const { events, said } = await take(lab, 'tool');
      expect(said).toBe('Let me see.||Done.');
      const calls = events.filter(({ type }) => type.startsWith('tool_'));
      expect(calls.map(({ type }) => type)).toEqual([
        ...['tool_execution_start', 'tool_execution_update', 'tool_execution_end'],
        ...['tool_execution_start', 'tool_execution_update', 'tool_execution_end'],
      ]);
      expect(calls[0]).toMatchObject({ toolName: 'work', args: { path: '/a' } });
      expect(calls[1]).toMatchObject({ partialResult: 'half' });
      expect(calls[2]).toMatchObject({ result: 'done', isError: false });
    },
    slow,
  );

  it(
    'say why a turn ended early',
    async () => {
      await using lab = acpLab();
      expect((await take(lab, 'refuse')).events.at(-1)).toMatchObject({
        error: { subtype: 'refusal', message: 'the agent refuses to go on' },
      });
      const { events } = await take(lab, 'cut');
      expect(events.at(-2)).toMatchObject({ message: { stopReason: 'length' } });
      expect((await take(lab, 'fail')).error).toContain('overloaded');
    },
    slow,
  );
});

describe('the permission that a program asks for', () => {
  it(
    'is one time only: "always" is never said, since nobody would judge the next call',
    async () => {
      await using lab = acpLab();
      await take(lab, 'tool');
      expect(lab.ran().filter((line) => line.startsWith('answer'))).toEqual([
        ...['answer allow_once', 'answer allow_once'],
      ]);
      const { events } = await take(lab, 'only-always');
      expect(lab.ran().at(-1)).toBe('answer cancelled');
      expect(ends(events)).toMatchObject([{ isError: true }]);
    },
    slow,
  );

  it(
    'is refused if a handler has changed the arguments: the protocol cannot tell the program so',
    async () => {
      await using lab = acpLab();
      const gate: ToolGate = async () => ({ allowed: true, args: { path: '/safe' } });
      const { events } = await take(lab, 'tool', { gate });
      expect(lab.ran()).toEqual(['answer reject_once', 'answer reject_once']);
      expect(ends(events)[0]).toMatchObject({
        result: expect.stringContaining('changed its arguments'),
        isError: true,
      });
    },
    slow,
  );

  it(
    'is a gate of the host: a veto keeps one call from running, with its reason in the transcript',
    async () => {
      await using lab = acpLab();
      const guard = defineExtension({
        id: 'guard',
        setup: (api) =>
          api.veto('agent.tool.calling', 'a', ({ payload }) =>
            payload.params['path'] === '/a' ? cancel('policy', { text: 'not there' }) : undefined,
          ),
      });
      await using test = await startTestHost({
        extensions: [guard],
        agents: [{ id: 'main', provider: lab.provider }],
      });
      await test.say('tool');
      expect(lab.ran().filter((line) => line.startsWith('run'))).toEqual([
        expect.stringMatching(/^run .*-b$/),
      ]);
      const outcomes = test.of('agent.tool.calling');
      expect(outcomes.map(({ status }) => status)).toEqual(['cancelled', 'passed']);
      expect(JSON.stringify(await test.transcript())).toContain('not there');
      expect(test.replies()).toEqual(['Let me see.', 'Done.']);
    },
    slow,
  );

  it(
    'waits for the human that a veto asks',
    async () => {
      await using lab = acpLab();
      const careful = defineExtension({
        id: 'careful',
        setup: (api) =>
          api.veto('agent.tool.calling', 'b', ({ payload }) =>
            payload.params['path'] === '/b' ? ask({ title: 'B?', of: 'principal' }) : undefined,
          ),
      });
      await using test = await startTestHost({
        channel: fakeChannel({ interactive: ['buttons'] }),
        extensions: [careful],
        agents: [{ id: 'main', provider: lab.provider }],
      });
      const ada = { from: 'ada' };
      const said = test.say({ text: 'tool', ...ada });
      await vi.waitFor(() => expect(test.replies().at(-1)).toContain('B?'), slow);
      expect(lab.ran().filter((line) => line.startsWith('run'))).toHaveLength(1);
      await test.press('Allow', ada);
      await said;
      expect(lab.ran().filter((line) => line.startsWith('run'))).toHaveLength(2);
    },
    slow,
  );

  it(
    'is a question to an owner with `questions`, for always if the program offers that',
    async () => {
      await using lab = acpLab({ questions: 'all' });
      const asked: unknown[] = [];
      const gate: ToolGate = async ({ args, question }) => {
        asked.push(question);
        return { allowed: true, args };
      };
      await take(lab, 'tool', { gate });
      expect(asked).toMatchObject([
        { title: 'May work run? The agent asks.', text: 'Work on /a', scopes: ['session'] },
        { of: 'owner', scopes: [] },
      ]);
    },
    slow,
  );

  it(
    'is not asked about each call: one that runs without it is reported, or ends the turn',
    async () => {
      await using lab = acpLab();
      await using test = await startTestHost({
        extensions: [
          defineExtension({
            id: 'guard',
            setup: (api) => api.veto('agent.tool.calling', 'all', () => cancel('policy')),
          }),
        ],
        agents: [{ id: 'main', provider: lab.provider }],
      });
      await test.say('sneak');
      const [outcome] = test.of('agent.tool.calling');
      expect(outcome).toMatchObject({
        payload: { toolName: 'delete', params: { title: 'Delete it', paths: ['/x'] } },
        failures: [{ kind: 'observe-only' }],
      });
      await using strict = acpLab({ unasked: 'stop' });
      const { error, said } = await take(strict, 'sneak');
      expect(error).toContain('the program ran "delete", and has not asked');
      expect(said).not.toContain('Deleted');
    },
    slow,
  );
});

describe('a program that runs a tool although it was refused', () => {
  it(
    'is an error in the log, or ends the turn',
    async () => {
      await using lab = acpLab();
      const gate: ToolGate = async () => ({ allowed: false, reason: 'no' });
      await take(lab, 'defy', { gate });
      const told = lab.log.entries.map(({ level, message }) => [level, message]);
      expect(told).toContainEqual(['error', 'the program ran a tool that was refused']);
      await using strict = acpLab({ unasked: 'stop' });
      expect((await take(strict, 'defy', { gate })).error).toContain('which was refused');
    },
    slow,
  );
});

describe('a turn that is stopped', () => {
  it(
    'ends as aborted, and the program lives on; the next turn of its session waits for its end',
    async () => {
      await using lab = acpLab();
      const turn = new AbortController();
      const running = take(lab, 'endless', { signal: turn.signal });
      const next = take(lab, 'heard');
      const { said: pid } = await take(lab, 'pid', { sessionId: 'other' });
      turn.abort();
      expect((await running).events.at(-1)).toMatchObject({ type: 'agent_end', aborted: true });
      expect((await next).said).toBe('endless, heard');
      expect((await take(lab, 'pid')).said).toBe(pid);
    },
    slow,
  );

  it(
    'gives up the question that its program waits for',
    async () => {
      await using lab = acpLab();
      const turn = new AbortController();
      const gate: ToolGate = (_, signal) =>
        new Promise((resolve) => {
          signal?.addEventListener('abort', () => resolve({ allowed: false, reason: 'late' }));
          turn.abort();
        });
      const { events } = await take(lab, 'tool', { gate, signal: turn.signal });
      expect(lab.ran()[0]).toBe('answer cancelled');
      expect(events.at(-1)).toMatchObject({ aborted: true });
    },
    slow,
  );

  it(
    'ends the program if it does not obey in most of the time that the turn has, and starts it anew for the next message',
    async () => {
      const clock = virtualClock();
      await using lab = acpLab({ clock });
      const { said: pid } = await take(lab, 'pid');
      const turn = new AbortController();
      const running = take(lab, 'deaf', { signal: turn.signal, graceMs: 8_000 });
      const other = take(lab, 'endless', { sessionId: 'other' });
      await vi.waitFor(
        () => expect(lab.heard()).toEqual(expect.arrayContaining(['deaf', 'endless'])),
        slow,
      );
      turn.abort();
      await clock.advance(5_999);
      expect((await take(lab, 'pid', { sessionId: 'third' })).said).toBe(pid);
      await clock.advance(1);
      expect((await running).error).toContain('it did not end a turn that was stopped');
      expect((await other).error).toContain('it did not end a turn that was stopped');
      expect((await take(lab, 'pid')).said).not.toBe(pid);
    },
    slow,
  );
});

describe('a program', () => {
  it(
    'that crashes is one clear failure, and is started anew at the next message',
    async () => {
      await using lab = acpLab();
      const { events, error } = await take(lab, 'crash');
      expect(error).toMatch(
        /ended with code 3; its last line on stderr: fatal: the engine is gone$/,
      );
      expect(events.at(-1)).toMatchObject({ assistantMessageEvent: { delta: 'So it beg' } });
      expect(lab.log.entries.map(({ fields }) => fields['detail'])).toContainEqual(
        expect.stringContaining('fatal: the engine is gone'),
      );
      expect((await take(lab, 'hello')).said).toBe('You said: hello');
    },
    slow,
  );

  it(
    'that cannot be started is named',
    async () => {
      await using agent = acpAgent(
        '/no/such/program --acp',
        {},
        { log: silentLogger, clock: systemClock },
      );
      const { error } = await take({ provider: agent.provider }, 'hello');
      expect(error).toContain(
        '/no/such/program --acp cannot be started: spawn /no/such/program ENOENT',
      );
    },
    slow,
  );

  it.each([
    ['newer', 'speaks version 99 of the protocol, not 1'],
    ['login', 'log in with the program itself, or set authMethod'],
  ])(
    'that begins as %s is refused in words',
    async (START, words) => {
      await using lab = acpLab({ env: { START } });
      expect((await take(lab, 'hello')).error).toContain(words);
    },
    slow,
  );

  it(
    'that does not answer in time is ended, also if it does not want to',
    async () => {
      const clock = virtualClock();
      await using lab = acpLab({ clock, env: { START: 'never' }, startTimeoutMs: 9_000 });
      const running = take(lab, 'hello');
      await clock.advance(9_000);
      await clock.advance(2_000);
      expect((await running).error).toContain('was ended: it did not answer within 9000 ms');
    },
    slow,
  );

  it(
    'that writes a frame larger than it may is ended',
    async () => {
      await using lab = acpLab({ maxFrameBytes: 10_000 });
      expect((await take(lab, 'huge 5000')).said).toHaveLength(5_000);
      expect((await take(lab, 'huge 20000')).error).toMatch(/was ended: .*10000/);
      expect((await take(lab, 'hello')).said).toBe('You said: hello');
    },
    slow,
  );

  it(
    'that cannot be started is tried again at the next message',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-acp-'));
      const cwd = join(folder, 'place');
      writeFileSync(cwd, 'a file');
      await using lab = acpLab({ cwd }, folder);
      expect((await take(lab, 'hello')).error).toContain('ENOTDIR');
      rmSync(cwd);
      mkdirSync(cwd);
      expect((await take(lab, 'hello')).said).toBe('You said: hello');
    },
    slow,
  );

  it(
    'that closes its pipes and lives on is ended',
    async () => {
      const clock = virtualClock();
      await using lab = acpLab({ clock });
      const { said } = await take(lab, 'pid');
      await take(lab, 'close');
      await vi.waitFor(() => expect(clock.pending).toBeGreaterThan(0), 10_000);
      await clock.advance(2_000);
      await vi.waitFor(() => expect(() => process.kill(Number(said), 0)).toThrow('ESRCH'), slow);
    },
    slow,
  );

  it(
    'is killed if the host exits at once',
    async () => {
      const before = process.listeners('exit');
      await using lab = acpLab({ env: { START: 'deaf' } });
      const { said } = await take(lab, 'pid');
      const added = process.listeners('exit').filter((one) => !before.includes(one));
      for (const listener of added) listener(130);
      await vi.waitFor(() => expect(() => process.kill(Number(said), 0)).toThrow('ESRCH'), slow);
      await vi.waitFor(() => expect(process.listeners('exit')).toEqual(before), slow);
    },
    slow,
  );

  it('that has not begun yet is ended with its extension', async () => {
    const lab = acpLab({ env: { START: 'never' } });
    const running = take(lab, 'hello');
    await vi.waitFor(() => expect(lab.ran()).toContain('begun'), 60_000);
    await lab[Symbol.asyncDispose]();
    expect((await running).error).toContain('was ended: the host has let go of it');
  }, 60_000);

  it('that writes faster than its words are heard has its turn stopped', async () => {
    await using lab = acpLab();
    const turn = lab.provider.run(requestOf('flood'));
    const events = turn[Symbol.asyncIterator]();
    await events.next();
    const first = events.next(); // the words begin, and nobody reads on
    await vi.waitFor(() => expect(lab.ran()).toContain('stopped'), 60_000);
    await first;
    let last: unknown;
    for await (const event of { [Symbol.asyncIterator]: () => events }) last = event;
    expect(last).toMatchObject({ type: 'agent_end', aborted: true });
  }, 60_000);

  it(
    'that ignores its end is killed',
    async () => {
      const lab = acpLab({ env: { START: 'deaf' } });
      const { said } = await take(lab, 'pid');
      await lab[Symbol.asyncDispose]();
      expect(() => process.kill(Number(said), 0)).toThrow('ESRCH');
    },
    slow,
  );

  it(
    'gets the variables that it needs and those that it is given, and no others',
    async () => {
      vi.stubEnv('SECRET_OF_THE_HOST', 'x');
      vi.stubEnv('PASSED', 'y');
      await using lab = acpLab({ passEnv: ['PASSED'], env: { GIVEN: 'z' } });
      const names = (await take(lab, 'env')).said.split(' ');
      vi.unstubAllEnvs();
      expect(names).toEqual(expect.arrayContaining(['PATH', 'HOME', 'PASSED', 'GIVEN']));
      expect(names).not.toContain('SECRET_OF_THE_HOST');
    },
    slow,
  );

  it(
    'is refused by name what this client does not do, such as to read a file',
    async () => {
      await using lab = acpLab();
      expect((await take(lab, 'read')).said).toBe(
        'error -32601: "Method not found": fs/read_text_file',
      );
    },
    slow,
  );
});

describe('the session of a program', () => {
  const history = [
    { role: 'user', content: 'first' },
    { role: 'assistant', content: [{ type: 'text', text: 'one' }] },
    { role: 'user', content: 'second' },
    { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
  ] as const;

  it(
    'goes on with ours, is told the system prompt once, and what another agent has answered',
    async () => {
      await using lab = acpLab();
      await take(lab, 'first', { systemPrompt: 'Be kind.' });
      const { said } = await take(lab, 'whole', { systemPrompt: 'Be kind.', history });
      expect(JSON.parse(said)).toBe(
        '<conversation_so_far>\nuser: second\nassistant: two\n</conversation_so_far>\n\nwhole',
      );
      const changed = await take(lab, 'whole', { systemPrompt: 'Be brief.', history });
      expect(JSON.parse(changed.said)).toMatch(/^<instructions>\nBe brief\.\n/);
    },
    slow,
  );

  it.each(['load', 'resume'])(
    'survives the process of the program if it offers session/%s',
    async (OFFERS) => {
      const first = acpLab({ env: { OFFERS } });
      const { kept } = await take(first, 'first');
      await first.agent[Symbol.asyncDispose]();
      await using next = acpLab({ env: { OFFERS } }, first.folder);
      const given = { providerSession: kept.at(-1) ?? '', history: history.slice(0, 2) };
      const { said, events } = await take(next, 'heard', given);
      expect(said).toBe('first, heard');
      expect(events.filter(({ type }) => type === 'message_start')).toHaveLength(1); // what the program repeats is heard by nobody
    },
    slow,
  );

  it.each([
    ['it is not kept by the program', { OFFERS: 'none' }, {}],
    ['the program does not know it', {}, { providerSession: '{"id":"gone","heard":1}' }],
    ['its token is not understood', {}, { providerSession: 'gone' }],
    ['the prompt was begun before', {}, { begun: [] }],
  ])(
    'is a new one that is told all if %s',
    async (_, env, given) => {
      const first = acpLab({ env });
      const { kept } = await take(first, 'first');
      await first.agent[Symbol.asyncDispose]();
      await using next = acpLab({ env }, first.folder);
      const providerSession = kept.at(-1) ?? '';
      const { said } = await take(next, 'whole', { providerSession, history, ...given });
      expect(JSON.parse(said)).toContain('user: first\nassistant: one\nuser: second');
    },
    slow,
  );

  it(
    'begins in the mode that is set',
    async () => {
      await using lab = acpLab({ mode: 'plan' });
      expect((await take(lab, 'heard')).said).toBe('mode plan, heard');
      expect((await take(lab, 'heard')).said).toBe('mode plan, heard, heard');
    },
    slow,
  );
});

describe('the extension', () => {
  it(
    'provides an agent for each command that is asked for, and ends the programs when it is unloaded',
    async () => {
      const test = await loadForTest(acp, { config: { asked: [command, 'other --acp'] } });
      const [agent] = test.provided('agent');
      expect(test.provided('agent').map(({ id }) => id)).toEqual([
        `acp:${command}`,
        'acp:other --acp',
      ]);
      if (agent === undefined) throw new Error('there is no agent');
      const { said } = await take({ provider: agent.provider }, 'pid');
      await test[Symbol.asyncDispose]();
      expect(() => process.kill(Number(said), 0)).toThrow('ESRCH');
    },
    slow,
  );
});

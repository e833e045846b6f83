import { ask, cancel, defineExtension } from 'sluice';
import type { ToolGate } from 'sluice/stream';
import { fakeChannel, startTestHost, virtualClock } from 'sluice/testing';
import { describe, expect, it, vi } from 'vitest';
import { acpLab } from './acp-lab.js';
import { ends, slow, take } from './turns.js';

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

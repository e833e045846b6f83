import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { parseCommandLine, runCommand } from '../../../src/host/internal.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';

describe('a command in a chat', () => {
  it('is announced, run, completed, and answered through egress, with its surface', async () => {
    await using lab = await hostLab();
    const end = await lab.say('/help');
    expect(end.status).toBe('command');
    expect(lab.texts()[0]).toMatch(/^\/new {2}Begins a new session\.\n/);
    expect(lab.of('command.received')[0]?.payload).toMatchObject({
      name: 'help',
      source: 'chat',
      surface: 'scripted',
      senderId: 'ada',
      isAuthorized: true,
    });
    expect(lab.of('command.completed')[0]?.payload).toMatchObject({ success: true });
    expect(lab.of('agent.starting')).toEqual([]);
  });

  it('keeps the source surface of a channel’s own command', async () => {
    await using lab = await hostLab();
    await lab.say({ text: '/help', native: true });
    expect(lab.of('command.received')[0]?.payload.source).toBe('native');
  });

  it('that nobody knows is answered so, without success', async () => {
    await using lab = await hostLab();
    await lab.say('/dance now');
    expect(lab.texts()).toEqual(['There is no command "/dance". Try /help.']);
    expect(lab.of('command.completed')[0]?.payload).toMatchObject({
      name: 'dance',
      args: ['now'],
      success: false,
    });
  });

  it('that its sender may not give is not run', async () => {
    await using lab = await hostLab();
    await lab.say('hello');
    await lab.say({ text: '/new', commandAuthorized: false });
    expect(lab.texts()[1]).toBe('You may not use "/new".');
    expect(lab.of('session.ended')).toEqual([]);
  });

  it('that throws is completed without success, and its sender is told', async () => {
    const broken = {
      name: 'broken',
      description: 'Throws.',
      run: () => Promise.reject(new Error('oh')),
    };
    await using lab = await hostLab({ commands: [broken] });
    await lab.say('/broken');
    expect(lab.texts()).toEqual(['"/broken" failed.']); // what it threw is not for a chat (IV.1)
    expect(lab.of('command.completed')[0]?.payload).toMatchObject({
      success: false,
      error: 'oh',
    });
    expect(lab.ends).toMatchObject([{ status: 'failed', reason: '"/broken" failed: oh' }]);
  });

  it('/new resets the session while its transcript is there, ends it, and the next message begins another', async () => {
    const agents = [{ id: 'main', provider: echoProvider(), model: 'echo-full' }];
    await using lab = await hostLab({ agents });
    using _ = lab.kernel.contribute({
      family: 'session.resetting',
      class: 'observer',
      extensionId: 'keeper',
      id: 'keep',
      handler: () => undefined, // it could read the transcript, so it is there
    });
    await lab.say('one');
    await lab.say('/new');
    await lab.say('two');
    expect(lab.texts()[2]).toBe('prompt: two'); // no history
    const families = lab.families();
    expect(families.indexOf('session.resetting')).toBeLessThan(families.indexOf('session.ended'));
    expect(lab.of('session.resetting')[0]?.payload.messages).toHaveLength(4);
    expect(lab.of('session.ended')[0]?.payload).toMatchObject({
      sessionId: 'session-1',
      nextSessionId: 'session-2',
      messageCount: 4,
      reason: 'new',
    });
    expect(lab.of('session.started').map(({ payload }) => payload)).toMatchObject([
      { sessionId: 'session-1' },
      { sessionId: 'session-2', resumedFrom: 'session-1', isNew: true },
    ]);
  });

  it('/new twice ends one session', async () => {
    await using lab = await hostLab();
    for (const text of ['one', '/new', '/new']) await lab.say(text);
    expect(lab.of('session.ended')).toHaveLength(1);
  });

  it('/stop stops the answer that is being made, at once', async () => {
    const waits: AgentProvider = {
      id: 'waits',
      models: ['m'],
      toolGate: 'enforce',
      async *run({ signal }) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        yield { type: 'agent_end', messages: [], aborted: true };
      },
    };
    await using lab = await hostLab({ agents: [{ id: 'main', provider: waits }] });
    const asked = lab.say('hello');
    await lab.clock.advance(0);
    await lab.say('/stop');
    expect((await asked).status).toBe('aborted');
    expect(lab.texts()).toEqual(['Stopped.']);
    await lab.say('/stop');
    expect(lab.texts()[1]).toBe('There is nothing to stop.');
  });
});

it.each([
  ['/new', { name: 'new', args: [] }],
  ['  /Model  gpt  fast ', { name: 'model', args: ['gpt', 'fast'] }],
  ['/etc/hosts', undefined],
  ['/', undefined],
  ['say /new', undefined],
  ['/2 is half', undefined],
])('reads %j as a command line: %o', (line, expected) => {
  expect(parseCommandLine(line)).toEqual(expected);
});

describe('runCommand, for the command line', () => {
  it('dispatches both families with the source cli, and hands the value on', async () => {
    const { kernel, outcomes } = createTestKernel();
    const command = { name: 'stages', args: ['--json'], source: 'cli' as const, surface: 'cli' };
    const describeExit = (exitCode: number) => ({ exitCode });
    const ran = await runCommand(kernel, command, () => 2, { describe: describeExit });
    expect(ran).toMatchObject({ value: 2, success: false });
    expect(outcomes.map(({ event }) => event.family)).toEqual([
      'command.received',
      'command.completed',
    ]);
    expect(outcomes[1]?.payload).toMatchObject({ source: 'cli', exitCode: 2, success: false });
    expect(outcomes[1]?.event.correlationId).toBe(outcomes[0]?.event.eventId);
  });

  it('completes a command that throws, and hands on what it threw', async () => {
    const { kernel, outcomes } = createTestKernel();
    const error = new Error('no such file');
    const ran = await runCommand(kernel, { name: 'replay', args: [], source: 'cli' }, () =>
      Promise.reject(error),
    );
    expect(ran).toMatchObject({ success: false, error });
    expect(outcomes[1]?.payload).toMatchObject({ success: false, error: 'no such file' });
  });
});

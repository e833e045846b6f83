import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createHost } from '../../../src/host/index.js';
import { type MessageEnd, memoryJournal } from '../../../src/journal/index.js';
import { allow, ask, definedFields } from '../../../src/kernel/internal.js';
import { createTestKernel, fakeChannel } from '../../../src/testing/index.js';
import { calls, says } from '../../support/messages-api/reply.js';
import { ClaudeLab, describeClaude, until } from './claude-lab.js';

const touch = calls('toolu_a', 'Bash', { command: 'touch a && echo made a' });

const main = [says('I make it.', touch), says('So be it.')];

interface AskingOptions {
  /** Milliseconds until the question has expired. */
  readonly timeoutMs?: number;
  /** Milliseconds that the SDK waits for its gate; the provider's own if absent. */
  readonly gateTimeoutMs?: number;
  /** The settings of the project, which ask in place of the veto. */
  readonly settings?: object;
}

/** A host with the real SDK as its agent: a veto, or the SDK itself, asks an owner about each tool call. */
async function askingHost({ timeoutMs, gateTimeoutMs, settings }: AskingOptions = {}) {
  const ofSdk = { sdkQuestions: 'explicit', sdk: { settingSources: ['project'] } } as const;
  const lab = await ClaudeLab.start(
    { main },
    { ...definedFields({ gateTimeoutMs }), ...(settings !== undefined && ofSdk) },
  );
  if (settings !== undefined) {
    mkdirSync(join(lab.cwd, '.claude'));
    writeFileSync(join(lab.cwd, '.claude', 'settings.json'), JSON.stringify(settings));
  }
  const channel = fakeChannel({ id: 'console', interactive: ['buttons'] });
  const { kernel, outcomes } = createTestKernel();
  kernel.contribute({
    ...{ extensionId: 'guard', id: 'asks', class: 'veto', family: 'agent.tool.calling' },
    handler: () =>
      settings === undefined ? ask({ title: 'Run it?', ...definedFields({ timeoutMs }) }) : allow(),
  });
  const ends: MessageEnd[] = [];
  const host = createHost({
    ...{ kernel, channels: [channel], agents: [{ id: 'main', provider: lab.provider }] },
    ...{ journal: memoryJournal(), roles: { owner: ['console:ada'] } },
    onMessageEnd: (end) => ends.push(end),
  });
  await host.start();
  let updates = 0;
  const say = (text: string): void =>
    void channel.receive({ text, conversation: 'console:ada' }, `u-${++updates}`);
  const question = () =>
    channel.sent.find(({ kind, interactive }) => kind === 'approval' && interactive !== undefined);
  say('Make a');
  await until(() => question() !== undefined);
  return {
    ...{ lab, host, say, ends, outcomes, question },
    id: question()?.interactive?.buttons?.[0]?.id.split(':')[2]?.slice(0, 8) ?? '',
    texts: () => channel.sent.map(({ content }) => content),
    isMade: () => existsSync(join(lab.cwd, 'a')),
    /** The tool's result, as the model got it. */
    result: () => String(lab.api.requests[1]?.messages.at(-1)),
    turnEnd: async () => {
      await until(() => ends.some(({ updateId }) => updateId === 'u-1'));
    },
    [Symbol.asyncDispose]: async () => {
      await host.stop({ timeoutMs: 5_000 });
      await lab[Symbol.asyncDispose]();
    },
  };
}

const hookSaysAsk = {
  hookEventName: 'PreToolUse',
  permissionDecision: 'ask',
  permissionDecisionReason: 'my hook wants a human',
};
const byHook = `echo '${JSON.stringify({ hookSpecificOutput: hookSaysAsk })}'`;

describeClaude.each([
  [
    'a PreToolUse hook',
    { hooks: { PreToolUse: [{ matcher: '*', hooks: [{ type: 'command', command: byHook }] }] } },
    'my hook wants a human',
  ],
  ['an ask rule', { permissions: { ask: ['Bash(touch:*)'] } }, 'The Claude SDK asks.'],
])('the real SDK, where %s asks', (_, settings, reason) => {
  it('runs the call when the human allows it (judgement §4.32)', async () => {
    await using host = await askingHost({ settings });
    expect(host.isMade()).toBe(false);
    expect(host.question()?.content).toContain(reason);
    expect(host.question()?.content).toContain('touch a && echo made a');
    host.say(`/approve ${host.id}`);
    await host.turnEnd();
    expect(host.isMade()).toBe(true);
    expect(host.result()).toContain('made a');
  });

  it('does not run the call when the human denies it, and the model reads the reason (judgement §4.32)', async () => {
    await using host = await askingHost({ settings });
    host.say(`/deny ${host.id} not on a Friday`);
    await host.turnEnd();
    expect(host.isMade()).toBe(false);
    expect(host.result()).toContain('not on a Friday');
  });
});

describeClaude('the real SDK, whose tool call a human is asked about', () => {
  it('runs it when the human allows it, after the words so far were shown (judgement §4.12, judgement §4.16)', async () => {
    await using host = await askingHost();
    expect(host.isMade()).toBe(false);
    expect(host.texts()[0]).toContain('I make it.');
    expect(host.question()?.content).toContain('touch a && echo made a');
    host.say(`/approve ${host.id}`);
    await host.turnEnd();
    expect(host.isMade()).toBe(true);
    expect(host.result()).toContain('made a');
    expect(host.texts()).toContain('So be it.');
  });

  it('does not run it when the human denies it, and the model reads the reason (judgement §4.12, judgement §4.19)', async () => {
    await using host = await askingHost();
    host.say(`/deny ${host.id} not on a Friday`);
    await host.turnEnd();
    expect(host.isMade()).toBe(false);
    expect(host.result()).toContain('not on a Friday');
    expect(host.texts()).toContain('So be it.');
  });

  it('does not run it when nobody answers in time (judgement §4.20)', async () => {
    await using host = await askingHost({ timeoutMs: 1_000 });
    await host.turnEnd();
    expect(host.isMade()).toBe(false);
    expect(host.result()).toContain('no human allowed it in time');
    expect(host.texts()).toContain('So be it.');
  });

  it('stops waiting when the turn is stopped, and a later answer changes nothing (judgement §4.10)', async () => {
    await using host = await askingHost();
    host.say('/stop');
    await host.turnEnd();
    host.say(`/approve ${host.id}`);
    await until(() => host.ends.length === 3);
    expect(host.isMade()).toBe(false);
    expect(host.lab.api.requests).toHaveLength(1);
  });

  it('ends the wait itself when its own limit is shorter, and the call does not run (judgement §4.12)', async () => {
    await using host = await askingHost({ gateTimeoutMs: 1_000 });
    await host.turnEnd();
    expect(host.isMade()).toBe(false);
    expect(host.texts()).toContain('So be it.');
  });
});

import { describe, expect, it } from 'vitest';
import { memoryJournal } from '../../../src/journal/index.js';
import type { Kernel } from '../../../src/kernel/internal.js';
import {
  createLegacyHookRunner,
  type LegacyHookName,
  registerLegacyHook,
} from '../../../src/openclaw/index.js';
import { createTestKernel, samplePayload } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';
import { scheduleLab } from '../../support/schedule-lab.js';
import { streamingChannel } from '../../support/streaming-channel.js';

const profile = '2026.9';

/** Registers a handler that answers always the same. @returns the events that it was called with. */
function hook(kernel: Kernel, hookName: LegacyHookName<'2026.9'>, answer?: object): unknown[] {
  const seen: unknown[] = [];
  const handler = (event: object, ctx: object): unknown => {
    seen.push({ ...event, ctx });
    return answer;
  };
  const registration = { pluginId: 'p', hookName, handler: handler as never };
  registerLegacyHook(kernel, registration, { profile });
  return seen;
}

describe('before_agent_reply in a host (event-pipeline §16.25, §17.30)', () => {
  it('answers in place of the model, and its words go out and are kept like the model’s', async () => {
    let seen: readonly unknown[] = [];
    const channel = streamingChannel();
    const journal = memoryJournal();
    await using lab = await hostLab({
      ...{ channel, journal },
      contribute: (kernel) => {
        seen = hook(kernel, 'before_agent_reply', {
          handled: true,
          reply: { text: 'It is nine.' },
        });
      },
    });
    const end = await lab.say('What time is it?');
    expect(end.status).toBe('answered');
    expect(channel.calls).toEqual(['1 content It is nine.', '1 final It is nine.']);
    expect(seen).toMatchObject([
      { cleanedBody: 'What time is it?', ctx: { agentId: 'main', trigger: 'user' } },
    ]);
    expect(lab.of('agent.llm.input')).toEqual([]);
    const written = lab.of('transcript.message.writing').map(({ payload }) => payload.message.role);
    expect(written).toEqual(['user', 'assistant']);
    expect(lab.of('egress.sent')).toHaveLength(1);
  });

  it('is asked before all other hooks of the run, and alone if it answers', async () => {
    const called: string[] = [];
    const answers = new Set<string>();
    const order = ['before_agent_reply', 'before_model_resolve', 'before_prompt_build'] as const;
    const all = [...order, 'before_agent_run', 'llm_input'] as const;
    await using lab = await hostLab({
      contribute: (kernel) => {
        for (const hookName of all) {
          const handler = (_: object, { trigger }: { trigger?: string }) => {
            called.push(hookName);
            return hookName === 'before_agent_reply' && answers.has(String(trigger))
              ? { handled: true }
              : undefined;
          };
          const registration = { pluginId: 'p', hookName, handler: handler as never };
          registerLegacyHook(kernel, registration, { profile });
        }
      },
    });
    await lab.say('to the model');
    expect(called.splice(0)).toEqual(all);
    answers.add('user');
    await lab.say('to the plugin');
    expect(called).toEqual(['before_agent_reply']);
  });

  it('is asked about messages, jobs and heartbeats, and about no other run', async () => {
    const { kernel } = createTestKernel();
    const seen = hook(kernel, 'before_agent_reply');
    for (const trigger of ['user', 'cron', 'heartbeat', 'memory', undefined])
      await kernel.dispatch('agent.answer.resolving', {
        prompt: 'hi',
        attempt: 1,
        ...(trigger && { trigger }),
      });
    expect(seen).toMatchObject(
      ['user', 'cron', 'heartbeat'].map((trigger) => ({ ctx: { trigger } })),
    );
  });

  it('ends the message in silence if it handles it without a reply', async () => {
    await using lab = await hostLab({
      contribute: (kernel) => void hook(kernel, 'before_agent_reply', { handled: true }),
    });
    expect(await lab.say('hello')).toMatchObject({ status: 'silent' });
    expect(lab.of('agent.llm.input')).toEqual([]);
  });
});

describe('before_agent_run in a host (event-pipeline §16.25, §17.30)', () => {
  it('keeps a prompt from the model, and says why', async () => {
    let seen: readonly unknown[] = [];
    await using lab = await hostLab({
      contribute: (kernel) => {
        const decision = {
          outcome: 'block',
          reason: 'a key',
          message: 'Your message holds a key.',
        };
        seen = hook(kernel, 'before_agent_run', decision);
      },
    });
    const end = await lab.say('sk-1');
    expect(end).toMatchObject({ status: 'cancelled', reason: expect.stringContaining('a key') });
    expect(lab.texts()).toEqual(['Your message holds a key.']);
    expect(seen).toMatchObject([{ prompt: 'sk-1', messages: [] }]);
    expect(lab.of('agent.llm.input')).toEqual([]);
    expect(lab.of('transcript.message.writing')).toEqual([]);
  });

  it.each([
    ['no decision', { outcome: 'ask' }],
    ['null', null as never],
  ])('blocks if its handler returns %s', async (_, decision) => {
    await using lab = await hostLab({
      contribute: (kernel) => void hook(kernel, 'before_agent_run', decision),
    });
    const end = await lab.say('hello');
    expect(end.reason).toContain('before_agent_run returned an invalid decision');
    expect([end.status, lab.texts()]).toEqual(['cancelled', []]);
  });

  it('blocks if its handler throws, and passes what it says nothing about', async () => {
    await using failing = await hostLab({
      contribute: (kernel) =>
        registerLegacyHook(
          kernel,
          {
            pluginId: 'p',
            hookName: 'before_agent_run',
            handler: () => {
              throw new Error('no rules');
            },
          },
          { profile },
        ),
    });
    expect((await failing.say('hello')).status).toBe('failed');
    expect(failing.of('agent.llm.input')).toEqual([]);
    await using open = await hostLab({
      contribute: (kernel) => void hook(kernel, 'before_agent_run'),
    });
    await open.say('hello');
    expect(open.texts()).toEqual(['hello']);
  });

  it('is not called by a legacy runner that runs before_agent_reply, nor the other way', async () => {
    const { kernel } = createTestKernel();
    const reply = hook(kernel, 'before_agent_reply', { handled: true, reply: { text: 'a' } });
    const gate = hook(kernel, 'before_agent_run', { outcome: 'pass' });
    const runner = createLegacyHookRunner(kernel, { profile });
    await runner.runBeforeAgentReply({ cleanedBody: 'hi' }, {});
    expect([reply.length, gate.length]).toEqual([1, 0]);
    await runner.runBeforeAgentRun({ prompt: 'hi', messages: [] }, {});
    expect([reply.length, gate.length]).toEqual([1, 1]);
  });
});

it('subagent_progress tells of the beginning and the end of a child (event-pipeline §17.30)', async () => {
  const { kernel } = createTestKernel();
  const seen = hook(kernel, 'subagent_progress');
  const spawned = { ...samplePayload('subagent.spawned'), runId: 'r', childSessionKey: 'child' };
  const completed = { ...samplePayload('subagent.completed'), targetSessionKey: 'child' };
  await kernel.dispatch('subagent.spawned', spawned);
  await kernel.dispatch('subagent.completed', { ...completed, runId: 'r', outcome: 'reset' });
  await kernel.dispatch('subagent.completed', { ...completed, runId: 'r', outcome: 'killed' });
  expect(seen).toMatchObject([
    { phase: 'started', runId: 'r', childSessionKey: 'child' },
    { phase: 'ended', runId: 'r', childSessionKey: 'child', outcome: 'unknown' },
    { phase: 'ended', runId: 'r', childSessionKey: 'child', outcome: 'killed' },
  ]);
});

it('cron_reconciled and cron_changed tell of the schedules of extensions (event-pipeline §17.30)', async () => {
  const { kernel } = createTestKernel();
  const reconciled = hook(kernel, 'cron_reconciled');
  const changed = hook(kernel, 'cron_changed');
  await using lab = await scheduleLab({ kernel });
  await lab.clock.advance(61_000);
  expect(reconciled).toEqual([{ reason: 'startup', enabled: true, ctx: {} }]);
  const job = {
    ...{ id: 'acting/tick', name: 'acting/tick', enabled: true },
    schedule: { kind: 'cron', expr: '* * * * *', tz: 'UTC' },
  };
  const runAtMs = lab.runs[0]?.dueAt;
  expect(changed).toMatchObject([
    { action: 'added', jobId: 'acting/tick', job, nextRunAtMs: runAtMs },
    { action: 'started', jobId: 'acting/tick', job, runAtMs },
    { action: 'finished', jobId: 'acting/tick', job, runAtMs, status: 'ok' },
  ]);
});

import { describe, expect, it } from 'vitest';
import { hostLab } from '../support/host-lab.js';

describe('the timeline of a message', () => {
  it('goes through every stage in order, with echo as the agent', async () => {
    await using lab = await hostLab();
    await lab.say('hello');
    const families = lab.families();
    const from = families.indexOf('ingress.received');
    const way = families.slice(from).filter((family) => family !== 'agent.output.delta');
    expect(way).toEqual([
      'ingress.received',
      'ingress.normalized',
      'routing.resolving',
      'routing.resolved',
      'session.starting',
      'session.started',
      'agent.starting',
      'agent.answer.resolving',
      'agent.model.resolving',
      'agent.prompt.building',
      'agent.llm.calling',
      'agent.llm.input',
      'transcript.message.writing', // the user's message
      'transcript.message.writing', // the model asks for its tool
      'agent.tool.calling',
      'agent.tool.called',
      'transcript.tool-result.persisting',
      'transcript.message.writing', // the tool's result
      'transcript.message.writing', // the answer
      'agent.completed',
      'agent.llm.output',
      'egress.preparing',
      'egress.sending',
      'egress.sent',
    ]);
    expect(lab.texts()).toEqual(['hello']);
    expect(lab.ends).toMatchObject([{ status: 'answered', agentId: 'main' }]);
  });

  it('dispatches deltas, also where only a tap listens', async () => {
    const seen: string[] = [];
    await using lab = await hostLab({
      contribute: (kernel) =>
        kernel.contribute({
          family: 'agent.output.delta',
          class: 'observer',
          extensionId: 'test',
          id: 'deltas',
          handler: ({ payload }) => void seen.push(`${payload.kind}: ${payload.text}`),
        }),
    });
    await lab.say('one two');
    expect(seen.filter((line) => line.startsWith('text'))).toEqual(['text: one ', 'text: one two']);
    expect(seen.some((line) => line.startsWith('thinking'))).toBe(true);
    await using quiet = await hostLab();
    await quiet.say('one two');
    expect(quiet.of('agent.output.delta').length).toBeGreaterThan(seen.length - 1);
  });

  it('carries refs, session and one correlation through every dispatch', async () => {
    await using lab = await hostLab();
    const end = await lab.say({ text: 'hello', thread: 't-9' });
    const way = lab.outcomes.filter(({ event }) => event.correlationId === end.correlationId);
    expect(way.length).toBeGreaterThan(20);
    for (const { event } of way.slice(1)) {
      expect(event.accountRef, event.family).toEqual({ channel: 'scripted', id: 'default' });
      expect(event.conversationRef).toEqual({ channel: 'scripted', id: 'scripted:ada' });
      expect(event.threadRef).toEqual({ channel: 'scripted', id: 't-9' });
      expect(event.messageRef).toEqual({ channel: 'scripted', id: 'm-hello' });
    }
    const sent = lab.of('egress.sent')[0];
    expect(sent?.event).toMatchObject({ agentId: 'main', sessionId: 'session-1' });
    expect(sent?.payload).toMatchObject({
      sessionKey: 'agent:main:scripted:ada:thread:t-9',
      runId: 'run-1',
      threadId: 't-9',
      replyToId: 'm-hello',
      receipt: { messageId: 'scripted-1' },
    });
  });

  it('starts a session once, and opens it for each message', async () => {
    await using lab = await hostLab();
    await lab.say('one');
    await lab.say('two');
    expect(lab.of('session.started')).toHaveLength(1);
    expect(lab.of('session.starting').map(({ payload }) => payload.isNew)).toEqual([true, false]);
  });

  it('acknowledges an update when its message has ended', async () => {
    await using lab = await hostLab();
    await lab.say('hello');
    expect(lab.channel.acknowledged.map(({ updateId }) => updateId)).toEqual(['u-1']);
  });

  it('ends a message that was vetoed with its vetoer, and answers nothing', async () => {
    await using lab = await hostLab({
      contribute: (kernel) =>
        kernel.contribute({
          family: 'egress.preparing',
          class: 'veto',
          extensionId: 'quiet',
          id: 'night',
          handler: () => ({ kind: 'cancel', code: 'quiet-hours', text: 'until 8' }),
        }),
    });
    const end = await lab.say('hello');
    expect(end).toMatchObject({ status: 'cancelled', reason: 'quiet/night: quiet-hours' });
    expect(lab.texts()).toEqual([]);
    expect(lab.of('egress.cancelled')[0]?.payload.cancel).toMatchObject({
      extensionId: 'quiet',
      contributionId: 'night',
      code: 'quiet-hours',
    });
    expect(lab.of('egress.sending')).toEqual([]);
    expect(lab.of('egress.sent')).toEqual([]);
  });
});

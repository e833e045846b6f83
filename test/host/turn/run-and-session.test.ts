import { describe, expect, it } from 'vitest';
import { scriptedAgent, startTestHost } from '../../../src/testing/index.js';

describe('the run and the session of a turn', () => {
  it('are in each event of it: one run, one session, one correlation', async () => {
    const steps = [{ thinking: 'hm' }, 'Let me look.', { tool: 'search', result: 'tea' }, 'Tea.'];
    const provider = scriptedAgent([steps]);
    await using test = await startTestHost({ agents: [{ id: 'main', provider }] });
    const { correlationId } = await test.say('hello');
    const ofTurn = test.outcomes.filter(({ event }) =>
      /^(agent|transcript|session)\./.test(event.family),
    );
    const families = ofTurn.map(({ event }) => event.family);
    for (const family of ['agent.prompt.building', 'agent.tool.calling', 'agent.completed'])
      expect(families).toContain(family);
    for (const { event } of ofTurn) {
      const payload = new Map(Object.entries(event.payload));
      const { family } = event;
      expect([
        family,
        event.sessionId,
        payload.get('sessionId'),
        event.agentId,
        event.correlationId,
      ]).toEqual([family, 'session-1', 'session-1', 'main', correlationId]);
      if (!family.startsWith('session.'))
        expect([family, payload.get('runId')]).toEqual([family, 'run-1']);
    }
    for (const { event } of test.of('egress.preparing'))
      expect([event.sessionId, event.correlationId]).toEqual(['session-1', correlationId]);
  });
});

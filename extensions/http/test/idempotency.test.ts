import { cancel, defineExtension } from 'sluice';
import { scriptedAgent } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { errorOf, eventsIn, httpLab, saying, steppedAgent, textOf } from './http-lab.js';

const key = { 'idempotency-key': 'k-1' };

describe('a request with an idempotency key', () => {
  it('is handled once, and has the same answer again (http §5.1)', async () => {
    const agent = scriptedAgent([['First.'], ['Second.']]);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent }] });
    expect(await textOf(await lab.ask(saying('hi'), key))).toBe('First.');
    expect(await textOf(await lab.ask(saying('hi'), key))).toBe('First.');
    const streamed = await lab.ask(saying('hi', { stream: true }), key);
    expect(JSON.stringify(eventsIn(await streamed.text()))).toContain('"content":"First."');
    expect(agent.requests).toHaveLength(1);
    expect(await textOf(await lab.ask(saying('hi')))).toBe('Second.');
  });

  it('shares its answer with one that comes meanwhile, also what was shown before (http §5.1)', async () => {
    const agent = steppedAgent(['One ', 'two.']);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent.provider }] });
    const first = lab.ask(saying('hi'), key);
    await agent.begun;
    agent.step();
    const second = lab.ask(saying('hi'), key);
    const stepping = setInterval(agent.step, 1);
    expect([await textOf(await first), await textOf(await second)]).toEqual([
      'One two.',
      'One two.',
    ]);
    clearInterval(stepping);
    expect(lab.test.ends).toHaveLength(1);
  });

  it('keeps its error, too (http §5.1)', async () => {
    const guard = defineExtension({
      id: 'guard',
      setup: (api) => api.veto('egress.preparing', 'no', () => cancel('unsafe')),
    });
    await using lab = await httpLab({}, { extensions: [guard] });
    for (const _ of [1, 2])
      expect(await errorOf(await lab.ask(saying('hi'), key))).toMatchObject({ code: 'unsafe' });
    expect(lab.test.ends).toHaveLength(1);
  });

  it('gives its key to no other request, and to no other person (http §5.1, http §5.2)', async () => {
    await using lab = await httpLab();
    await lab.ask(saying('hi'), key);
    for (const other of [
      saying('ho'),
      saying('hi', { stream: true, messages: [{ role: 'user', content: 'x' }] }),
    ]) {
      const refused = await lab.ask(other, key);
      expect([refused.status, (await errorOf(refused))['code']]).toEqual([
        422,
        'idempotency-mismatch',
      ]);
    }
    expect(await textOf(await lab.ask(saying('hi'), key))).toBe('hi');
  });

  it('goes on though its reader has gone, and is there for who asks again (http §3.6, http §5.3)', async () => {
    const agent = steppedAgent(['One ', 'two.']);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent.provider }] });
    const leaving = new AbortController();
    const left = fetch(`${lab.url}/v1/chat/completions`, {
      ...{ method: 'POST', headers: key, signal: leaving.signal },
      body: JSON.stringify(saying('hi')),
    }).catch(() => 'left');
    await agent.begun;
    leaving.abort();
    expect(await left).toBe('left');
    const stepping = setInterval(agent.step, 1);
    expect(await textOf(await lab.ask(saying('hi'), key))).toBe('One two.');
    clearInterval(stepping);
    expect(agent.isStopped()).toBe(false);
    expect(lab.test.ends).toHaveLength(1);
  });
});

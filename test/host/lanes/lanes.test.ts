import { describe, expect, it } from 'vitest';
import { Lanes } from '../../../src/host/internal.js';
import { ReloadGate } from '../../../src/host/lanes/gate.js';
import { Slots } from '../../../src/host/lanes/slots.js';
import type { AgentProvider, AgentRequest } from '../../../src/sdk/stream/index.js';
import { virtualClock } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';

/** An agent that answers when the test says so. */
function heldAgent() {
  const held = new Map<string, () => void>();
  const begun: string[] = [];
  const provider: AgentProvider = {
    id: 'held',
    models: ['m'],
    toolGate: 'enforce',
    async *run({ prompt }: AgentRequest) {
      begun.push(prompt);
      await new Promise<void>((resolve) => held.set(prompt, resolve));
      const content = [{ type: 'text', text: `re: ${prompt}` }] as const;
      yield { type: 'message_end', message: { role: 'assistant', content } };
      yield { type: 'agent_end', messages: [] };
    },
  };
  return { provider, begun, release: (prompt: string) => held.get(prompt)?.() };
}

describe('messages', () => {
  it('of one conversation are answered in order, those of others side by side', async () => {
    const { provider, begun, release } = heldAgent();
    await using lab = await hostLab({ agents: [{ id: 'main', provider }] });
    const one = lab.say({ text: 'one', conversation: 'a' });
    const two = lab.say({ text: 'two', conversation: 'a' });
    const three = lab.say({ text: 'three', conversation: 'b' });
    await lab.clock.advance(0);
    expect(begun).toEqual(['one', 'three']);
    release('three');
    await three;
    release('one');
    await one;
    await lab.clock.advance(0);
    expect(begun).toEqual(['one', 'three', 'two']);
    release('two');
    await two;
    expect(lab.texts()).toEqual(['re: three', 're: one', 're: two']);
  });

  it('of two conversations that share a session take turns', async () => {
    const { provider, begun, release } = heldAgent();
    await using lab = await hostLab({
      agents: [{ id: 'main', provider }],
      contribute: (kernel) =>
        kernel.contribute({
          family: 'routing.resolving',
          class: 'resolver',
          extensionId: 'test',
          id: 'shared',
          handler: () => ({
            kind: 'select',
            target: { agentId: 'main', sessionKey: 'shared' },
            explicit: false,
            rank: 0,
          }),
        }),
    });
    const one = lab.say({ text: 'one', conversation: 'a' });
    const two = lab.say({ text: 'two', conversation: 'b' });
    await lab.clock.advance(0);
    expect(begun).toEqual(['one']);
    release('one');
    await one;
    await lab.clock.advance(0);
    release('two');
    expect((await two).status).toBe('answered');
    expect(lab.of('session.started')).toHaveLength(1);
  });

  it('of one conversation keep their order however long a stage before the turn takes', async () => {
    await using lab = await hostLab({
      contribute: (kernel) =>
        kernel.contribute({
          family: 'ingress.normalized',
          class: 'observer',
          extensionId: 'test',
          id: 'slow-first',
          handler: ({ payload }) =>
            payload.content === 'one'
              ? new Promise((resolve) => lab.clock.setTimeout(() => resolve(), 1_000))
              : undefined,
        }),
    });
    const both = [lab.say('one'), lab.say('two')];
    await lab.clock.advance(1_000);
    await Promise.all(both);
    expect(lab.texts()).toEqual(['one', 'two']);
  });
});

describe('lanes', () => {
  it('are dropped when idle', async () => {
    const lanes = new Lanes({ capacity: 10 });
    await Promise.all([lanes.run('a', async () => 1), lanes.run('b', async () => 2)]);
    expect([lanes.size, lanes.jobs]).toEqual([0, 0]);
    await lanes.idle();
  });

  it('give room again when a job is done', async () => {
    const lanes = new Lanes({ capacity: 1 });
    let release: () => void = () => undefined;
    const job = lanes.run('a', () => new Promise<void>((resolve) => (release = resolve)));
    let hasRoom = false;
    const room = lanes.room('a').then(() => (hasRoom = true));
    await new Promise(setImmediate);
    expect(hasRoom).toBe(false);
    release();
    await job;
    await room;
    expect(hasRoom).toBe(true);
  });

  it('tell each who waits for room, also if one who was told does not use it', async () => {
    const lanes = new Lanes({ capacity: 5, capacityOfAll: 1 });
    let release: () => void = () => undefined;
    const job = lanes.run('a', () => new Promise<void>((resolve) => (release = resolve)));
    const told: string[] = [];
    const waiting = ['a', 'b', 'c'].map((key) => lanes.room(key).then(() => told.push(key)));
    await new Promise(setImmediate);
    release();
    await job;
    await Promise.all(waiting);
    expect(told).toEqual(['a', 'b', 'c']);
  });

  it('tell who waits for room among all, also if the one before it finds its own lane full', async () => {
    const lanes = new Lanes({ capacity: 1, capacityOfAll: 2 });
    const releases: (() => void)[] = [];
    const held = (key: string) =>
      lanes.run(key, () => new Promise<void>((resolve) => releases.push(resolve)));
    void held('a');
    const other = held('b');
    await new Promise(setImmediate);
    const told: string[] = [];
    const blocked = lanes.room('a').then(() => told.push('a')); // its lane is full
    const free = ['c', 'd'].map((key) => lanes.room(key).then(() => told.push(key)));
    releases[1]?.();
    await other;
    await Promise.all(free);
    expect(told).toEqual(['c', 'd']);
    releases[0]?.();
    await blocked;
  });

  it('hold no slot while the gate is closed: what has begun may need it to come to its end (durability §8.6)', async () => {
    const gate = new ReloadGate(virtualClock(), { suspends: true });
    const slots = new Slots(1);
    const lanes = new Lanes({ capacity: 10, gate, slots });
    const order: string[] = [];
    let goOn: () => void = () => undefined;
    const waited = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const begun = lanes.run('a', async (place) => {
      await waited;
      place.leave(); // it waits for its session
      await new Promise(setImmediate);
      await place.enter();
      order.push('a');
    });
    await new Promise(setImmediate);
    const others = ['b', 'c', 'd'].map((key) =>
      lanes.run(key, async () => {
        order.push(key);
      }),
    );
    await new Promise(setImmediate);
    const closed = gate.close();
    goOn();
    await begun;
    expect(await gate.quiet(1)).toBe(0);
    expect(order).toEqual(['a']);
    closed[Symbol.dispose]();
    await Promise.all(others);
    expect(order).toEqual(['a', 'b', 'c', 'd']);
    expect(slots.taken).toBe(0);
  });

  it('keep who waits for a slot in its order while slots are paused', async () => {
    const slots = new Slots(1);
    const lanes = new Lanes({ capacity: 10, slots });
    const order: string[] = [];
    const paused = slots.pause();
    const jobs = ['a', 'b', 'c'].map((key) => lanes.run(key, async () => order.push(key)));
    await new Promise(setImmediate);
    expect([order, slots.waiting, slots.taken]).toEqual([[], 3, 0]);
    paused[Symbol.dispose]();
    await Promise.all(jobs);
    expect(order).toEqual(['a', 'b', 'c']);
  });

  it('go on after a job that fails', async () => {
    const lanes = new Lanes({ capacity: 10 });
    const failed = lanes.run('a', async () => Promise.reject(new Error('no')));
    const next = lanes.run('a', async () => 'next');
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('next');
  });
});

import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import { memoryStore, type Store } from '../../src/journal/index.js';
import { select } from '../../src/kernel/internal.js';
import type { DecodedIngress } from '../../src/sdk/channel/index.js';
import { hostLab } from '../support/host-lab.js';
import { scriptedChannel } from '../support/scripted-channel.js';

const at = { extensionId: 'test', id: 'probe' } as const;

describe('a message that goes wrong ends visibly, and the next one is answered', () => {
  it('when its update cannot be decoded', async () => {
    await using lab = await hostLab();
    await lab.channel.receive({ nonsense: true }, 'u-bad');
    await lab.clock.advance(0);
    expect(lab.ends).toMatchObject([
      { status: 'undecodable', updateId: 'u-bad', reason: 'it says nothing (at /text)' },
    ]);
    expect(lab.of('ingress.received')).toHaveLength(1);
    expect(lab.of('ingress.normalized')).toEqual([]);
    expect(lab.log.entries.find(({ level }) => level === 'warn')).toMatchObject({
      message: 'an update could not be decoded',
      fields: { detail: 'it says nothing (at /text)' },
    });
    expect(lab.channel.acknowledged).toHaveLength(1);
    expect((await lab.say('next')).status).toBe('answered');
  });

  it('when its channel decodes it to something that is no message: the path is named', async () => {
    const wrong = { channel: 'scripted', from: 'x', content: 7, attachments: [], metadata: {} };
    const decode = () => ({ kind: 'message', message: wrong }) as never; // as a careless channel does
    await using lab = await hostLab({ channel: scriptedChannel({ decode }) });
    const end = await lab.say('hello');
    expect(end).toMatchObject({
      status: 'undecodable',
      reason: expect.stringMatching(/\/content/),
    });
  });

  it('when decodeIngress throws', async () => {
    const decode = () => {
      throw new Error('bad bytes');
    };
    await using lab = await hostLab({ channel: scriptedChannel({ decode }) });
    expect(await lab.say('hello')).toMatchObject({
      status: 'undecodable',
      reason: expect.stringMatching(/bad bytes/),
    });
  });

  it('when a fail-closed veto of its route fails: its sender is told', async () => {
    await using lab = await hostLab({
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          family: 'routing.resolving',
          class: 'veto',
          failClosed: true,
          handler: () => {
            throw new Error('no policy server');
          },
        }),
    });
    const end = await lab.say('hello');
    expect(end).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/no policy server/),
    });
    expect(lab.texts()).toEqual(['This message could not be answered (routing).']);
  });

  it('when its source names an agent that is not there: no other answers in its place', async () => {
    const place = { channel: 'scripted', accountId: 'default', from: 'scripted:ada' };
    const message = { ...place, content: 'hello', attachments: [], metadata: {} };
    const route = { agentId: 'gone' };
    const decode = (): DecodedIngress => ({ kind: 'message', message, route });
    await using lab = await hostLab({ channel: scriptedChannel({ decode }) });
    const end = await lab.say('hello');
    expect(end).toMatchObject({
      status: 'failed',
      reason: 'it has a route to agent "gone"; there are: main',
    });
    expect(lab.of('routing.resolved')).toEqual([]);
    expect(lab.texts()).toEqual(['This message could not be answered (routing).']);
  });

  it('when its route names an agent that is not there, the default answers', async () => {
    await using lab = await hostLab({
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          family: 'routing.resolving',
          class: 'resolver',
          handler: () => select({ agentId: 'gone' }, { explicit: true }),
        }),
    });
    expect((await lab.say('hello')).agentId).toBe('main');
    expect(lab.of('routing.resolving')[0]?.candidates).toContainEqual(
      expect.objectContaining({ invalid: 'there is no agent "gone"' }),
    );
  });

  it('when no valid model is left: its sender is told the code, the operator the list', async () => {
    await using lab = await hostLab({
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          family: 'agent.model.resolving',
          class: 'mutator',
          handler: () => ({ model: 'gone' }),
        }),
    });
    const end = await lab.say('hello');
    expect(end).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/echo\/echo-full/),
    });
    expect(lab.texts()).toEqual(['This message could not be answered (no-model).']);
    expect(lab.of('agent.completed')).toMatchObject([{ payload: { success: false } }]);
  });

  it('when the agent fails after it has said something: that goes out first', async () => {
    const provider = {
      ...echoProvider(),
      async *run() {
        const content = [{ type: 'text', text: 'So far.' }] as const;
        yield { type: 'message_end', message: { role: 'assistant', content } } as const;
        throw new Error('connection reset');
      },
    };
    await using lab = await hostLab({ agents: [{ id: 'main', provider }] });
    await lab.say('hello');
    expect(lab.texts()).toEqual([
      'So far.',
      'This message could not be answered (provider-failed).',
    ]);
  });

  it.each([
    ['loadSession', 'session'],
    ['saveSession', 'session'],
    ['readTranscript', 'session'],
    ['appendMessage', 'not-written'],
  ] as const)('when the store fails in %s: its sender is told', async (verb, code) => {
    let isBroken = false;
    const memory = memoryStore();
    const store: Store = {
      ...memory,
      [verb]: async (...args: never[]) => {
        if (isBroken) throw new Error('disk full');
        return (memory[verb] as (...args: never[]) => Promise<unknown>)(...args); // the same verb with what it was given
      },
    };
    await using lab = await hostLab({ store });
    if (verb === 'readTranscript') await lab.say('first'); // an empty transcript is not read
    isBroken = true;
    const end = await lab.say('hello');
    expect(end).toMatchObject({ status: 'failed', reason: expect.stringMatching(/disk full/) });
    expect(lab.texts().slice(-1)).toEqual([`This message could not be answered (${code}).`]);
    isBroken = false;
    expect((await lab.say('again')).status).toBe('answered');
  });

  it('and what its sender is told is the host’s to say, or not', async () => {
    const provider = { ...echoProvider(), models: ['echo'], run: () => never() };
    const agents = [{ id: 'main', provider }];
    await using told = await hostLab({ agents, failureText: ({ message }) => `Sorry: ${message}` });
    await told.say('hello');
    expect(told.texts()).toEqual(['Sorry: no key']);
    await using quiet = await hostLab({ agents, failureText: () => undefined });
    expect((await quiet.say('hello')).status).toBe('failed');
    expect(quiet.texts()).toEqual([]);
  });

  it('when acknowledging it fails: that is logged', async () => {
    const channel = scriptedChannel();
    channel.ack = async () => {
      throw new Error('offset lost');
    };
    await using lab = await hostLab({ channel });
    expect((await lab.say('hello')).status).toBe('answered');
    expect(lab.log.entries.filter(({ level }) => level === 'warn')).toEqual([
      {
        level: 'warn',
        message: 'an update was not acknowledged',
        fields: {
          channel: expect.any(String),
          error: expect.objectContaining({ message: expect.stringContaining('offset lost') }),
        },
      },
    ]);
  });
});

function never(): never {
  throw new Error('no key');
}

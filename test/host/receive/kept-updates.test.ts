import { describe, expect, it } from 'vitest';
import type { HostJournal } from '../../../src/host/index.js';
import { journalError } from '../../../src/journal/errors.js';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';
import { eventIdOf } from '../../../src/journal/internal.js';
import { cancel, type Kernel } from '../../../src/kernel/internal.js';
import type { AgentProvider, AgentRequest } from '../../../src/sdk/stream/index.js';
import { type HostLab, type HostLabOptions, hostLab } from '../../support/host-lab.js';
import { type MortalJournal, mortalJournal } from '../../support/mortal-journal.js';
import { type ScriptedChannelOptions, scriptedChannel } from '../../support/scripted-channel.js';

/** An agent that says these, each as a message of its own; `hang` waits until it is aborted. */
function speaker(...texts: readonly string[]): AgentProvider & { readonly turns: string[] } {
  const turns: string[] = [];
  return {
    id: 'speaker',
    models: ['m'],
    toolGate: 'enforce',
    turns,
    async *run({ prompt, signal }: AgentRequest) {
      turns.push(prompt);
      for (const text of texts) {
        if (text === 'hang')
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        else {
          const content = [{ type: 'text', text }] as const;
          yield { type: 'message_start', message: { role: 'assistant', content: [] } };
          yield { type: 'message_end', message: { role: 'assistant', content } };
        }
      }
      yield { type: 'agent_end', messages: [] };
    },
  };
}

interface KeptLabOptions extends Omit<HostLabOptions, 'channel' | 'journal'> {
  readonly journal: Journal;
  readonly journalSettings?: HostJournal;
  readonly provider?: AgentProvider;
  readonly scripted?: ScriptedChannelOptions;
  readonly failing?: Parameters<typeof mortalJournal>[1];
}

interface KeptLab extends HostLab {
  readonly mortal: MortalJournal;
  /** Ends the host as a killed process would: it does nothing more. */
  kill(): void;
}

/** A host with a journal that others have had before it. */
async function keptLab({
  journal,
  journalSettings,
  provider,
  scripted,
  failing,
  ...options
}: KeptLabOptions): Promise<KeptLab> {
  const mortal = mortalJournal(journal, failing);
  const lab = await hostLab({
    journal: { opened: mortal, ...journalSettings },
    channel: scriptedChannel(scripted),
    ...(provider !== undefined && { agents: [{ id: 'main', provider }] }),
    ...options,
  });
  return { ...lab, mortal, kill: () => mortal.kill() };
}

const idOf = (updateId: string) => eventIdOf('scripted', 'default', updateId);

function logged({ log }: HostLab): string {
  return log.entries
    .map(({ message, fields }) => `${message} ${String(fields['error'] ?? '')}`)
    .join('\n');
}

async function statesOf(journal: Journal): Promise<string[]> {
  return (await journal.updates()).map(({ state, outcome }) => [state, outcome].join(' ').trim());
}

async function sendStates(journal: Journal): Promise<string[]> {
  return (await journal.sends()).map(({ state, cause }) => [state, cause].join(' ').trim());
}

function vetoAll(kernel: Kernel): void {
  kernel.contribute({
    family: 'egress.preparing',
    class: 'veto',
    extensionId: 'guard',
    id: 'no',
    handler: () => cancel('policy'),
  });
}

describe('an update with a journal', () => {
  it('is persisted, and begun if nothing makes it wait, before it is acknowledged and handled (durability §6.1, durability §6.9)', async () => {
    const journal = memoryJournal();
    const kept: string[] = [];
    const channel = scriptedChannel();
    const ack: typeof channel.ack = async (_account, { updateId = '' }) => {
      kept.push(...(await statesOf(journal)), updateId);
    };
    await using lab = await hostLab({
      journal,
      channel: { ...channel, ack },
      agents: [{ id: 'main', provider: speaker('hang') }],
    });
    await channel.receive({ text: 'hi' }, '7');
    expect(kept).toEqual(['handling', '7']);
    expect(lab.ends).toEqual([]);
    kept.length = 0;
    await channel.receive({ text: 'hi' }, '8');
    expect(kept).toEqual(['handling', 'accepted', '8']); // its conversation is not free
  });

  it('ends in the journal as its message did (durability §6.3)', async () => {
    const journal = memoryJournal();
    await using lab = await keptLab({
      journal,
      scripted: {
        decode: (raw) => (raw === 'nothing' ? { kind: 'ignored', reason: 'empty' } : undefined),
      },
    });
    await lab.say('hi');
    await lab.channel.receive('nothing', 'x-1');
    await lab.channel.receive({ unread: true }, 'x-2');
    await lab.say('/help');
    await lab.clock.advance(0);
    expect(await statesOf(journal)).toEqual([
      'ended answered',
      'ended ignored',
      'dead undecodable',
      'ended command',
    ]);
    expect(await sendStates(journal)).toEqual(['sent', 'sent']);
    expect(lab.host.stats()).toMatchObject({ received: 4, deadLetters: 1, waiting: 0 });
  });

  it('names who cancelled its reply (durability §3.1)', async () => {
    const journal = memoryJournal();
    await using lab = await keptLab({ journal, contribute: vetoAll });
    await lab.say('hi');
    expect(await statesOf(journal)).toEqual(['ended cancelled']);
    expect(await journal.sends()).toMatchObject([
      {
        state: 'cancelled',
        cause: 'policy',
        reason: 'guard/no',
        attempts: 0,
        correlationId: idOf('u-1'),
      },
    ]);
  });

  it('that comes again has one effect, and is acknowledged again (fault 37, durability §2.2)', async () => {
    const journal = memoryJournal();
    await using first = await keptLab({ journal });
    await Promise.all([1, 2, 3].map(() => first.channel.receive({ text: 'hi' }, '7'))); // at once
    await first.clock.advance(0);
    await first.channel.receive({ text: 'hi' }, '7'); // after its end
    await first.clock.advance(0);
    expect(first.texts()).toEqual(['hi']);
    expect(first.channel.acknowledged).toHaveLength(4);
    expect(first.host.stats()).toMatchObject({ received: 4, duplicates: 3 });
    first.kill();
    await using second = await keptLab({ journal });
    await second.channel.receive({ text: 'hi' }, '7'); // after a restart
    await second.clock.advance(0);
    expect(second.texts()).toEqual([]);
    expect(second.ends).toEqual([]);
    expect(second.of('ingress.received')).toEqual([]);
  });

  it('without an id of its provider is a new one each time', async () => {
    const journal = memoryJournal();
    await using lab = await keptLab({ journal });
    const inbox = lab.channel.receive as unknown as (raw: unknown) => Promise<void>;
    await inbox({ text: 'hi' });
    await inbox({ text: 'hi' });
    await lab.clock.advance(0);
    expect(lab.texts()).toEqual(['hi', 'hi']);
  });

  it('whose body is no JSON is handled, but cannot be after a restart: it is a dead letter then', async () => {
    const journal = memoryJournal();
    await using first = await keptLab({ journal, provider: speaker('hang') });
    const raw: { text: string; self?: unknown } = { text: 'hi' };
    raw.self = raw;
    await first.channel.receive(raw, '7');
    await first.clock.advance(0);
    expect(logged(first)).toMatch(/persisted without its body/);
    first.kill();
    await using second = await keptLab({ journal });
    await second.clock.advance(0);
    expect(second.ends).toMatchObject([
      { status: 'failed', reason: expect.stringMatching(/body/) },
    ]);
    expect(await statesOf(journal)).toEqual(['dead failed']);
  });

  it('whose body is no JSON is answered by its own host also after a fault of the journal (durability §6.13, durability §8.8.1)', async () => {
    const memory = memoryJournal();
    let failures = 0;
    const journal: Journal = {
      ...memory,
      prepare: async (...args) => {
        if (failures++ < 3)
          throw journalError('database-busy', { path: 'test', problem: 'a lock' });
        return await memory.prepare(...args);
      },
    };
    await using lab = await keptLab({ journal });
    const raw: { text: string; self?: unknown } = { text: 'hi' };
    raw.self = raw;
    await lab.channel.receive(raw, '7');
    await lab.clock.advance(60_000);
    expect(lab.ends).toMatchObject([{ status: 'answered' }]);
    expect(await statesOf(memory)).toEqual(['ended answered']);
  });
});

describe('fault 35: a journal that cannot be written to (durability §6.2)', () => {
  const full = new Error('database or disk is full');

  it('has an update neither handled nor acknowledged, and says so; it is taken in when it comes again', async () => {
    const journal = memoryJournal();
    await using lab = await keptLab({
      journal,
      failing: (write, nth) => (write === 'accept' && nth === 1 ? full : undefined),
    });
    await lab.channel.receive({ text: 'hi' }, '7');
    expect(lab.channel.acknowledged).toEqual([]);
    expect(lab.ends).toEqual([]);
    expect(lab.host.stats()).toMatchObject({ refused: 1 });
    const told = lab.log.entries.filter(({ message }) => /was not taken in/.test(message));
    expect(told).toMatchObject([{ level: 'error' }]);
    await lab.channel.receive({ text: 'hi' }, '7');
    await lab.clock.advance(0);
    expect(lab.channel.acknowledged).toHaveLength(1);
    expect(lab.texts()).toEqual(['hi']);
  });

  it.each(['begin', 'endUpdate'] as const)(
    'at "%s" has the update claimed again later',
    async (kind) => {
      const journal = memoryJournal();
      await using lab = await keptLab({
        journal,
        failing: (write, nth) => (write === kind && nth === 2 ? full : undefined),
      });
      for (const text of ['free', 'hi']) void lab.channel.receive({ text }, text); // "hi" is begun apart
      await lab.clock.advance(5_000);
      expect(await statesOf(journal)).toEqual(['ended answered', 'ended answered']);
      expect(lab.texts()).toEqual(['free', 'hi']); // once, whichever of them failed
      expect(logged(lab)).toMatch(/disk is full/);
    },
  );

  it.each([1, 2])(
    'at "begin", %i times, has what comes after it in its conversation wait for it, and nothing else (durability §6.6)',
    async (times) => {
      const journal = memoryJournal();
      await using lab = await keptLab({
        journal,
        failing: (write, nth) =>
          write === 'begin' && nth > 1 && nth <= times + 1 ? full : undefined,
      });
      const receive = (text: string, conversation = 'one') =>
        lab.channel.receive({ text, conversation }, text);
      // "a" is begun apart, since "free" is before it; "b" waits when "a" cannot be begun
      await Promise.all(['free', 'a', 'b'].map((text) => receive(text)));
      await lab.clock.advance(10);
      await receive('c');
      if (times === 1) await receive('other', 'two');
      await lab.clock.advance(10);
      expect(lab.texts()).toEqual(times === 1 ? ['free', 'other'] : ['free']);
      for (let seconds = 0; seconds < 5; seconds++) await lab.clock.advance(1_000);
      expect(lab.texts().filter((text) => text !== 'other')).toEqual(['free', 'a', 'b', 'c']);
      expect(lab.host.stats()).toMatchObject({ waiting: 0 });
    },
  );

  it('at "begin" leaves its conversation to the next host, if the input has ended (durability §6.6)', async () => {
    const journal = memoryJournal();
    const lab = await keptLab({
      journal,
      failing: (write, nth) => (write === 'begin' && nth > 1 ? full : undefined),
    });
    for (const text of ['free', 'a']) void lab.channel.receive({ text, conversation: 'one' }, text); // "a" is begun apart
    await lab.clock.advance(10);
    await lab.channel.receive({ text: 'b', conversation: 'one' }, 'b');
    lab.channel.end();
    await lab.clock.advance(10_000);
    expect(await lab.host.stopped).toMatchObject({ drained: true });
    lab.kill();
    await using second = await keptLab({ journal });
    await second.clock.advance(0);
    expect(second.texts()).toEqual(['a', 'b']);
  });

  it.each(['prepare', 'sending'] as const)('at "%s" has nothing sent', async (kind) => {
    const journal = memoryJournal();
    await using lab = await keptLab({
      journal,
      failing: (write) => (write === kind ? full : undefined),
    });
    const end = await lab.say('hi');
    expect(lab.texts()).toEqual([]);
    expect(end).toMatchObject({ status: 'failed', reason: expect.stringMatching(/journal/) });
    expect(lab.of('egress.failed')).toHaveLength(1);
    expect(await statesOf(journal)).toEqual(['dead failed']);
  });

  it('at the end of a send leaves it to the next host, which does not send it again', async () => {
    const journal = memoryJournal();
    await using first = await keptLab({
      journal,
      failing: (write) => (write === 'endSend' || write === 'endUpdate' ? full : undefined),
    });
    expect(await first.say('hi')).toMatchObject({ status: 'answered' });
    expect(await sendStates(journal)).toEqual(['sending']);
    first.kill();
    await using second = await keptLab({ journal });
    await second.clock.advance(0);
    expect(second.texts()).toEqual([]);
    expect(await sendStates(journal)).toEqual(['failed ambiguous']);
    expect(await statesOf(journal)).toEqual(['dead failed']);
  });
});

describe('after the host was killed (durability §7)', () => {
  it('what was accepted is answered, in order, before what is new', async () => {
    const journal = memoryJournal();
    await using first = await keptLab({ journal, provider: speaker('hang') });
    for (const text of ['one', 'two', 'three']) await first.channel.receive({ text }, text);
    first.kill();
    const provider = speaker('answer');
    await using second = await keptLab({ journal, provider });
    await second.channel.receive({ text: 'four' }, 'four');
    await second.clock.advance(0);
    expect(provider.turns).toEqual(['one', 'two', 'three', 'four']);
    expect(second.ends.map(({ status, correlationId }) => [status, correlationId])).toEqual(
      ['one', 'two', 'three', 'four'].map((id) => ['answered', idOf(id)]),
    );
    expect(second.of('ingress.normalized').map(({ event }) => event.correlationId)).toEqual(
      ['one', 'two', 'three', 'four'].map(idOf),
    );
    expect(second.host.stats()).toMatchObject({ received: 1, resumed: 3 });
  });

  it('the body of each is read once, when its turn has come (durability §8.8)', async () => {
    const journal = memoryJournal();
    const texts = Array.from({ length: 130 }, (_, at) => `m-${at}`);
    const first = await keptLab({ journal, provider: speaker('hang'), lanes: { maxRunning: 1 } });
    for (const text of texts)
      await first.channel.receive({ text, conversation: `c-${Number(text.slice(2)) % 90}` }, text);
    first.kill();
    let bodies = 0;
    const counted: Journal = {
      ...journal,
      updates: async (filter) => {
        const rows = await journal.updates(filter);
        bodies += rows.filter(({ body }) => body !== undefined).length;
        return rows;
      },
    };
    await using second = await keptLab({ journal: counted, lanes: { maxRunning: 1 } });
    while (second.channel.sent.length < texts.length) await second.clock.advance(0);
    expect(bodies).toBe(texts.length);
  });

  it('a turn is taken again, but its words are not sent again where they are the same (durability §7.4)', async () => {
    const journal = memoryJournal();
    const seen: string[] = [];
    await using first = await keptLab({ journal, provider: speaker('let me see', 'well', 'hang') });
    await first.channel.receive({ text: 'hi' }, '7');
    await first.clock.advance(0);
    seen.push(...first.texts());
    expect(seen).toEqual(['let me see']); // the last is held back
    first.kill();
    await using second = await keptLab({
      journal,
      provider: speaker('let me see', 'well', 'done'),
    });
    await second.clock.advance(0);
    seen.push(...second.texts());
    expect(seen).toEqual(['let me see', 'well', 'done']);
    expect(second.ends).toMatchObject([{ status: 'answered' }]);
    expect(second.ends[0]?.sends.map(({ content }) => content)).toEqual(seen);
  });

  it('other words are said: what is new is not lost', async () => {
    const journal = memoryJournal();
    await using first = await keptLab({ journal, provider: speaker('let me see', 'x', 'hang') });
    await first.channel.receive({ text: 'hi' }, '7');
    await first.clock.advance(0);
    first.kill();
    await using second = await keptLab({ journal, provider: speaker('I look', 'done') });
    await second.clock.advance(0);
    expect(second.texts()).toEqual(['I look', 'done']);
    const ids = (await journal.sends()).map(({ sendId }) => sendId);
    expect(new Set(ids).size).toBe(3);
  });

  it('a send has an id of its own, also where one before it could not be persisted', async () => {
    const journal = memoryJournal();
    const texts = ['one', 'two', 'three', 'hang'];
    const first = await keptLab({
      journal,
      provider: speaker(...texts),
      failing: (write, nth) =>
        write === 'prepare' && nth === 1 ? new Error('the disk is full') : undefined,
    });
    await first.channel.receive({ text: 'hi' }, '7');
    await first.clock.advance(0);
    expect(first.texts()).toEqual(['two']);
    first.kill();
    await using second = await keptLab({ journal, provider: speaker('one', 'two', 'three') });
    await second.clock.advance(0);
    expect(second.texts()).toEqual(['one', 'three']);
    expect(await statesOf(journal)).toEqual(['ended answered']);
  });

  it('a turn whose reply was prepared is not taken again (durability §7.3)', async () => {
    const journal = memoryJournal();
    await using first = await keptLab({
      journal,
      failing: (write) => (write === 'endUpdate' ? new Error('gone') : undefined),
      provider: speaker('the answer'),
    });
    await first.channel.receive({ text: 'hi' }, '7');
    await first.clock.advance(0);
    expect(first.texts()).toEqual(['the answer']);
    first.kill();
    const provider = speaker('another answer');
    await using second = await keptLab({ journal, provider });
    await second.clock.advance(0);
    expect([provider.turns, second.texts()]).toEqual([[], []]);
    expect(second.ends).toMatchObject([
      { status: 'answered', correlationId: idOf('7'), sends: [{ content: 'the answer' }] },
    ]);
    expect(await statesOf(journal)).toEqual(['ended answered']);
  });

  it('a message that failed, and whose sender was told so, is a dead letter and not an answered one', async () => {
    const journal = memoryJournal();
    await using first = await keptLab({
      journal,
      failing: (write) => (write === 'endUpdate' ? new Error('gone') : undefined),
      provider: {
        ...speaker(),
        run: () => {
          throw new Error('no model');
        },
      },
    });
    await first.channel.receive({ text: 'hi' }, '7');
    await first.clock.advance(0);
    expect(first.texts()).toHaveLength(1);
    first.kill();
    await using second = await keptLab({ journal });
    await second.clock.advance(0);
    expect(second.texts()).toEqual([]);
    expect(await statesOf(journal)).toEqual(['dead failed']);
  });

  it('what waits for an account that does not run is left for it', async () => {
    const journal = memoryJournal();
    await using first = await keptLab({ journal, provider: speaker('hang') });
    await first.channel.receive({ text: 'hi' }, '7');
    first.kill();
    await using other = await keptLab({ journal, scripted: { id: 'other' } });
    await other.clock.advance(0);
    expect(await statesOf(journal)).toEqual(['handling']);
    expect(logged(other)).toMatch(/an update waits for its account/);
    other.kill();
    await using third = await keptLab({ journal });
    await third.clock.advance(0);
    expect(third.texts()).toEqual(['hi']);
  });
});

describe('a send that a killed host has left (durability §7.2)', () => {
  /** Kills the host when the channel has the message. */
  async function killedWhileSending(journal: Journal, provider = speaker('hello')) {
    const keys: string[] = [];
    const first: { lab?: KeptLab } = {};
    first.lab = await keptLab({
      journal,
      provider,
      scripted: {
        send: (permit) => {
          keys.push(permit.idempotencyKey);
          first.lab?.kill();
          return new Promise(() => undefined);
        },
      },
    });
    await first.lab.channel.receive({ text: 'hi' }, '7');
    await first.lab.clock.advance(0);
    expect(await sendStates(journal)).toEqual(['sending']);
    return keys;
  }

  type Case = [
    string,
    Pick<ScriptedChannelOptions, 'resendPolicy' | 'deduplicatesSends'>,
    'resend' | 'fail' | undefined,
    string,
  ];
  it.each<Case>([
    [
      'is sent again under its key where the channel deduplicates',
      { resendPolicy: { ambiguous: 'resend' }, deduplicatesSends: true },
      undefined,
      'sent',
    ],
    [
      'is not where the channel only says so',
      { resendPolicy: { ambiguous: 'resend' } },
      undefined,
      'failed ambiguous',
    ],
    [
      'is given up where the channel says so',
      { resendPolicy: { ambiguous: 'fail' } },
      'resend',
      'failed ambiguous',
    ],
    [
      'is sent again where the operator says so',
      { resendPolicy: { ambiguous: 'ask' } },
      'resend',
      'sent',
    ],
    [
      'is given up where the operator says so',
      { resendPolicy: { ambiguous: 'ask' } },
      'fail',
      'failed ambiguous',
    ],
    [
      'is given up where there is nobody to ask',
      { resendPolicy: { ambiguous: 'ask' } },
      undefined,
      'failed ambiguous',
    ],
  ])('%s', async (_, scripted, answer, state) => {
    const journal = memoryJournal();
    const [key] = await killedWhileSending(journal);
    const keys: string[] = [];
    const asked: unknown[] = [];
    await using second = await keptLab({
      journal,
      scripted: {
        ...scripted,
        send: async (permit, sent) => {
          keys.push(permit.idempotencyKey);
          sent.push(permit.take());
          return { status: 'sent', receipt: { messageId: 'p-1' } };
        },
      },
      ...(answer !== undefined && {
        onAmbiguousSend: async (send) => {
          asked.push(send);
          return answer;
        },
      }),
    });
    await second.clock.advance(0);
    expect(await sendStates(journal)).toEqual([state]);
    expect(keys).toEqual(state === 'sent' ? [key] : []);
    expect(second.texts()).toEqual(state === 'sent' ? ['hello'] : []);
    expect(second.ends).toMatchObject([{ status: state === 'sent' ? 'answered' : 'failed' }]);
    expect(await statesOf(journal)).toEqual([state === 'sent' ? 'ended answered' : 'dead failed']);
    expect(second.of('egress.failed')).toHaveLength(state === 'sent' ? 0 : 1);
    if (scripted.resendPolicy?.ambiguous === 'ask' && answer !== undefined)
      expect(asked).toMatchObject([{ idempotencyKey: key, channel: 'scripted', attempt: 1 }]);
  });

  it('is not said again under another key if the journal fails when it is sent again (durability §7.2, durability §7.4)', async () => {
    const journal = memoryJournal();
    const keys = await killedWhileSending(journal, speaker('hello', 'well'));
    const away = journalError('database-io', { path: 'memory', problem: 'it is away' });
    await using second = await keptLab({
      journal,
      provider: speaker('hello', 'well'),
      scripted: {
        ...{ resendPolicy: { ambiguous: 'resend' }, deduplicatesSends: true },
        send: async (permit, sent) => {
          const message = permit.take();
          if (message.content === 'hello') keys.push(permit.idempotencyKey);
          sent.push(message);
          return { status: 'sent', receipt: { messageId: 'p-1' } };
        },
      },
      failing: (write, nth) => (write === 'sending' && nth === 1 ? away : undefined),
    });
    for (let seconds = 0; seconds < 30; seconds++) await second.clock.advance(1_000);
    expect(new Set(keys).size).toBe(1);
    expect(second.texts()).toContain('well');
    expect(await statesOf(journal)).toEqual(['ended answered']);
  });

  it('that was prepared goes out, judged once more', async () => {
    const journal = memoryJournal();
    const first: { lab?: KeptLab } = {};
    first.lab = await keptLab({
      journal,
      provider: speaker('hello'),
      failing: (write) => {
        if (write === 'sending') first.lab?.kill();
        return undefined;
      },
    });
    await first.lab.channel.receive({ text: 'hi' }, '7');
    await first.lab.clock.advance(0);
    await using second = await keptLab({ journal });
    await second.clock.advance(0);
    expect(second.texts()).toEqual(['hello']);
    expect(second.of('egress.preparing')).toHaveLength(1);
    expect(await statesOf(journal)).toEqual(['ended answered']);
  });

  it('is cancelled by a veto of today, or given up where it may be out', async () => {
    const journal = memoryJournal();
    await killedWhileSending(journal);
    await using second = await keptLab({
      journal,
      contribute: vetoAll,
      scripted: { resendPolicy: { ambiguous: 'resend' }, deduplicatesSends: true },
    });
    await second.clock.advance(0);
    expect(await journal.sends()).toMatchObject([
      {
        state: 'failed',
        cause: 'ambiguous',
        reason: expect.stringMatching(/egress.preparing cancelled/),
      },
    ]);
  });

  it('that nobody had asked for goes out as well', async () => {
    const journal = memoryJournal();
    const first: { lab?: KeptLab } = {};
    first.lab = await keptLab({
      journal,
      scripted: {
        resendPolicy: { ambiguous: 'fail', maxAttempts: 3, maxWaitMs: 60_000 },
        send: async () => ({ status: 'retry-after', retryAfterMs: 30_000 }),
      },
    });
    void first.lab.host.send({
      channel: 'scripted',
      accountId: 'default',
      to: 'ada',
      content: 'a reminder',
    });
    await first.lab.clock.advance(1_000);
    expect(await sendStates(journal)).toEqual(['prepared']); // released unsent, and waiting
    first.lab.kill();
    await using second = await keptLab({ journal });
    await second.clock.advance(0);
    expect(second.texts()).toEqual(['a reminder']);
    expect(await sendStates(journal)).toEqual(['sent']);
  });
});

describe('a message that never comes to its end (durability §7.5)', () => {
  it('is begun as often as it may be, then it is a dead letter that says why', async () => {
    const journal = memoryJournal();
    for (let start = 0; start < 3; start++) {
      await using lab = await keptLab({
        journal,
        provider: speaker('hang'),
        journalSettings: { maxAttempts: 3 },
      });
      if (start === 0) await lab.channel.receive({ text: 'poison' }, '7');
      await lab.clock.advance(10_000); // a last attempt is made by a host that has run for a while
      lab.kill();
    }
    const provider = speaker('answer');
    await using last = await keptLab({ journal, provider, journalSettings: { maxAttempts: 3 } });
    await last.channel.receive({ text: 'fine', conversation: 'other' }, 'fine');
    await last.clock.advance(10_000);
    const [poison] = await journal.updates({ eventId: idOf('7') });
    expect(poison).toMatchObject({
      state: 'dead',
      attempts: 3,
      reason: 'it was begun 3 times, and never came to an end',
      body: '{"text":"poison"}',
    });
    expect(provider.turns).not.toContain('poison');
    expect(provider.turns.length).toBeGreaterThan(0);
  });

  it('ends as it was answered if its host died after that, also at its last attempt (durability §7.3)', async () => {
    const journal = memoryJournal();
    const never = new Promise<never>(() => undefined);
    const dying = { ...journal, endUpdate: () => never };
    const first = await keptLab({
      journal: dying,
      provider: speaker('answer'),
      journalSettings: { maxAttempts: 1 },
    });
    await first.channel.receive({ text: 'hi' }, '7');
    await first.clock.advance(0);
    expect(first.texts()).toEqual(['answer']);
    first.kill();
    await using second = await keptLab({
      journal,
      provider: speaker('other'),
      journalSettings: { maxAttempts: 1 },
    });
    await second.clock.advance(10_000);
    expect(await statesOf(journal)).toEqual(['ended answered']);
    expect(second.texts()).toEqual([]);
  });

  it('is handled again when an operator wants it, by the host that runs', async () => {
    const journal = memoryJournal();
    const provider = speaker('answer');
    let isBroken = true;
    await using lab = await keptLab({
      journal: { ...journal, changedOutside: () => true },
      provider,
      scripted: {
        send: async (permit, sent) => {
          if (isBroken) return { status: 'rejected', reason: 'blocked' };
          sent.push(permit.take());
          return { status: 'sent', receipt: {} };
        },
      },
    });
    await lab.channel.receive({ text: 'hi' }, '7');
    await lab.clock.advance(0);
    expect(await statesOf(journal)).toEqual(['dead failed']);
    isBroken = false;
    expect(await journal.retry(idOf('7'))).toBe(true);
    await lab.clock.advance(1_000);
    expect(await statesOf(journal)).toEqual(['ended answered']);
    expect(lab.texts()).toEqual(['answer']); // what was refused before is sent again: it is not out
    expect(await sendStates(journal)).toEqual(['failed rejected', 'sent']);
  });

  it('that was tried again is handled again also after a crash: the reply before that does not answer it (durability §7.6)', async () => {
    const journal = memoryJournal();
    const broken: AgentProvider = {
      ...speaker(),
      run: () => {
        throw new Error('no model');
      },
    };
    const first = await keptLab({ journal, provider: broken });
    await first.channel.receive({ text: 'hi' }, '7');
    await first.clock.advance(0);
    expect(first.texts()).toHaveLength(1); // its sender was told
    first.kill();
    expect(await journal.retry(idOf('7'))).toBe(true);
    const second = await keptLab({ journal, provider: speaker('hang') });
    await second.clock.advance(0);
    expect(await statesOf(journal)).toEqual(['handling']);
    second.kill();
    const third = await keptLab({ journal, provider: speaker('the answer') });
    await third.clock.advance(0);
    expect(third.texts()).toEqual(['the answer']);
    expect(await statesOf(journal)).toEqual(['ended answered']);
  });

  it('that was tried again and was answered since is not handled again after a crash (durability §7.3)', async () => {
    const journal = memoryJournal();
    const first = await keptLab({
      journal,
      provider: speaker('refused'),
      scripted: { send: async () => ({ status: 'rejected', reason: 'blocked' }) },
    });
    await first.channel.receive({ text: 'hi' }, '7');
    await first.clock.advance(0);
    first.kill();
    await journal.retry(idOf('7'));
    const never = new Promise<never>(() => undefined);
    const dying = { ...journal, endUpdate: () => never };
    const second = await keptLab({ journal: dying, provider: speaker('the answer') });
    await second.clock.advance(0);
    expect(second.texts()).toEqual(['the answer']);
    second.kill();
    const provider = speaker('another answer');
    const third = await keptLab({ journal, provider });
    await third.clock.advance(0);
    expect([provider.turns, third.texts()]).toEqual([[], []]);
    expect(third.ends).toMatchObject([{ status: 'answered', sends: [{ content: 'the answer' }] }]);
  });

  it('is left for the next host where this one is stopped before its end', async () => {
    const journal = memoryJournal();
    const first = await keptLab({ journal, provider: speaker('hang') });
    await first.channel.receive({ text: 'hi' }, '7');
    await first.clock.advance(0);
    const stopping = first.host.stop({ timeoutMs: 100 });
    await first.clock.advance(10_000);
    expect(await stopping).toMatchObject({ drained: false });
    expect(await statesOf(journal)).toEqual(['handling']);
    await using second = await keptLab({ journal });
    await second.clock.advance(0);
    expect(second.texts()).toEqual(['hi']);
  });
});

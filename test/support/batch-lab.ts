import { type Journal, memoryJournal, openJournal } from '../../src/journal/index.js';
import type { AgentProvider } from '../../src/sdk/stream/index.js';
import { type VirtualClock, virtualClock } from '../../src/testing/index.js';
import { type HostLab, type HostLabOptions, hostLab } from './host-lab.js';
import type { Said } from './scripted-channel.js';

/** Lets writes of a journal go on that wait for turns of the event loop. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

/** Milliseconds that messages of a joining lab wait for the next. */
export const withinMs = 1_000;

/** A host whose channel `scripted` joins messages, with an agent that notes its prompts. */
export interface BatchLab extends HostLab {
  /** The prompts that the agent has answered or failed at, in order. */
  readonly prompts: string[];
  /** Says something, and waits until it is kept. */
  tell(said: string | Said, updateId?: string): Promise<void>;
  /** Lets time pass, and writes go on. */
  pass(ms: number): Promise<void>;
  /** The ends of the messages as `updateId: status`, in order. */
  endings(): readonly string[];
}

export interface BatchLabOptions extends HostLabOptions {
  /** Answers a prompt, or throws. */
  readonly answer?: (prompt: string) => Promise<string> | string;
  readonly prompts?: string[];
}

/** Makes an agent that notes the prompts that it has been asked. */
export function notingAgent(
  prompts: string[],
  answer: BatchLabOptions['answer'] = (prompt) => `answer to ${prompt}`,
): AgentProvider {
  return {
    id: 'noting',
    models: ['m'],
    toolGate: 'enforce',
    async *run({ prompt }) {
      prompts.push(prompt);
      const text = await answer(prompt);
      yield {
        type: 'message_end',
        message: { role: 'assistant', content: [{ type: 'text', text }] },
      };
      yield { type: 'agent_end', messages: [] };
    },
  };
}

export async function batchLab(options: BatchLabOptions = {}): Promise<BatchLab> {
  const { answer, clock = virtualClock(), prompts = [], ...rest } = options;
  const lab = await hostLab({
    ingress: { joinWithinMs: { scripted: withinMs } },
    agents: [{ id: 'main', provider: notingAgent(prompts, answer) }],
    ...rest,
    clock,
  });
  return {
    ...lab,
    prompts,
    tell: async (said, updateId) => {
      const one = typeof said === 'string' ? { text: said } : said;
      void lab.channel.receive(one, updateId ?? `u-${one.text}`);
      await turns();
    },
    pass: async (ms) => {
      await clock.advance(ms);
      await turns();
    },
    endings: () => lab.ends.map(({ updateId, status }) => `${updateId}: ${status}`),
  };
}

/** The journals that messages can join in; `undefined` is the host's own. */
export const journalsOfBatches: readonly [
  string,
  (clock: VirtualClock) => Promise<Journal | undefined>,
][] = [
  ['without a journal', async () => undefined],
  ['with a journal in memory', async (clock) => memoryJournal({ clock })],
  ['with a journal in a file', (clock) => openJournal(':memory:', { clock })],
];

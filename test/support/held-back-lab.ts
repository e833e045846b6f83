import { dispatchTap, type HostExtension } from '../../src/host/index.js';
import { memoryJournal, memoryStore } from '../../src/journal/index.js';
import { cancel, type Kernel, type Outcome } from '../../src/kernel/internal.js';
import { defineExtension } from '../../src/sdk/extension/index.js';
import type { TranscriptEntry } from '../../src/sdk/stream/index.js';
import type { VirtualClock } from '../../src/testing/index.js';
import { heldBackAgent } from './held-back-agent.js';
import { type HostLabOptions, hostLab } from './host-lab.js';
import { scriptedChannel } from './scripted-channel.js';

/** The texts that are followed through a host, with their names. */
const marks = {
  'mark-question': 'the question',
  'mark-arguments': 'the call',
  'mark-result': 'the result',
  'mark-reply': 'the reply',
  'mark-task': "the subagent's task",
  'mark-start': "the subagent's start",
  'mark-child': "the subagent's answer",
  'mark-note': 'the injection',
  'mark-later': 'the later question',
  'mark-end': 'the later reply',
  'mark-command': 'the answer',
} as const;

/** The names of the texts. */
export const markNames: readonly string[] = Object.values(marks);

/** All that is said in the lab, in order. */
const said = ['mark-question', { text: 'x', press: 'y' }, '/other', 'mark-later', '/new'] as const;

/** The things that each of the four has seen of one message, in order, in words. */
export interface Sight {
  readonly person: readonly string[];
  readonly model: readonly string[];
  readonly transcript: readonly string[];
  /** The end of the message, and the texts that are in no record of the journal although somebody has made them. */
  readonly journal: readonly string[];
}

export interface HeldBack {
  /** Of each message that was said. */
  readonly sights: readonly Sight[];
  /** The texts of the history that the model reads in the later message. */
  readonly history: readonly string[];
  readonly outcomes: readonly Outcome[];
  /** The records of dispatches that the journal keeps. */
  readonly records: readonly string[];
  readonly log: readonly string[];
}

const marksIn = (text: string): string[] =>
  Object.entries(marks).flatMap(([mark, name]) => (text.includes(mark) ? [name] : []));

/** The names of the marks in a text, or the text itself if it has none. */
const wordsOf = (text: string): string[] => {
  const found = marksIn(text);
  return found.length > 0 ? found : [`“${text}”`];
};

function entryWords(entry: TranscriptEntry): string[] {
  const { role, content } = entry;
  const json = JSON.stringify(content);
  const [first] = Array.isArray(content) ? content : [{ text: content }];
  if (!json.includes('[withheld:')) {
    const found = marksIn(json);
    return found.length > 0 ? found : [`“${first?.text}”`];
  }
  const isCall = json.includes('"toolCall"');
  const of = { user: 'a question', toolResult: 'a result' }[String(role)];
  return [`a placeholder of ${of ?? (isCall ? 'a call' : 'a reply')}`];
}

/** The other things that happen in a host: a tool that runs, a command, two sends that go nowhere, and an injection. */
const other = (runs: () => void) =>
  defineExtension({
    id: 'other',
    manifest: { grants: ['send:*', 'inject'] },
    setup: (api) => {
      api.provide('tool', {
        name: 'lookup',
        description: 'Looks something up.',
        inputSchema: { type: 'object', properties: { of: { type: 'string' } } },
        execute: () => {
          runs();
          return 'mark-result';
        },
      });
      api.veto('egress.preparing', 'cancelled', ({ payload }) =>
        payload.content === 'cancelled' ? cancel('policy') : undefined,
      );
      api.provide('command', {
        name: 'other',
        description: 'Injects a text, and sends two texts that go nowhere.',
        run: async ({ sessionKey }) => {
          await api.inject(sessionKey, 'mark-note');
          for (const content of ['cancelled', 'rejected'])
            await api.send({ channel: 'scripted', to: 'scripted:ada', content });
          return 'mark-command';
        },
      });
    },
  });

/**
 * Runs a host in which all happens that has a stage: a message with a tool, a subagent and a compaction, a press, two commands and a
 * later message. Tells what the person, the model, the transcript and the journal see of each.
 */
export async function heldBack(
  options: Pick<HostLabOptions, 'instrument'> & {
    readonly contribute?: (kernel: Kernel) => unknown;
    readonly extensions?: readonly HostExtension[];
  } = {},
): Promise<HeldBack> {
  const { extensions = [], contribute } = options;
  const seen = { person: [] as string[], model: [] as string[], transcript: [] as string[] };
  const history: string[] = [];
  const made = new Set<string>();
  const records: string[] = [];
  const store = memoryStore();
  const provider = heldBackAgent((text, of) => {
    if (of === 'before') history.push(...entryWords(JSON.parse(text)));
    else seen.model.push(...wordsOf(text));
  });
  const runs = (): void => {
    seen.model.push('the tool runs');
    made.add('the result');
  };
  const channel = scriptedChannel({
    send: async (permit, sent) => {
      const message = permit.take();
      if (message.content === 'rejected') return { status: 'rejected', reason: 'no' };
      sent.push(message);
      seen.person.push(...wordsOf(message.content));
      return { status: 'sent', receipt: {} };
    },
  });
  const lab = await hostLab({
    ...options,
    channel,
    journal: memoryJournal(),
    store: {
      ...store,
      appendMessage: (id, entry, how) => {
        seen.transcript.push(...entryWords(entry));
        return store.appendMessage(id, entry, how);
      },
    },
    agents: [{ id: 'main', provider }],
    extensions: [{ extension: other(runs) }, ...extensions],
    contribute: (kernel) => {
      kernel.tap(dispatchTap({ dispatched: ({ body }) => void records.push(body) }));
      const hearer = { extensionId: 'hearer', id: 'answers', class: 'observer' } as const;
      // a stage that nobody hears is not dispatched
      kernel.contribute({ ...hearer, family: 'agent.llm.returning', handler: () => undefined });
      contribute?.(kernel);
    },
  });
  const sights: Sight[] = [];
  for (const one of said) {
    const { status } = await passing(lab.clock, lab.say(one));
    await lab.clock.advance(1_000); // also what was begun beside it ends
    const { person, model, transcript } = seen;
    const text = marksIn(records.join());
    for (const name of [...model, ...transcript, ...person]) made.add(name);
    made.delete(marks['mark-note']); // a stage on the hot path is kept without its payload
    const lost = markNames.filter((name) => made.has(name) && !text.includes(name));
    made.clear();
    const journal = [status, ...lost.map((name) => `without ${name}`)];
    sights.push({ person: [...person], model: [...model], transcript: [...transcript], journal });
    for (const list of [person, model, transcript]) list.length = 0;
  }
  await passing(lab.clock, lab.host.stop({ timeoutMs: 1_000 }));
  await lab[Symbol.asyncDispose]();
  const log = lab.log.entries.map(
    ({ message, fields }) => `${message} ${Object.values(fields ?? {})}`,
  );
  return { sights, history, outcomes: lab.outcomes, records, log };
}

/** Lets time pass until a promise has settled: a handler that hangs is given up meanwhile. */
export async function passing<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
  };
  promise.then(settle, settle);
  for (let seconds = 0; seconds < 600 && !isSettled; seconds++) await clock.advance(1_000);
  return promise;
}

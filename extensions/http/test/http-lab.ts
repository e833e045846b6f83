import type { AgentProvider, SessionEvent } from 'sluice/stream';
import { startTestHost, type TestHost, type TestHostOptions } from 'sluice/testing';
import http from '../src/index.js';

/** A running host with the channel, at a free port. */
export interface HttpLab extends AsyncDisposable {
  readonly test: TestHost;
  readonly url: string;
  /** Posts a chat completion. */
  ask(body: object | string, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

/** The body of a request that says one text. */
export function saying(text: string, more: object = {}): object {
  return { model: 'sluice', messages: [{ role: 'user', content: text }], ...more };
}

export async function httpLab(
  config: object = {},
  options: TestHostOptions = {},
): Promise<HttpLab> {
  const test = await startTestHost({
    ...options,
    extensions: [
      { extension: http, config: { port: 0, ...config } },
      ...(options.extensions ?? []),
    ],
  });
  const greeting = test.log.messages('info').find((text) => text.startsWith('open http'));
  const url = /^open (\S+)/.exec(greeting ?? '')?.[1];
  if (url === undefined) throw new Error(`it does not listen: ${test.log.messages().join('; ')}`);
  return {
    ...{ test, url },
    ask: (body, headers = {}) =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
}

/** The error object of an answer. */
export async function errorOf(answer: Response): Promise<Record<string, unknown>> {
  const { error } = (await answer.json()) as { error: Record<string, unknown> };
  return error;
}

/** The text of a whole completion. */
export async function textOf(answer: Response): Promise<string> {
  const { choices } = (await answer.json()) as { choices: [{ message: { content: string } }] };
  return choices[0].message.content;
}

/** The data of server-sent events. */
export function eventsIn(text: string): readonly unknown[] {
  const lines = text.split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice(6)) as unknown);
}

/** A promise with the function that fulfils it. */
function latch() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** An agent that says its words one by one: each of them when the test asks for it. */
export function steppedAgent(words: readonly string[]) {
  const begun = latch();
  let isStopped = false;
  let next = latch();
  const provider: AgentProvider = {
    ...{ id: 'stepped', models: ['stepped'], toolGate: 'enforce' },
    async *run({ signal }): AsyncGenerator<SessionEvent> {
      const stopped = latch();
      signal.addEventListener('abort', () => {
        isStopped = true;
        stopped.open();
      });
      const content = [{ type: 'text' as const, text: '' }];
      const message = { role: 'assistant' as const, content, stopReason: 'stop' as const };
      yield { type: 'agent_start' };
      yield { type: 'message_start', message };
      begun.open();
      for (const word of words) {
        await Promise.race([next.opened, stopped.opened]);
        if (signal.aborted) return;
        next = latch();
        const text = `${content[0]?.text}${word}`;
        content[0] = { type: 'text', text };
        const at = { contentIndex: 0, partial: message };
        const update = { type: 'text_delta' as const, delta: word, ...at };
        yield { type: 'message_update', message, assistantMessageEvent: update };
      }
      yield { type: 'message_end', message };
      yield { type: 'agent_end', messages: [message] };
    },
  };
  return {
    provider,
    begun: begun.opened,
    isStopped: () => isStopped,
    /** Lets it say the next word. */
    step: () => next.open(),
  };
}

import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { createHost } from '../../../src/host/index.js';
import type { MessageEnd } from '../../../src/journal/index.js';
import { createKernel } from '../../../src/kernel/internal.js';
import {
  type ApprovedMessage,
  consoleChannel,
  type Interactive,
} from '../../../src/sdk/channel/index.js';

async function chat(
  lines: readonly string[],
  options: { render?: (message: ApprovedMessage) => string; write?: (text: string) => void } = {},
) {
  const written: string[] = [];
  const ends: MessageEnd[] = [];
  async function* input() {
    yield* lines;
  }
  const { render, write = (text: string) => void written.push(text) } = options;
  const channel = consoleChannel({
    lines: input(),
    write,
    ...(render !== undefined && { render }),
  });
  const agents = [{ id: 'main', provider: echoProvider() }];
  const host = createHost({
    agents,
    channels: [channel],
    onMessageEnd: (end) => void ends.push(end),
  });
  await host.start();
  const report = await host.stopped;
  return { written, ends, report };
}

it('answers each line in order, and the end of the input ends the host when all is answered', async () => {
  const { written, report } = await chat(['one', 'two', 'three']);
  expect(written).toEqual(['one\n', 'two\n', 'three\n']);
  expect(report).toEqual({ reason: 'end of input', drained: true, abandoned: 0 });
});

it('ends at once where there is no input', async () => {
  expect((await chat([])).report.drained).toBe(true);
});

it('ignores empty lines', async () => {
  const { written, ends } = await chat(['', '  ', 'hello']);
  expect(written).toEqual(['hello\n']);
  expect(ends.map(({ status }) => status)).toEqual(['ignored', 'ignored', 'answered']);
});

it('writes what its renderer makes of a message', async () => {
  const { written } = await chat(['hello'], { render: ({ to, content }) => `${to} < ${content}` });
  expect(written).toEqual(['console:local < hello']);
});

it('fails a send that cannot be written, once', async () => {
  const { ends } = await chat(['hello'], {
    write: () => {
      throw new Error('EPIPE');
    },
  });
  expect(ends).toMatchObject([
    {
      status: 'failed',
      sends: [{ status: 'failed', attempts: 1, error: expect.stringMatching(/EPIPE/) }],
    },
  ]);
});

it('tells of an input that fails, and ends', async () => {
  async function* broken() {
    yield 'hello';
    throw new Error('EIO');
  }
  const written: string[] = [];
  const channel = consoleChannel({ lines: broken(), write: (text) => void written.push(text) });
  const host = createHost({
    agents: [{ id: 'main', provider: echoProvider() }],
    channels: [channel],
  });
  await host.start();
  expect((await host.stopped).reason).toBe('the input failed');
  expect(written).toEqual(['hello\n']);
});

it('takes nothing in once its intake is stopped, also while it waits for a line', async () => {
  let next: (line: IteratorResult<string>) => void = () => undefined;
  const lines = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise<IteratorResult<string>>((resolve) => (next = resolve)),
    }),
  };
  const written: string[] = [];
  const channel = consoleChannel({ lines, write: (text) => void written.push(text) });
  const host = createHost({
    agents: [{ id: 'main', provider: echoProvider() }],
    channels: [channel],
  });
  await host.start();
  expect((await host.stop({ reason: 'SIGINT' })).drained).toBe(true);
  next({ done: false, value: 'too late' });
  await new Promise(setImmediate);
  expect(written).toEqual([]);
});

describe('buttons and lists on the console', () => {
  const ask: Interactive = {
    buttons: [
      { id: 'yes', label: 'Yes' },
      { id: 'no', label: '\u001b[2JNo' },
    ],
    list: { name: 'day', choices: [{ value: 'mon', label: 'Monday' }] },
  };

  /** Answers the first line with buttons, and collects the presses. */
  async function asked(lines: readonly string[]) {
    const kernel = createKernel();
    const pressed: unknown[] = [];
    let isAsked = false;
    kernel.contribute({
      family: 'egress.preparing',
      class: 'mutator',
      extensionId: 'test',
      id: 'ask',
      handler: ({ payload }) => {
        if (isAsked || payload.content !== 'ask') return undefined;
        isAsked = true;
        return { interactive: ask };
      },
    });
    kernel.contribute({
      family: 'interaction.received',
      class: 'observer',
      extensionId: 'test',
      id: 'press',
      handler: ({ payload: { kind, name, values, messageId } }) =>
        void pressed.push({ kind, name, values, messageId }),
    });
    const written: string[] = [];
    let reportWritten = (): void => undefined;
    async function* input() {
      for (const line of lines) {
        const written = new Promise<void>((resolve) => {
          reportWritten = resolve;
        });
        yield line;
        if (!/^\d+$/.test(line.trim())) await written; // a person reads before they choose
      }
    }
    const channel = consoleChannel({
      lines: input(),
      write: (text) => {
        written.push(text);
        setImmediate(() => reportWritten()); // when the send has ended
      },
    });
    const host = createHost({
      agents: [{ id: 'main', provider: echoProvider() }],
      channels: [channel],
      kernel,
    });
    await host.start();
    await host.stopped;
    return { pressed, written };
  }

  it('are numbered, and the line that is a number presses: once (§19.5)', async () => {
    const { pressed, written } = await asked(['ask', ' 2 ', '2']);
    expect(written).toEqual(['ask\n\n1) Yes\n2)  [2JNo\n3) Monday\n', '2\n']);
    expect(pressed).toEqual([{ kind: 'button', name: 'no', values: [], messageId: 'console-1' }]);
  });

  it('a choice of a list has its value (§19.5)', async () => {
    const { pressed } = await asked(['ask', '3']);
    expect(pressed).toEqual([
      { kind: 'select', name: 'day', values: ['mon'], messageId: 'console-1' },
    ]);
  });

  it('leave a line alone that is none of the numbers (§19.5)', async () => {
    const { pressed, written } = await asked(['ask', 'two', '1']);
    expect(written[1]).toBe('two\n');
    expect(pressed).toMatchObject([{ name: 'yes' }]);
  });
});

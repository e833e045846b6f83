import { expect, it } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import { type ApprovedMessage, consoleChannel } from '../../src/channel/index.js';
import { createHost, type MessageEnd } from '../../src/host/index.js';

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

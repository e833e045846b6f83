import { describe, expect, it } from 'vitest';
import { createHost } from '../../../../src/host/index.js';
import {
  type ApprovedMessage,
  consoleChannel,
  TerminalScreen,
} from '../../../../src/sdk/channel/index.js';
import { virtualClock } from '../../../../src/testing/index.js';
import { emulatedTerminal } from '../../../support/emulated-terminal.js';
import { slowly } from '../../../support/slowly.js';
import { describeStreamSender } from '../../../support/stream-sender-contract.js';
import { streamingChannel } from '../../../support/streaming-channel.js';
import { end, said, start } from '../../../support/turn-lab.js';

function consoleOn(terminal: ReturnType<typeof emulatedTerminal>, lines: AsyncIterable<string>) {
  return consoleChannel({
    lines,
    write: () => {
      throw new Error('it is the screen that writes');
    },
    terminal: {
      screen: new TerminalScreen(terminal),
      showsInput: true,
      text: ({ content }: ApprovedMessage) => content,
      paint: () => (line) => line,
    },
  });
}

async function* noLines(): AsyncGenerator<string> {}

describeStreamSender('the stream sender of the console', {
  open: (permits) => {
    const terminal = emulatedTerminal(40, 10);
    const sender = consoleOn(terminal, noLines()).createStreamSender?.(permits);
    if (sender === undefined) throw new Error('it streams on a terminal');
    return { sender, settle: async () => undefined, visible: () => terminal.rows() };
  },
});

describeStreamSender('the stream sender that the tests of the host use', {
  open: (permits) => {
    const channel = streamingChannel();
    const sender = channel.createStreamSender?.(permits);
    if (sender === undefined) throw new Error('it streams');
    return {
      sender,
      settle: async () => undefined,
      visible: () => channel.screen.map(({ text }) => text),
    };
  },
});

describe('the console', () => {
  it('does not stream where it is no terminal', () => {
    const channel = consoleChannel({ lines: noLines(), write: () => undefined });
    expect(channel.capabilities.canStreamResponse).toBe(false);
    expect(channel.createStreamSender).toBeUndefined();
  });

  it('shows a reply while it grows, under a line that is typed meanwhile nothing is lost', async () => {
    const terminal = emulatedTerminal(30, 10, true);
    const clock = virtualClock();
    const lines: ((line: string) => void)[] = [];
    const typed = {
      async *[Symbol.asyncIterator]() {
        for (;;) yield await new Promise<string>((resolve) => lines.push(resolve));
      },
    };
    const type = async (line: string): Promise<void> => {
      await terminal.type(`${line}\n`);
      lines.shift()?.(line);
    };
    const text = 'One and two and three and four and five.';
    const provider = slowly(clock, () => [start, ...said(text), end()]);
    const host = createHost({
      agents: [{ id: 'main', provider }],
      channels: [consoleOn(terminal, typed)],
      clock,
    });
    await host.start();
    await type('count');
    const rowsAfter = async (ms: number): Promise<string[]> => {
      await clock.advance(ms);
      await terminal.settled();
      return terminal.rows();
    };
    expect(await rowsAfter(70)).toEqual(['count', 'One and two and']);
    await terminal.type('aga');
    expect(await rowsAfter(50)).toEqual([
      'count',
      'One and two and three and four',
      ' and f',
      'aga',
    ]);
    await type('in');
    expect(await rowsAfter(10_000)).toEqual([
      'count',
      'One and two and three and four',
      ' and five.',
      'again',
      'One and two and three and four',
      ' and five.',
    ]);
    const stopping = host.stop();
    await clock.advance(20_000);
    await stopping;
  });
});

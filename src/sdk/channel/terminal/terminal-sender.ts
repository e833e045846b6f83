import { oneLine } from 'sluice-kernel/internal';
import type { StreamSender } from '../../stream/index.js';
import type { ApprovedMessage } from '../message.js';
import type { StreamPermits } from '../stream-permits.js';
import type { PaintLine, TerminalScreen } from './terminal-screen.js';

/** The look of messages on a terminal. */
export interface TerminalLook {
  /** The text of a message, whose content is inert (spec §20.11). */
  readonly text: (message: ApprovedMessage) => string;
  /** The colour of its lines. */
  readonly paint: (message: ApprovedMessage) => PaintLine;
}

/** The parts that a sender on a terminal needs of its channel. */
export interface TerminalSenderOptions {
  readonly screen: TerminalScreen;
  readonly look: TerminalLook;
  /** Makes the id of a message that is shown whole. */
  readonly nextMessageId: () => string;
}

/** Shows one reply on a terminal while it grows: it is redrawn in place, and in the end stays as it was approved. */
export function terminalSender(
  permits: StreamPermits,
  { screen, look, nextMessageId }: TerminalSenderOptions,
): StreamSender {
  let opening: ApprovedMessage | undefined;
  let isOver = false;

  async function show(content: string): Promise<void> {
    if (isOver) return;
    opening ??= permits.opening.take();
    const message = { ...opening, content };
    await screen.show(look.text(message), look.paint(message));
  }

  async function remove(): Promise<void> {
    if (isOver) return;
    isOver = true;
    await screen.remove();
  }

  return {
    onThinkingDelta: ({ thinking }) => show(thinking),
    onContentDelta: ({ content }) => show(content),
    onError: remove,
    abort: remove,
    async onFinal() {
      if (isOver) return;
      isOver = true;
      const message = permits.final()?.take();
      if (message === undefined) return screen.remove();
      try {
        await screen.finish(look.text(message), look.paint(message));
      } catch (error) {
        const reason = `the console cannot be written to: ${oneLine(error)}`;
        return permits.report({ status: 'rejected', reason });
      }
      permits.report({ status: 'sent', receipt: { messageId: nextMessageId() } });
    },
  };
}

import { oneLine } from 'sluice-kernel/internal';
import type { StreamSender } from '../../stream/index.js';
import { growingSender } from '../growing-sender.js';
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
interface TerminalSenderOptions {
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
  return growingSender(permits, {
    show: async (part) => {
      const content = part.phase === 'thinking' ? part.thinking : part.content;
      opening ??= permits.opening.take();
      const message = { ...opening, content };
      await screen.show(look.text(message), look.paint(message));
    },
    finish: async (permit) => {
      const message = permit.take();
      try {
        await screen.finish(look.text(message), look.paint(message));
      } catch (error) {
        const reason = `the console cannot be written to: ${oneLine(error)}`;
        return { status: 'rejected', reason };
      }
      return { status: 'sent', receipt: { messageId: nextMessageId() } };
    },
    remove: () => screen.remove(),
  });
}

import { inertText } from 'sluice-kernel/internal';
import type { ChannelInbox, ChannelPlugin, DecodedIngress } from '../channel.js';
import { checkedPermits, checkPermit } from '../check-permit.js';
import { numberedPresses, type Press, withElementsAsText } from '../interactive.js';
import type { ApprovedMessage } from '../message.js';
import type { TerminalScreen } from './terminal-screen.js';
import { type TerminalLook, terminalSender } from './terminal-sender.js';

/** The input and output of the console channel. It touches nothing global. */
export interface ConsoleChannelOptions {
  /** Lines without their ends: `readLines(process.stdin)`, or a test's own. */
  readonly lines: AsyncIterable<string>;
  /** Writes what goes out. A rejection means that it was not written. */
  readonly write: (text: string) => void | Promise<void>;
  /** Makes the text of a message, by default its content and a line end. The content that it gets is inert (spec §20.11). */
  readonly render?: (message: ApprovedMessage) => string;
  /**
   * The terminal that shows replies while they grow; `write` and `render` are then not used. Without one each reply is
   * written when it is whole, as to a pipe.
   */
  readonly terminal?: ConsoleTerminal;
  /** The person who types, by default `local`. */
  readonly sender?: { readonly id: string; readonly name?: string };
}

/** A terminal that a person looks at. */
export interface ConsoleTerminal extends TerminalLook {
  readonly screen: TerminalScreen;
  /** The lines that come in are typed there: the terminal shows them itself. */
  readonly showsInput: boolean;
}

/** A line before it is decoded. */
interface ConsoleLine {
  readonly line: string;
  /** From 1. */
  readonly number: number;
  /** The button or the choice that the line chooses by its number, and the message that had it. */
  readonly press?: Press & { readonly messageId: string };
}

const accountId = 'default';

/**
 * The console as a channel: each line that comes in is a message, in one conversation; the end of the lines ends
 * the account's intake. An empty line is ignored. Replies are written in full; on a terminal they are shown while they
 * grow. Buttons and the choices of a list are written as numbered lines: the line that is one of these numbers is a press, until
 * one was pressed or another message has numbers.
 *
 * @example
 * consoleChannel({
 *   lines: readLines(process.stdin),
 *   write: (text) => { process.stdout.write(text); },
 * });
 */
export function consoleChannel(options: ConsoleChannelOptions): ChannelPlugin {
  const render = options.render ?? ((message) => `${message.content}\n`);
  const { terminal, sender = { id: 'local' } } = options;
  const shown = terminal === undefined ? undefined : inertTerminal(terminal);
  let stopped = false;
  let host: ChannelInbox | undefined;
  let iterator: AsyncIterator<string> | undefined;
  let written = 0;
  let open:
    | { readonly messageId: string; readonly presses: ReadonlyMap<string, Press> }
    | undefined;
  const pressedBy = (line: string): Pick<ConsoleLine, 'press'> => {
    const press = open?.presses.get(line.trim());
    if (open === undefined || press === undefined) return {};
    const { messageId } = open;
    open = undefined;
    return { press: { ...press, messageId } };
  };
  const nextMessageId = (): string => `console-${++written}`;

  async function pump(lines: AsyncIterator<string>, inbox: ChannelInbox): Promise<void> {
    for (let number = 1; ; number++) {
      const next = await lines.next();
      if (stopped) return;
      if (next.done === true) return inbox.ended({ reason: 'end of input' });
      if (terminal?.showsInput === true) terminal.screen.typed(next.value);
      const raw: ConsoleLine = { line: next.value, number, ...pressedBy(next.value) };
      await inbox.receive({ raw }); // no id: numbers begin anew with each start
    }
  }

  return {
    id: 'console',
    capabilities: {
      canStreamResponse: terminal !== undefined,
      canWait: true,
      interactive: ['buttons', 'list'],
    },
    accounts: [accountId],
    // A line that could not be written is not written again: the reader is gone.
    resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },

    startAccount: async (_accountId, inbox) => {
      host = inbox;
      iterator = options.lines[Symbol.asyncIterator]();
      pump(iterator, inbox).catch((error: unknown) => {
        inbox.ended({ reason: 'the input failed', error });
      });
    },

    stopIntake: async () => {
      stopped = true;
      // Not awaited: a source that waits for a key press may not answer before one comes.
      iterator?.return?.().catch(() => undefined);
    },

    stopAccount: async () => undefined,

    decodeIngress: (raw) => decode(raw, sender),

    send: async (permit) => {
      checkPermit(permit, host);
      const taken = permit.take();
      const message = withElementsAsText(taken);
      try {
        if (shown === undefined) await options.write(render(inertMessage(message)));
        else await shown.screen.print(`${shown.text(message)}\n`, shown.paint(message));
      } catch (error) {
        return { status: 'rejected', reason: `the console cannot be written to: ${String(error)}` };
      }
      const messageId = nextMessageId();
      const numbered = numberedPresses(taken.interactive ?? {});
      if (numbered.length > 0)
        open = {
          messageId,
          presses: new Map(numbered.map(({ number, press }) => [String(number), press])),
        };
      return { status: 'sent', receipt: { messageId } };
    },

    ...(shown !== undefined && {
      createStreamSender: (permits) =>
        terminalSender(checkedPermits(permits, host), {
          screen: shown.screen,
          look: shown,
          nextMessageId,
        }),
    }),
  };
}

/** Makes a message inert: an agent's text must do nothing to the terminal of its reader, nor to one behind a pipe. */
function inertMessage(message: ApprovedMessage): ApprovedMessage {
  return { ...message, content: inertText(message.content) };
}

function inertTerminal(terminal: ConsoleTerminal): ConsoleTerminal {
  return { ...terminal, text: (message) => terminal.text(inertMessage(message)) };
}

function decode(
  raw: unknown,
  sender: { readonly id: string; readonly name?: string },
): DecodedIngress {
  if (!isConsoleLine(raw))
    return { kind: 'undecodable', problem: 'it is no line of text', path: '/line' };
  const content = raw.line.trim();
  if (content === '') return { kind: 'ignored', reason: 'an empty line' };
  const conversationId = `console:${sender.id}`;
  if (raw.press !== undefined)
    return {
      kind: 'interaction',
      senderProof: 'local',
      interaction: {
        interactionId: `line-${raw.number}`,
        ...raw.press,
        channel: 'console',
        accountId,
        conversationId,
        isGroup: false,
        sender: { ...sender },
      },
    };
  return {
    kind: 'message',
    senderProof: 'local',
    message: {
      channel: 'console',
      accountId,
      provider: 'console',
      surface: 'console',
      from: conversationId,
      sender: { ...sender },
      conversationId,
      messageId: `line-${raw.number}`,
      isGroup: false,
      content,
      attachments: [],
      ...(content.startsWith('/') && { commandSource: 'text' as const, commandAuthorized: true }),
      metadata: {},
    },
  };
}

function isConsoleLine(raw: unknown): raw is ConsoleLine {
  return typeof raw === 'object' && raw !== null && 'line' in raw && typeof raw.line === 'string';
}

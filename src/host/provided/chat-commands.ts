import type { MessagePlace, SendReport } from '@sluice/sdk/extension';
import type { PayloadOf, Principal } from 'sluice-kernel';
import { hostTexts } from '../texts/host-texts.js';
import type { Texts } from '../texts/texts.js';

/** An answer that is more than a text. */
export interface ChatAnswer {
  /** Nothing is sent if the text is empty and there are no attachments. */
  readonly text: string;
  readonly attachments?: PayloadOf<'egress.preparing'>['attachments'];
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** The error, if there was one: `command.completed` tells of it. The text is sent all the same. */
  readonly error?: string;
}

/** The context of a chat command. */
export interface ChatCommandContext {
  readonly args: readonly string[];
  readonly sessionKey: string;
  readonly agentId: string;
  /** The account that it came in by. */
  readonly accountId: string;
  /** The id of the update that it came in: the same if the update is handled again, as after a crash. */
  readonly eventId: string;
  /** The message that it came in. */
  readonly message: PayloadOf<'routing.resolving'>['message'];
  /** The place of that message, as `api.send` and `ask` of a question take it. */
  readonly place: MessagePlace;
  /** Aborts when nobody may wait for the command any longer: the host stops, or has lost the message to another host. */
  readonly signal: AbortSignal;
  /** Answers before the command has ended: that it works on it, say. Resolves with the end of the send. */
  reply(text: string): Promise<SendReport>;
  /** Its sender, if the channel has proven who he is. */
  readonly principal?: Principal;
  /** True if its sender may give commands. It matters only for a command for anyone. */
  readonly isAuthorized: boolean;
  /** Ends this session; the next message begins a new one. */
  resetSession(reason: string): Promise<void>;
  /** Stops this session's running turn. Returns whether one was running. */
  stopTurn(): boolean;
  /** Every command there is. */
  readonly commands: readonly ChatCommand[];
}

/**
 * A command that people give in a chat, as `/name`.
 *
 * @example
 * const ping: ChatCommand = { name: 'ping', description: 'Answers.', run: () => 'pong' };
 */
export interface ChatCommand {
  /** Lower case, without the slash. */
  readonly name: string;
  /** One sentence, for `/help`. */
  readonly description: string;
  /** The words that it takes, such as `<minutes> <text...>`; `/help` shows them. */
  readonly usage?: string;
  /** The command does not wait for the turn that runs, because it is about that turn. */
  readonly runsAtOnce?: boolean;
  /** Senders who may not give commands may give this one. */
  readonly forAnyone?: boolean;
  /** Returns the answer. An error is told in one line. */
  run(context: ChatCommandContext): string | ChatAnswer | Promise<string | ChatAnswer>;
}

declare module '@sluice/sdk/extension' {
  interface Provisions {
    command: ChatCommand;
  }
}

/** The answer of a command that refuses its work. */
export function refusal(text: string): ChatAnswer {
  return { text, error: text };
}

/** The commands of every host. */
export const builtInCommands = (texts: Texts): readonly ChatCommand[] => [
  {
    name: 'new',
    description: hostTexts['about-new'],
    run: async ({ resetSession, message }) => {
      await resetSession('new');
      return texts.to(message)('session-new');
    },
  },
  {
    name: 'stop',
    description: hostTexts['about-stop'],
    runsAtOnce: true,
    run: ({ stopTurn, message }) => texts.to(message)(stopTurn() ? 'stopped' : 'nothing-to-stop'),
  },
  {
    name: 'help',
    description: hostTexts['about-help'],
    run: ({ commands, message }) =>
      commands
        .map(
          (one) =>
            `/${[one.name, one.usage ?? []].flat().join(' ')}  ${texts.describe(one, message)}`,
        )
        .join('\n'),
  },
];

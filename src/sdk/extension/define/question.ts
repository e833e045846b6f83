import type { Principal } from 'sluice-kernel';
import type { MessagePlace } from './place.js';
import type { ExtensionMessage } from './send.js';
import type { Storable } from './store.js';

/** The conversation that is asked: the one that answers. `to` is the id of the conversation, as messages of it have it. */
export type QuestionPlace = MessagePlace;

/** An answer to choose: a button, or a numbered line if the channel shows none. */
export interface QuestionOption {
  /** The answer that the handler gets. */
  readonly id: string;
  /** The text that people see. */
  readonly label: string;
}

/** The message of a question. */
export interface QuestionMessage
  extends Pick<ExtensionMessage, 'content' | 'format' | 'attachments' | 'silent' | 'metadata'> {
  /** The answers to choose from; a text is the id and the label of its option. Without them any text is an answer. */
  readonly options?: readonly (string | QuestionOption)[];
  /** Any text is an answer, besides the options; `true` by default if there are no options. */
  readonly takesText?: boolean;
}

/** How a question is asked. */
export type AskOptions<Data = undefined> = {
  /** The call or the outcome that it follows. */
  readonly after?: ExtensionMessage['after'];
  /** The name of the question among those of its name: the same key is asked once. */
  readonly key?: string;
  /** Milliseconds until it expires, by default 86 400 000 (a day), at most a year. */
  readonly timeoutMs?: number;
} & (undefined extends Data
  ? { readonly data?: Data }
  : {
      /** Plain JSON that the handler gets with the answer. */
      readonly data: Data & Storable<Data>;
    });

/** A question that is kept. */
export interface AskedQuestion {
  readonly id: string;
  /** The id of the `egress.preparing` of its message. */
  readonly sendId: string;
}

/** How a question ended. */
export type QuestionOutcome =
  | {
      readonly status: 'answered';
      /** The id of the option that was chosen, or the text. */
      readonly answer: string;
      /** The sender of the answer, as the channel tells it. */
      readonly from: { readonly id: string; readonly name?: string };
    }
  /** Nobody has answered in time. */
  | { readonly status: 'expired' }
  /** The message of the question was cancelled, or could not be sent. */
  | { readonly status: 'not-sent' };

/** The end of a question, as its handler gets it. It may get the same end again after a crash: `id` is the same then. */
export type QuestionEnd<Data = undefined> = {
  readonly id: string;
  /** The conversation that was asked. */
  readonly place: QuestionPlace;
  /** The data that `ask` was given. */
  readonly data: Data;
  /** 1 the first time that the end is handled. */
  readonly attempt: number;
  /** Aborted when the host may not wait any longer. */
  readonly signal: AbortSignal;
  /** The one who answered, if the channel has proven that (judgement §1.9). */
  readonly principal?: Principal;
} & QuestionOutcome;

/** Handles the ends of the questions of one name. */
export type QuestionHandler<Data = undefined> = (end: QuestionEnd<Data>) => void | Promise<void>;

/** The questions of one name, of an extension. */
export interface Question<Data = undefined> {
  /**
   * Asks a conversation. At any time while the host runs.
   *
   * @param question its message, or the text of one that takes any text.
   * @returns when it is kept: with a journal, a crash does not lose it.
   * @throws SluiceError (as a rejection) `question-open`, `question-full`, `bad-question`, `not-storable`, and as `api.send`.
   */
  ask(
    to: QuestionPlace,
    question: string | QuestionMessage,
    ...options: undefined extends Data ? [options?: AskOptions<Data>] : [options: AskOptions<Data>]
  ): Promise<AskedQuestion>;
}

/** A question as its host takes it. */
interface RegisteredQuestion {
  readonly handler: QuestionHandler<unknown>;
}

/** A question that is asked, as its host gets it. */
export interface QuestionToAsk {
  readonly name: string;
  readonly place: QuestionPlace;
  readonly message: QuestionMessage;
  readonly options: AskOptions<unknown>;
}

declare module '../named/registration.js' {
  interface Registrations {
    readonly question: RegisteredQuestion;
  }
}

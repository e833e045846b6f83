import type { Envelope, Kernel, Tap } from 'sluice-kernel';
import type { Schedule } from './added-times.js';
import type { AskedQuestion, QuestionToAsk } from './question.js';
import type { ExtensionMessage, InjectOptions, KeptSend } from './send.js';
import type { ExtensionStore } from './store.js';
import type { SayTo, TextRows } from './texts.js';

/**
 * The figures of a host, as they are when they are asked for. The host's layer adds its own by declaration merging.
 *
 * @example
 * const { stats, health, journal } = await watched.figures();
 */
// biome-ignore lint/suspicious/noEmptyInterface: open to merging, which only an interface is
export interface Figures {}

/**
 * The facts of a host, which its layer adds by declaration merging.
 */
// biome-ignore lint/suspicious/noEmptyInterface: open to merging, which only an interface is
export interface Facts {}

/** One fact of the way of a message, when it has happened. */
export type Fact = Facts[keyof Facts];

/** The call of a handler or of a tool, or the answer of a route. */
export interface ExtensionCall {
  /** Of a tool: the id of the provider of the agent that calls it. */
  readonly extensionId: string;
  /** Of a handler: its name. */
  readonly contributionId?: string;
  /** Of a handler: the event that it gets. Of a tool: the last one of its turn. */
  readonly event?: Envelope;
  /** Of a tool of an agent. */
  readonly tool?: {
    readonly toolCallId: string;
    readonly toolName: string;
    readonly runId: string;
  };
  /** Of a route. */
  readonly request?: Request;
}

/** Runs a call of an extension, and returns what it returns. */
export type Around = <T>(run: () => T, of: ExtensionCall) => T;

/**
 * The kernel of a host, as far as an extension may use it (extensions-that-act §10): for what comes to it from outside, such as the
 * calls of another program. All handlers of a family judge, also those of other extensions. Each family needs the grant
 * `dispatch:FAMILY`. A handler that dispatches uses `call.own.dispatch`, which ends a circle.
 *
 * Beside the errors of a kernel, `dispatch` rejects with `not-granted` and `extension-gone`.
 *
 * @example
 * const outcome = await api.kernel.dispatch('agent.tool.calling', { toolName: 'shell', params }, { principal });
 * if (outcome.status !== 'passed') return refuse(outcome);
 */
export type ExtensionKernel = Pick<Kernel, 'dispatch' | 'has'>;

/** The events that a tap may listen to. */
export interface TapListeners extends Pick<Tap, 'failure' | 'late'> {
  /** Each fact of the ways of messages, when it has happened (sight §1). Every dispatch is one, with its steps. */
  readonly fact?: (entry: Fact) => void;
  /**
   * Runs each handler, each tool and each route inside of something, such as a context of `AsyncLocalStorage`. Handlers are run so if the
   * kernel has the `instrument` of a `HandlerWatch`, as that of `sluice run`.
   */
  readonly around?: Around;
}

/** A tap of an extension. */
export interface ExtensionTap {
  /**
   * Reads the figures of the host: what waits and runs, the counts since its start, the open rows of its journal. At any time
   * while the host runs. It reads at most 100,000 rows of a journal, so ask when they are wanted, and not on each event.
   *
   * @throws SluiceError (as a rejection) `not-granted`, or `no-host` where no host runs.
   */
  figures(): Promise<Figures>;
  /**
   * Cleans a text, or a line of JSON, as the journal of the host does with all that it keeps (durability §13). A tap that hands texts on
   * passes them through it. A host that scrubs nothing gives the text as it is.
   */
  scrub(text: string): string;
}

/**
 * The things that a host does for its extensions: a port of members, each by the id of an extension. A member may be missing,
 * and is looked up when it is called, so a host may come after the setup of its extensions. The grants of an extension
 * are checked before a member is called: `HostAccess`.
 */
export interface ExtensionHost {
  /** The store of an extension. Without it the store is in memory. */
  storeOf(extensionId: string): ExtensionStore;
  /** The folder of an extension for its files, which is there when this returns. */
  stateDirOf(extensionId: string): string;
  /** Takes the sentences of an extension, which an operator may replace by language. */
  textsOf<Rows extends TextRows>(extensionId: string, rows: Rows): SayTo<Rows>;
  /** Takes a text for the transcript of a session, and resolves when it is kept. */
  inject(
    extensionId: string,
    sessionKey: string,
    text: string,
    options?: InjectOptions,
  ): Promise<void>;
  /** Asks a question of an extension, and resolves when it is kept. */
  ask(extensionId: string, question: QuestionToAsk): Promise<AskedQuestion>;
  /** Sends a message of an extension, and resolves when it is kept. */
  send(extensionId: string, message: ExtensionMessage): Promise<KeptSend>;
  /** The times of a schedule that were added while the host runs; of an empty name the messages of the extension. */
  timesOf(extensionId: string, name: string): Schedule<unknown>;
  /** Reads the figures of the host. */
  figures(): Promise<Figures>;
  /** Cleans a text that is kept somewhere; absent if nothing is scrubbed. */
  readonly scrub?: (text: string) => string;
}

import { createHash, randomUUID } from 'node:crypto';
import {
  type AgentAnswer,
  type AgentProvider,
  type AgentRequest,
  type AgentTrigger,
  leavable,
  type SessionEvent,
  type StreamDelta,
  unreachedError,
} from '@sluice/sdk/stream';
import { attachedFiles, type Backlog, stopOf } from '@sluice/sdk/stream/internal';
import { deferred, type Logger, onAbort, silentLogger } from 'sluice-kernel/internal';
import { shapesOf } from '../protocol/protocols.js';
import { FactQueue } from '../run/fact-queue.js';
import {
  GatewayRun,
  type GatewayRunOptions,
  type RunLimits,
  type RunRequest,
} from '../run/gateway-run.js';
import type { RunEndFact } from '../run/run-fact.js';
import { saidText } from '../run/said-text.js';
import { SessionReader } from '../session/session-reader.js';
import { type AttemptOutcome, type Circuit, circuit, type EndAttempt } from './circuit.js';
import { DeltaQueue, deltaReader } from './delta-reader.js';
import { type OpenClawAgentProviderOptions, providerLimits } from './provider-options.js';

const unavailable = 'the gateway is temporarily unavailable: it has failed several times in a row';

/** A message that may be sent, and the end of its attempt. */
interface Entered {
  readonly request: RunRequest;
  readonly end: EndAttempt;
}

/** How one message is answered. */
interface Attempt extends Pick<GatewayRunOptions, 'listen' | 'isDriven' | 'report'> {
  readonly signal: AbortSignal | undefined;
}

/**
 * An agent behind an OpenClaw gateway. Its sessions are the gateway's: it composes the prompt, keeps the transcript and
 * runs the tools, so tool calls can only be watched here.
 *
 * `triggerStream` answers as stream deltas, `trigger` whole, and `run` as session events, so that `runAgentTurn` drives
 * it like any other agent. Failures are values: an error delta, an answer that failed, an `agent_end` with an error.
 *
 * @throws SluiceError `bad-client-option`.
 * @example
 * const agent = new OpenClawAgentProvider({ client, agentId: 'main' });
 * for await (const delta of agent.triggerStream(trigger))
 *   if (delta.phase === 'content') show(delta.content);
 */
export class OpenClawAgentProvider implements AgentProvider {
  readonly id = 'openclaw';
  /** The gateway chooses the model. */
  readonly models = ['default'] as const;
  readonly toolGate = 'observe-only';
  readonly #options: OpenClawAgentProviderOptions;
  readonly #limits: RunLimits;
  readonly #circuit: Circuit;
  readonly #logger: Logger;
  #hasWarned = false;

  constructor(options: OpenClawAgentProviderOptions) {
    this.#options = options;
    this.#limits = providerLimits(options);
    this.#circuit = circuit(options.circuit ?? {}, options.client.clock);
    this.#logger = options.logger ?? silentLogger;
  }

  /** `closed`: messages go to the gateway. `open`: none does. `trial`: one is tried (stream §5). */
  get circuit(): 'closed' | 'open' | 'trial' {
    return this.#circuit.state();
  }

  /**
   * Answers as deltas: thinking, content, then one `final` or `error`; nothing if the trigger says nothing. Nothing is
   * sent before the first `next()`. Who leaves early stops the agent. Never throws.
   */
  triggerStream(context: AgentTrigger): AsyncGenerator<StreamDelta> {
    const queue = new DeltaQueue();
    return leavable(this.#deltas(context, queue), { close: () => queue.close() });
  }

  /** Answers whole: what the gateway has accumulated or, in protocol 4, all messages of the run. Never rejects. */
  async trigger(context: AgentTrigger): Promise<AgentAnswer> {
    const entered = this.#enterTrigger(context);
    if ('problem' in entered)
      return entered.problem === undefined
        ? { status: 'answered', parts: [] }
        : { status: 'failed', error: entered.problem, reachedAgent: false };
    const answer = deferred<AgentAnswer>();
    const said = saidText('all', (text) => text);
    let text = '';
    const run = this.#run(entered, {
      ...{ listen: 'chat', isDriven: false, signal: stopOf(context) },
      report: (fact) => {
        if (fact.kind === 'text') text = said(fact);
        if (fact.kind === 'end')
          answer.resolve(
            answerOf(fact, shapesOf(this.#options.client.protocol).hasWholeChats ? '' : text),
          );
        else if (fact.kind === 'text' && isTooLong(text)) run.fail(tooLong);
      },
    });
    run.start();
    return answer.promise;
  }

  /** One turn, as session events. The gate is not asked: the gateway runs its tools. */
  run(request: AgentRequest): AsyncGenerator<SessionEvent> {
    const queue = new FactQueue();
    return leavable(this.#events(request, queue), { close: () => queue.close() });
  }

  async *#deltas(context: AgentTrigger, queue: DeltaQueue): AsyncGenerator<StreamDelta, void> {
    const entered = this.#enterTrigger(context);
    if ('problem' in entered) {
      if (entered.problem !== undefined) yield unreachedError(entered.problem);
      return;
    }
    const { client, messages = 'last' } = this.#options;
    const reader = deltaReader(client.clock, messages, (delta) => queue.push(delta));
    const run = this.#run(entered, {
      ...{ listen: 'agent', isDriven: false, signal: stopOf(context) },
      report: (fact) => reader.take(fact),
    });
    yield* driven(run, entered.end, queue);
  }

  async *#events(request: AgentRequest, queue: FactQueue): AsyncGenerator<SessionEvent, void> {
    yield { type: 'agent_start' };
    const { client } = this.#options;
    const { model, signal } = request;
    const reader = new SessionReader({ provider: this.id, model, clock: client.clock });
    const entered = this.#enter(request.sessionId, turnMessage(request));
    if ('problem' in entered) {
      const { problem } = entered;
      yield* reader.take(problem === undefined ? { kind: 'end', how: 'done' } : unsent(problem));
      return;
    }
    this.#warn(request);
    const run = this.#run(entered, {
      ...{ listen: 'agent', isDriven: true, signal },
      report: (fact) => queue.push(fact),
    });
    queue.onOverflow = (problem) => run.fail(problem);
    for await (const fact of driven(run, entered.end, queue)) yield* reader.take(fact);
  }

  /** Begins an attempt, unless there is nothing to say, too much, or the circuit is open. @param id the session's. */
  #enter(id: string, message: GatewayMessage): Entered | { readonly problem: string | undefined } {
    if ('problem' in message) return message;
    const end = this.#circuit.enter();
    if (end === undefined) return { problem: unavailable };
    const { agentId, sessionKey = (id) => sessionKeyOf(agentId, id) } = this.#options;
    return { request: { sessionKey: sessionKey(id), message: message.text }, end };
  }

  #enterTrigger(context: AgentTrigger) {
    const message = triggerMessage(context, this.#options.prefixSender ?? true);
    return this.#enter(context.sessionId || context.source.chatId, message);
  }

  /** Makes a run that ends its attempt when it ends, and listens to the signal until then. */
  #run({ request, end }: Entered, { signal, report, ...how }: Attempt): GatewayRun {
    const { client, newId = randomUUID, onTool } = this.#options;
    let hasHeard = false;
    let listening: Disposable | undefined;
    const run = new GatewayRun(request, {
      ...this.#limits,
      ...how,
      client,
      newId,
      logger: this.#logger,
      onTool,
      report: (fact) => {
        if (fact.kind === 'end') {
          listening?.[Symbol.dispose]();
          void end(this.#outcomeOf(fact, hasHeard));
        } else hasHeard = true;
        report(fact);
      },
    });
    listening = onAbort(signal, () => run.abort());
    return run;
  }

  /** A run that was given up here says something of the gateway only if something was heard of it. */
  #outcomeOf(fact: RunEndFact, hasHeard: boolean): AttemptOutcome {
    if (fact.how === 'done') return 'success';
    if (fact.how === 'aborted' || fact.by === 'reader') return hasHeard ? 'success' : 'unknown';
    if (fact.by !== 'agent') return 'failure';
    return this.#options.circuit?.countAgentErrors === true ? 'failure' : 'success';
  }

  /** Says once that a part of a turn cannot reach the gateway. */
  #warn({ systemPrompt = '' }: AgentRequest): void {
    if (this.#hasWarned || systemPrompt.trim() === '') return;
    this.#hasWarned = true;
    this.#logger.warn('the gateway composes its own prompt: the system prompt is not sent');
  }
}

function unsent(message: string): RunEndFact {
  return { kind: 'end', how: 'failed', by: 'gateway', message, reachedAgent: false };
}

/** Starts a run, and gives what comes of it. Who leaves early stops the agent. */
async function* driven<T>(run: GatewayRun, end: EndAttempt, queue: Backlog<T>) {
  try {
    run.start();
    yield* queue.read();
  } finally {
    run.abort();
    await end('unknown');
  }
}

/** The longest answer, in bytes of UTF-8. */
const maxAnswerBytes = 1024 * 1024;

/** The problem with an answer that is too long. */
const tooLong = `the answer is longer than ${maxAnswerBytes} bytes`;

/** Says if an answer is too long. */
function isTooLong(text: string): boolean {
  return Buffer.byteLength(text) > maxAnswerBytes;
}

/**
 * The answer of a run: the text of its last `chat` event.
 *
 * @param said goes before it: the messages of the run, where `chat` events may not hold all of them. Empty if none came.
 */
function answerOf(end: RunEndFact, said: string): AgentAnswer {
  if (end.how === 'aborted') return failed('the run was stopped');
  if (end.how === 'failed') return failed(end.message, end.reachedAgent);
  const text = (said === '' ? (end.text ?? '') : said).trim();
  if (isTooLong(text)) return failed(tooLong);
  return { status: 'answered', parts: text === '' ? [] : [text] };
}

function failed(error: string, reachedAgent = true): AgentAnswer {
  return { status: 'failed', error, reachedAgent };
}

/** The longest message, in bytes of UTF-8. */
const maxMessageBytes = 100 * 1024;

/** A message for the agent; or the problem with it, which is undefined if there is nothing to say. */
type GatewayMessage = { readonly text: string } | { readonly problem: string | undefined };

/** Puts a trigger in words: its text, or a sentence about a reaction, with the sender's name before it. */
function triggerMessage(
  { content, sender, source }: AgentTrigger,
  prefixSender: boolean,
): GatewayMessage {
  const { text = '', emoji, referencedMessageId } = content;
  const said =
    text.trim() === '' && emoji !== undefined && emoji !== ''
      ? `(reacted with ${emoji} to message ${referencedMessageId ?? source.messageId})`
      : text;
  const name = prefixSender ? sender.displayName?.replace(/[\p{Cc}[\]]/gu, '').trim() : undefined;
  const isNamed = said.trim() !== '' && name !== undefined && name !== '';
  return boundedMessage(isNamed ? `[${name}]: ${said}` : said);
}

/** Puts a turn in words: its prompt, and the files that came along, by name and place. */
function turnMessage({ prompt, attachments }: AgentRequest): GatewayMessage {
  return boundedMessage([...attachedFiles(attachments), prompt].join('\n\n'));
}

function boundedMessage(text: string): GatewayMessage {
  if (text.trim() === '') return { problem: undefined };
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxMessageBytes) return { text };
  return { problem: `the message is too long: ${bytes} bytes, of ${maxMessageBytes}` };
}

/** The longest id within a session key, in code points. */
const maxIdLength = 256;

/**
 * The key of an agent's session on the gateway: `agent:<agentId>:sluice-<id>`. An id that a key cannot hold is made to
 * fit; so that no two conversations share a session then, it gets a mark of its own.
 */
function sessionKeyOf(agentId: string, id: string): string {
  const fitting = Array.from(id.replace(/\p{Cc}/gu, '').replace(/[:/\\]/g, '-'))
    .slice(0, maxIdLength)
    .join('');
  if (fitting === id) return `agent:${agentId}:sluice-${id}`;
  const mark = createHash('sha256').update(id).digest('hex').slice(0, 16);
  const short = Array.from(fitting)
    .slice(0, maxIdLength - mark.length - 1)
    .join('');
  return `agent:${agentId}:sluice-${short}-${mark}`;
}

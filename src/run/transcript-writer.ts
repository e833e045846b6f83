import { type Gate, oneLine } from '../kernel/index.js';
import type { SessionMessage, ToolResultMessage, TranscriptEntry } from '../stream/index.js';
import { RunFailure } from './run-failure.js';
import type { RunSession } from './run-fields.js';
import type { Trail } from './trail.js';

/**
 * Writes a run's messages through the two transcript stages: exactly the messages that they pass, in order, and none that
 * they cancel. A tool's result waits until the message that called it is whole, whichever comes first. If another system
 * writes the transcript (the session has no `append`), the stages can only observe.
 */
export class TranscriptWriter {
  readonly written: TranscriptEntry[] = [];
  readonly #trail: Trail;
  readonly #session: RunSession;
  readonly #runId: string;
  readonly #gate: Gate;
  #results: ToolResultMessage[] = [];
  #messageIsOpen = false;

  constructor(trail: Trail, session: RunSession, runId: string) {
    this.#trail = trail;
    this.#session = session;
    this.#runId = runId;
    this.#gate = session.append === undefined ? 'observe-only' : 'enforce';
  }

  /** A message of the model begins: results wait for it. */
  openMessage(): void {
    this.#messageIsOpen = true;
  }

  /** Writes a whole message, then the results that waited for it. */
  async write(message: SessionMessage): Promise<void> {
    await this.#write({ ...message });
    if (message.role !== 'assistant') return;
    this.#messageIsOpen = false;
    await this.flush();
  }

  /** Writes a tool's result, now or when the open message is whole. */
  async writeResult(result: ToolResultMessage): Promise<void> {
    this.#results.push(result);
    if (!this.#messageIsOpen) await this.flush();
  }

  /** Writes the results that still wait: at the end of a run whose last message never ended. */
  async flush(): Promise<void> {
    const results = this.#results;
    this.#results = [];
    for (const result of results) {
      const outcome = this.#trail.dispatchSync(
        'transcript.tool-result.persisting',
        {
          ...this.#ids(),
          toolName: result.toolName,
          toolCallId: result.toolCallId,
          isSynthetic: false,
          message: { ...result },
        },
        { gate: this.#gate },
      );
      if (outcome.status === 'passed') await this.#write(outcome.payload.message);
    }
  }

  async #write(message: TranscriptEntry): Promise<void> {
    const outcome = this.#trail.dispatchSync(
      'transcript.message.writing',
      { ...this.#ids(), message },
      { gate: this.#gate },
    );
    if (outcome.status !== 'passed') return; // a cancel, or a veto that failed closed: the outcome names it
    const { message: passed } = outcome.payload;
    this.written.push(passed); // before the wait, so that a reader meanwhile finds the message
    try {
      await this.#session.append?.(passed);
    } catch (error) {
      this.written.splice(this.written.indexOf(passed), 1);
      throw new RunFailure('not-written', `the transcript was not written: ${oneLine(error)}`);
    }
  }

  #ids() {
    const { agentId, sessionKey, sessionId } = this.#session;
    return { agentId, sessionKey, sessionId, runId: this.#runId };
  }
}

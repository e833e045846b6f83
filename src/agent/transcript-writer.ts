import { oneLine } from '../kernel/index.js';
import type { SessionMessage, ToolResultMessage, TranscriptEntry } from '../stream/index.js';
import type { Trail } from './trail.js';
import { TurnFailure } from './turn-failure.js';
import type { AgentSession } from './turn-options.js';

/**
 * Writes a run's messages through the two transcript stages: exactly what they pass, in order, and nothing of
 * what they cancel. A tool's result waits until the message that called it is whole, whichever comes first.
 */
export class TranscriptWriter {
  readonly written: TranscriptEntry[] = [];
  readonly #trail: Trail;
  readonly #session: AgentSession;
  readonly #runId: string;
  #results: ToolResultMessage[] = [];
  #messageIsOpen = false;

  constructor(trail: Trail, session: AgentSession, runId: string) {
    this.#trail = trail;
    this.#session = session;
    this.#runId = runId;
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
      const outcome = this.#trail.dispatchSync('transcript.tool-result.persisting', {
        ...this.#ids(),
        toolName: result.toolName,
        toolCallId: result.toolCallId,
        isSynthetic: false,
        message: { ...result },
      });
      if (outcome.status === 'passed') await this.#write(outcome.payload.message);
    }
  }

  async #write(message: TranscriptEntry): Promise<void> {
    const outcome = this.#trail.dispatchSync('transcript.message.writing', {
      ...this.#ids(),
      message,
    });
    if (outcome.status !== 'passed') return; // a cancel, or a veto that failed closed: the outcome says whose
    try {
      await this.#session.append(outcome.payload.message);
    } catch (error) {
      throw new TurnFailure('not-written', `the transcript was not written: ${oneLine(error)}`);
    }
    this.written.push(outcome.payload.message);
  }

  #ids() {
    const { agentId, sessionKey, sessionId } = this.#session;
    return { agentId, sessionKey, sessionId, runId: this.#runId };
  }
}

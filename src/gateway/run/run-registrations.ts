import type { AgentEventPayload } from '../../stream/index.js';
import type { OpenClawClient } from '../client/client.js';
import type { OtherAgentEvent } from '../protocol/agent-event.js';
import type { ChatEvent } from '../protocol/chat-event.js';

/** Hears the events of a run. */
interface RunListener {
  readonly agent: (event: AgentEventPayload) => void;
  readonly other: (event: OtherAgentEvent) => void;
  readonly chat: (event: ChatEvent) => void;
  /** The connection is there again. */
  readonly connected: () => void;
}

/** The things that one run holds of a client: its callbacks, its claim, its listener. `end` gives all of them back. */
export class RunRegistrations {
  readonly #client: OpenClawClient;
  readonly #listen: 'agent' | 'chat';
  readonly #isDriven: boolean;
  readonly #listener: RunListener;
  #runId: string | undefined;
  #claim: Disposable | undefined;
  #listening: Disposable | undefined;

  constructor(
    client: OpenClawClient,
    listen: 'agent' | 'chat',
    isDriven: boolean,
    listener: RunListener,
  ) {
    this.#client = client;
    this.#listen = listen;
    this.#isDriven = isDriven;
    this.#listener = listener;
  }

  /** The id that it is registered under. */
  get runId(): string | undefined {
    return this.#runId;
  }

  /** @throws SluiceError `run-registered`, `too-many-runs`; then it holds nothing. */
  add(runId: string): void {
    const client = this.#client;
    const { agent, other, chat, connected } = this.#listener;
    if (this.#isDriven) this.#claim = client.claimRun(runId); // before its first event is told
    this.#runId = runId;
    try {
      // in this order: the last of the early events is a chat's
      if (this.#listen === 'agent') client.registerAgentAccumulation(runId, agent, other);
      if (this.#runId !== undefined) client.registerChatAccumulation(runId, chat);
    } catch (error) {
      this.end();
      throw error;
    }
    if (this.#runId === undefined) return; // an early event has ended it
    this.#listening ??= client.onState(({ state }) => {
      if (state === 'connected') connected();
    });
  }

  /** The gateway has named the run otherwise. */
  move(runId: string): void {
    this.end();
    this.add(runId);
  }

  /** Gives everything back. @returns the id that it was registered under. */
  end(): string | undefined {
    const runId = this.#runId;
    this.#runId = undefined;
    if (runId !== undefined) {
      this.#client.unregisterAgentAccumulation(runId, this.#listener.agent);
      this.#client.unregisterChatAccumulation(runId, this.#listener.chat);
    }
    this.#listening?.[Symbol.dispose]();
    this.#listening = undefined;
    this.#claim?.[Symbol.dispose]();
    this.#claim = undefined;
    return runId;
  }
}

import type { AgentAnswer } from './agent-answer.js';
import type { AgentTrigger } from './agent-trigger.js';
import type { TranscriptSize } from './is-session-message.js';
import type { SessionEvent } from './session-event.js';
import type { AssistantMessage, SessionMessage } from './session-message.js';
import type { StreamDelta } from './stream-delta.js';
import type { SubagentFact, SubagentStart } from './subagent-fact.js';
import type { AgentTool, AgentToolResult, ToolDefinition } from './tool/agent-tool.js';
import type { ToolCall, ToolGate } from './tool/tool-call.js';

/** A file that goes with a prompt. */
export interface PromptAttachment {
  readonly kind: string;
  readonly url?: string;
  readonly path?: string;
  readonly mimeType?: string;
  readonly name?: string;
}

/** The context that was bound to a session, for its agent to read. */
export interface SessionContext {
  readonly context: Readonly<Record<string, unknown>>;
  readonly memoryKeys: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** One turn, as a provider gets it: composed, with its model chosen. */
export interface AgentRequest {
  readonly runId: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly sessionKey: string;
  /** One of the provider's `models`. */
  readonly model: string;
  /** The system prompt, guidance included. */
  readonly systemPrompt?: string;
  /** The question, with this turn's additions. */
  readonly prompt: string;
  /** The part of the prompt that tells what stands around the message (spec §15.13); absent if there is none. */
  readonly surroundings?: string;
  readonly attachments: readonly PromptAttachment[];
  /** The transcript before the prompt, oldest first; only its end if it is longer than agents get. */
  readonly history: readonly SessionMessage[];
  /** The size of the transcript before `history`; absent if there is none. */
  readonly beforeHistory?: TranscriptSize;
  /**
   * The messages about this prompt from before, by another attempt or in a host that was killed, oldest first. It comes after the
   * prompt, and does not hold it. Absent if the prompt is asked for the first time.
   */
  readonly begun?: readonly SessionMessage[];
  /**
   * The calls of tools that a person was asked about when the work in `begun` was cut off, in order. None of them has a result, and
   * `begun` does not have them. They are to be made again, exactly so and before anything else: the gate then gives the answer of the
   * person (judgement §4.34). The host has made those of its own `tools` itself. Absent if there are none.
   */
  readonly callsAgain?: readonly ToolCall[];
  readonly session: SessionContext;
  /** The provider's own session that goes on with this one: the newest text that it gave to `keepSession`. */
  readonly providerSession?: string;
  /** Has a text kept with the session until the next turn, also over a restart. It means something to the provider alone. */
  readonly keepSession: (token: string) => void;
  /** To be asked before each tool call by a provider whose `toolGate` is `enforce`. */
  readonly gate: ToolGate;
  /**
   * To be awaited before each call of a model by a provider whose `modelGate` is `enforce`. Rejects if `agent.llm.calling` keeps the
   * call from the model: the provider throws that on, and calls no model any more.
   */
  readonly llmCalling: () => Promise<void> | undefined;
  /**
   * To be awaited by a provider whose `modelGate` is `enforce`, before it uses what a model has said, with the message of its
   * `message_end` or with one that it does not tell of, such as a summary. Gives the message as `agent.llm.returning` has left it: the
   * provider makes the calls of that one. Rejects if the answer is kept back. A message is judged once.
   */
  readonly llmReturning: (
    message: AssistantMessage,
  ) => AssistantMessage | Promise<AssistantMessage>;
  /**
   * To be awaited with the answer of a tool that the provider itself has run, if it can change what the model gets of it. Gives the
   * answer as `agent.tool.returning` has left it: the same object if nothing has changed. Never rejects.
   */
  readonly toolReturning: (call: ToolCall, result: AgentToolResult) => Promise<AgentToolResult>;
  /** The tools of the host for this agent, beside its own. Absent if there are none, or if its provider takes none. */
  readonly tools?: readonly AgentTool[];
  /**
   * Makes tools of the provider's own run as those of the host do: each call asks the gate, its arguments are judged, its time and
   * its answer are bounded. Their names are for the provider to keep apart.
   */
  readonly offer: (tools: readonly ToolDefinition[]) => readonly AgentTool[];
  /**
   * The messages that this attempt has written since the provider runs, oldest first, as the transcript stages have passed them; the
   * prompt is not among them. When an event has been taken, its message is there, unless a handler has kept it out.
   */
  readonly written: () => readonly SessionMessage[];
  /**
   * To be told what the agent's subagents do, in the order in which it happens: between the session events that it
   * happens between. A fact that comes after `agent_end` is ignored. Never throws.
   */
  readonly tell: (fact: SubagentFact) => void;
  /** Aborted when the turn is to stop: end the stream soon, or be cut off. */
  readonly signal: AbortSignal;
  /** Milliseconds that the turn waits for the end of the stream when it is stopped; absent if not known. */
  readonly graceMs?: number;
}

/** A fault of a part of an agent that its operator should look at, though the agent answers. Plain data. */
export interface AgentTrouble {
  /** The part, such as `wiki/search`: the server and its tool. */
  readonly whose: string;
  /** The fault: names and numbers, no text of anybody. */
  readonly what: string;
  /** The words of the part itself, for the console of the operator. */
  readonly detail?: string;
}

/**
 * The driver of a model: the one thing an agent turn needs of an agent (seed 003's `IAgentProvider`).
 *
 * `run` yields session events of one run, from `agent_start` to `agent_end`. It may throw instead; the turn ends
 * then, with that error, whose `retryAfterMs` says when another attempt may follow, if there is to be one. The iterator's `return()` must let go of everything it holds.
 *
 * @example
 * const silent: AgentProvider = {
 *   id: 'silent', models: ['none'], toolGate: 'enforce',
 *   async *run() { yield { type: 'agent_start' }; yield { type: 'agent_end', messages: [] }; },
 * };
 */
export interface AgentProvider {
  /** The name that `agent.model.resolving` chooses it by. */
  readonly id: string;
  /** The models it offers; the first is its default. */
  readonly models: readonly string[];
  /**
   * `enforce`: it asks `request.gate` before a tool runs, and obeys. `observe-only`: its tool calls have run
   * already, or nobody can stop them, as in a recording.
   */
  readonly toolGate: 'enforce' | 'observe-only';
  /**
   * `enforce`: it calls its models itself, asks `request.llmCalling` before each call, and makes no calls of tools but those that
   * `request.llmReturning` gives back. The turn shows its messages as they are judged. Absent: what its model says can only be
   * observed.
   */
  readonly modelGate?: 'enforce' | undefined;
  /**
   * The names of its own tools, if it takes those of `request.tools`; they may be none. Absent if it takes none. A tool of the
   * host with the name of one of its own is left out.
   */
  readonly ownTools?: readonly string[] | undefined;
  /** The faults that it knows of now, in parts that it works with, such as servers of its tools. Never throws. */
  troubles?(): readonly AgentTrouble[];
  /** Resolves when it has tried those parts; `sluice doctor` waits for it. Never rejects. */
  tried?(): Promise<void>;
  /** The subagent that a tool call starts, if it starts one: `subagent.spawning` is asked about that call, too. */
  subagentOf?(call: ToolCall): SubagentStart | undefined;
  run(request: AgentRequest): AsyncIterable<SessionEvent>;
  /** Answers whole, from a provider that keeps its own sessions. Never rejects. */
  trigger?(context: AgentTrigger): Promise<AgentAnswer>;
  /**
   * Answers as stream deltas, from a provider that keeps its own sessions. The last delta is a `final` or an
   * `error`; nothing is thrown. A trigger that says nothing gets no delta. Nothing is asked before the first `next()`.
   */
  triggerStream?(context: AgentTrigger): AsyncGenerator<StreamDelta>;
}

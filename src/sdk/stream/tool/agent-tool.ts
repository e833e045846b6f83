/** A picture in the answer of a tool. */
export interface ToolImage {
  readonly type: 'image';
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
}

/** The answer of a tool that the host gives to agents. */
export interface AgentToolResult {
  /** For the model: at least one block. */
  readonly content: readonly ({ readonly type: 'text'; readonly text: string } | ToolImage)[];
  /** The tool has failed, or did not run. The text says why. */
  readonly isError: boolean;
  /** Plain data for handlers, which the model does not get. */
  readonly details?: unknown;
}

/** One call of a tool by an agent. */
export interface AgentToolCall {
  /** The id that the agent's events give this call. A call is run once, however often it is asked for. */
  readonly toolCallId: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The subagent that calls it, by its provider's id; absent in the main thread. */
  readonly subagentId?: string;
  /** Aborted when the agent no longer wants the answer. The end of the turn stops the call, too. */
  readonly signal?: AbortSignal;
  /** Told of each part that the tool shows before it is done. */
  readonly onUpdate?: (partial: AgentToolResult) => void;
}

/** A tool of the host, as the provider of an agent gets it with a request (event pipeline §16.22). */
export interface AgentTool {
  /** The name that handlers see in `agent.tool.calling`. The model may know the tool by another one. */
  readonly name: string;
  readonly description: string;
  /** A JSON Schema with the type `object`, without `anyOf`, `oneOf` and `allOf` at its top. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /**
   * Asks the gate about the call, judges the arguments that the gate gives back, and runs the tool with them. Never rejects: a
   * refusal and a failure are answers.
   */
  call(call: AgentToolCall): Promise<AgentToolResult>;
}

/** The call of a tool, as the code of the tool sees it. */
export interface ToolUse {
  readonly toolCallId: string;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly runId: string;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Shows a part of the answer. After the end of the call it does nothing. */
  readonly onUpdate: (partial: unknown) => void;
}

/**
 * A tool for the agents of a host.
 *
 * @example
 * const dice: ToolDefinition = {
 *   name: 'dice',
 *   description: 'Throws a die with so many sides.',
 *   inputSchema: { type: 'object', properties: { sides: { type: 'integer', minimum: 2 } }, required: ['sides'] },
 *   execute: ({ sides }) => String(1 + Math.floor(Math.random() * Number(sides))),
 * };
 */
export interface ToolDefinition {
  /** 1 to 64 letters, digits, "_" and "-"; not `mcp__...`. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** A JSON Schema with the type `object`, which TypeBox makes, too. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Milliseconds that one call may take; by default 600 000 (ten minutes). */
  readonly timeoutMs?: number;
  /**
   * Runs the tool, with a copy of the arguments that the pipeline has passed.
   *
   * @returns a text, an object with `content` (and `details`, `isError`) as `AgentToolResult` has them, or other data, which the
   *   model gets as JSON. The model is told an error in one line.
   */
  execute(args: Record<string, unknown>, use: ToolUse): unknown;
}

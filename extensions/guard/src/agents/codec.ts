/** The points of an agent's work that a guard can hear of. Each is a family of the kernel. */
export const points = [
  'session.starting',
  'ingress.normalized',
  'agent.tool.calling',
  'agent.tool.returning',
  'agent.completed',
] as const;

/** One of the points. */
export type Point = (typeof points)[number];

/** A JSON object, as an agent gives it. Nothing of it is believed. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The facts that a codec has read of the input of one hook. Tools and parameters are in the agent's own words. */
export interface Heard {
  /** The session by the agent's own id. */
  readonly sessionId: string;
  /** The folder that the agent works in, as an absolute path. */
  readonly workspaceDir: string;
  readonly toolName?: string;
  readonly toolCallId?: string;
  readonly params?: JsonObject;
  /** The answer of a tool: a text as it is, other data as JSON. */
  readonly result?: { readonly text: string; readonly isError: boolean };
  /** The words of the person. */
  readonly prompt?: string;
  /** The reason why the session started or ended, as the agent says it; of a call, the reason why it is refused already. */
  readonly reason?: string;
}

/** The verdict on what was heard. */
export type Verdict =
  | {
      readonly status: 'allowed';
      /** The parameters in the agent's own words, if a handler has changed them. */
      readonly params?: JsonObject;
      /** The result's text, if a handler has changed it. */
      readonly result?: string;
      /** Words for the model to read besides, of augmenters. */
      readonly context?: string;
    }
  | { readonly status: 'refused'; readonly reason: string };

/** The answer of a hook. An agent that calls a command reads all three; one that calls HTTP reads `body` alone. */
export interface HookAnswer {
  readonly exitCode: number;
  /** Printed as JSON to standard output, or the body of the HTTP response; nothing if absent. */
  readonly body?: JsonObject;
  readonly stderr?: string;
}

/** How one agent speaks of one point. */
export interface PointCodec {
  /** The name of the hook in the agent's settings. */
  readonly hook: string;
  /** `enforced`: the agent obeys a refusal. `observed`: it only tells. */
  readonly effect: 'enforced' | 'observed';
  /** The agent takes changed parameters, or a changed result. */
  readonly takesChanges: boolean;
  /** The most milliseconds that the agent waits for the hook, as `guard init` sets it. */
  readonly timeoutMs: number;
  /** @throws HookInputError if the input is not what the agent's release documents. */
  readonly read: (input: JsonObject) => Heard;
  readonly write: (verdict: Verdict, input: JsonObject) => HookAnswer;
}

/** One coding agent, as data: a file for each, with the release whose contract was read. */
export interface AgentCodec {
  /** The name in the path of its door, in the settings and in tables. */
  readonly agent: string;
  /** The name for people. */
  readonly title: string;
  /** The package and the release whose contract was read. */
  readonly release: string;
  /** `run`: tried with the real program and a model on loopback. `documented`: from its documents alone. */
  readonly proof: 'run' | 'documented';
  readonly points: Readonly<Partial<Record<Point, PointCodec>>>;
  /** The agent's tools in the words that all rules share (`judging/aliases.ts`). */
  readonly tools: Readonly<Record<string, ToolAlias>>;
}

/** The words that rules share for what tools of all agents do. */
export type CommonTool = 'shell' | 'read' | 'write' | 'fetch';

/** One tool of one agent in the shared words. */
export interface ToolAlias {
  readonly is: CommonTool;
  /** The shared name of each parameter that has one: `command`, `path`, `content`, `url`. By the agent's own name. */
  readonly params: Readonly<Record<string, 'command' | 'path' | 'content' | 'url'>>;
  /** The files of a call that names several: each is judged as its `path`. @throws HookInputError if they cannot be told. */
  readonly files?: (params: JsonObject) => readonly string[];
}

/** The input of a hook is not what the agent's release documents. It is refused, never passed. */
export class HookInputError extends Error {
  override readonly name = 'HookInputError';
}

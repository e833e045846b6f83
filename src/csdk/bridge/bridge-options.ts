import type { Clock, Gate, Logger, Outcome } from '../../kernel/index.js';
import type { RunSession, TrailRefs } from '../../run/index.js';
import type { CsdkPermissionAnswer, CsdkPermissionOptions } from '../gate/sdk-callbacks.js';
import type { ToolGateOptions } from '../gate/tool-gate.js';
import type { NormalizeOptions } from '../session/normalize-options.js';

/** What a run of the SDK is bridged with. */
export interface BridgeOptions<
  Options extends CsdkPermissionOptions = CsdkPermissionOptions,
  Answer extends CsdkPermissionAnswer | null = CsdkPermissionAnswer,
> {
  /** The session that the run belongs to. Without `append` the transcript stages can only observe. */
  readonly session: RunSession;
  /** Names the run in every event of it. */
  readonly runId: string;
  /** What the agent is asked, where it is known. */
  readonly prompt?: string;
  /** The system prompt, where it is known. */
  readonly systemPrompt?: string;
  /** How many images go with the prompt; none where unsaid. */
  readonly imagesCount?: number;
  /** What started it: user, heartbeat, cron, ...; `user` where unsaid. */
  readonly trigger?: string;
  readonly workspaceDir?: string;
  /** The channel whose message started the run. */
  readonly channel?: string;
  /** The model provider; `anthropic` where unsaid. */
  readonly provider?: string;
  /**
   * `enforce` (the default): the query gets `canUseTool` and `hooks`, and what vetoes and mutators of
   * `agent.tool.calling` decide happens. `observe-only`: a recorded run, or one that nobody can stop.
   */
  readonly gate?: Gate;
  /** How the gate meets the SDK's own rules, and the host's own `canUseTool`. */
  readonly permissions?: Omit<ToolGateOptions<Options, Answer>, 'onInput'>;
  /** How the frames are read. */
  readonly normalize?: Pick<
    NormalizeOptions,
    'subagents' | 'end' | 'idleTimeoutMs' | 'onDiagnostic' | 'check'
  >;
  /** The dispatch that the run follows: its refs, correlation and annotations go on. */
  readonly after?: Outcome;
  /** What every dispatch of the run carries besides; the run's id joins its metadata. */
  readonly refs?: TrailRefs;
  /** Stops the run. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

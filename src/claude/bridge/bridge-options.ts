import type { Approvals, RunSession, TrailRefs } from '@sluice/agent/run';
import type { Clock, Gate, Logger, Outcome } from 'sluice-kernel';
import type { CsdkPermissionAnswer, CsdkPermissionOptions } from '../gate/sdk-callbacks.js';
import type { ToolGateOptions } from '../gate/tool-gate.js';
import type { NormalizeOptions } from '../session/normalize-options.js';

/** Options for bridging a run of the SDK. */
export interface BridgeOptions<
  Options extends CsdkPermissionOptions = CsdkPermissionOptions,
  Answer extends CsdkPermissionAnswer | null = CsdkPermissionAnswer,
> {
  /** The session that the run belongs to. Without `append` the transcript stages can only observe. */
  readonly session: RunSession;
  /** Names the run in every event of it. */
  readonly runId: string;
  /** The question to the agent, if it is known. */
  readonly prompt?: string;
  /** The system prompt, where it is known. */
  readonly systemPrompt?: string;
  /** The number of images that go with the prompt. Default: 0. */
  readonly imagesCount?: number;
  /** The cause of the run: user, heartbeat, cron, ... Default: `user`. */
  readonly trigger?: string;
  readonly workspaceDir?: string;
  /** The channel whose message started the run. */
  readonly channel?: string;
  /** The model provider; by default `anthropic`. */
  readonly provider?: string;
  /**
   * `enforce` (the default): the query gets `canUseTool` and `hooks`, and what vetoes and mutators of
   * `agent.tool.calling` decide happens. `observe-only`: a recorded run, or one that nobody can stop.
   */
  readonly gate?: Gate;
  /** Options for the gate beside the SDK's own rules and the host's own `canUseTool`. */
  readonly permissions?: Omit<ToolGateOptions<Options, Answer>, 'onInput'>;
  /**
   * Asks humans what vetoes ask about, while the SDK waits for PreToolUse or `canUseTool` (judgement §4.12). Without it, such a call
   * is refused.
   */
  readonly approvals?: Approvals;
  /** Options for reading the frames. */
  readonly normalize?: Pick<
    NormalizeOptions,
    'subagents' | 'end' | 'idleTimeoutMs' | 'onDiagnostic' | 'check'
  >;
  /** The dispatch that the run follows: its refs, correlation and annotations go on. */
  readonly after?: Outcome;
  /** The refs that every dispatch of the run carries. The run's id joins their metadata. */
  readonly refs?: TrailRefs;
  /** Stops the run. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

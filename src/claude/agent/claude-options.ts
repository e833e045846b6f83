import type { Clock, Logger } from 'sluice-kernel';
import { csdkError } from '../errors.js';
import type { SdkQuestions } from '../index.js';
import { type ClaudePermissionMode, type ClaudeQuery, sdkPackage } from './claude-sdk.js';
import { toolServerName } from './claude-tools.js';

/** The options of `claudeProvider`. Each may be left out. */
export interface ClaudeProviderOptions {
  /** `query()` of the SDK; `loadClaudeSdk()` finds it when the first turn comes, by default. */
  readonly query?: ClaudeQuery;
  /**
   * The models on offer, as the SDK names them; `default` leaves the choice to the SDK. `default`, `opus`, `sonnet`
   * and `haiku` by default.
   */
  readonly models?: readonly string[];
  /** The folder that its tools work in; the process's own by default. */
  readonly cwd?: string;
  /** The whole environment of its process; this process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** `default` by default. In every mode each tool call passes `agent.tool.calling` first. */
  readonly permissionMode?: ClaudePermissionMode;
  /**
   * `append` (the default): a turn's system prompt comes after Claude Code's own. `replace`: it stands in its place.
   */
  readonly systemPrompt?: 'append' | 'replace';
  /**
   * The memory that the turns of a session share. `resume` (the default): the SDK's own session, with its tool calls,
   * on disk; it holds each message as it was said, before `transcript.message.writing` changed it. `history`: the
   * transcript alone, as text before the prompt; the SDK keeps nothing.
   */
  readonly memory?: 'resume' | 'history';
  /**
   * Milliseconds that a tool call may be judged for, a person's approval included; 25 hours by default. A question that is open for
   * longer ends as a refusal.
   */
  readonly gateTimeoutMs?: number;
  /**
   * The questions of the SDK that a human answers (judgement §4.32). `none` by default: a call that the SDK asks about runs if the
   * pipeline passes it. `explicit`: those of `ask` rules and of PreToolUse hooks. `all`: each, also about a call that no rule allows.
   */
  readonly sdkQuestions?: SdkQuestions;
  /** Milliseconds that a run waits for background tasks after an answer; 600 000 by default. */
  readonly idleTimeoutMs?: number;
  /** Further options of `query()`, by their own names: `maxTurns`, `mcpServers`, `tools`, `settingSources`, ... */
  readonly sdk?: Readonly<Record<string, unknown>>;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/** Options of the SDK that are the provider's, and what to use instead. */
const reserved: Readonly<Record<string, string>> = {
  abortController: 'Stop the turn by its signal.',
  canUseTool: 'Contribute a veto to agent.tool.calling.',
  continue: 'Set memory.',
  cwd: 'Set cwd of the provider.',
  env: 'Set env of the provider.',
  forkSession: 'Set memory.',
  hooks: 'Contribute handlers to the pipeline, such as to agent.tool.calling.',
  [`mcpServers.${toolServerName}`]:
    'Give the server another name: this one serves the tools of the host.',
  model: 'Set models of the provider.',
  permissionMode: 'Set permissionMode of the provider.',
  permissionPromptToolName: 'Contribute a veto to agent.tool.calling.',
  persistSession: 'Set memory.',
  resume: 'Set memory.',
  resumeSessionAt: 'Set memory.',
  sessionId: 'Set memory.',
  systemPrompt: 'Contribute to agent.prompt.building.',
};

/**
 * Refuses SDK options that would go around the pipeline, or that have a name of their own here.
 *
 * @throws SluiceError `reserved-option`.
 */
export function checkClaudeOptions({ sdk = {} }: ClaudeProviderOptions): void {
  const { mcpServers } = sdk;
  const servers = Object.keys(Object(mcpServers)).map((name) => `mcpServers.${name}`);
  for (const option of [...Object.keys(sdk), ...servers]) {
    const instead = reserved[option];
    if (instead === undefined) continue;
    const details = { option, instead, package: sdkPackage, provider: 'claude' };
    throw csdkError('reserved-option', details);
  }
}

import type { AgentRequest } from '@sluice/sdk/stream';
import { definedFields, type Logger, silentLogger } from 'sluice-kernel/internal';
import type { CallbackQueue } from '../index.js';
import { type ToolGateOptions, toolGate } from '../index.js';
import type { Recalled } from './claude-memory.js';
import type { ClaudeProviderOptions } from './claude-options.js';
import type { ClaudeQueryOptions } from './claude-sdk.js';
import { offeredTools, plainGate } from './claude-tools.js';

/** Tools that need a person at a terminal, or a process that lives on when the turn has ended. */
const unfitTools = [
  'AskUserQuestion',
  'EnterPlanMode',
  'ExitPlanMode',
  'CronCreate',
  'CronDelete',
  'CronList',
  'ScheduleWakeup',
];

/** The SDK says when it has nothing left to do: the end of a run (csdk §7.2). */
const stateEvents = { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1' };

/** The options of the query that answers a request. */
export function claudeQueryOptions(
  request: AgentRequest,
  options: ClaudeProviderOptions,
  { resume, resumeAt }: Recalled,
  callbacks: CallbackQueue,
  stop: AbortController,
  onResult: ToolGateOptions['onResult'],
): ClaudeQueryOptions {
  const { cwd, env, sdk, memory, permissionMode = 'default' } = options;
  const { gateTimeoutMs, sdkQuestions, logger = silentLogger } = options;
  const timeoutSeconds = gateTimeoutMs && Math.ceil(gateTimeoutMs / 1_000);
  const how = definedFields({ timeoutSeconds, sdkQuestions, onResult });
  const gate = toolGate(request.gate, callbacks, how);
  return {
    // A settings file may hold hooks and permissions that nobody sees here; a prompt taken as it is written reads no
    // file by "@path", which no veto would be asked about, and runs no slash command.
    settingSources: [],
    verbatimPrompts: true,
    includePartialMessages: true,
    disallowedTools: unfitTools,
    stderr: (text) => told(logger, text, request),
    ...sdk,
    ...offeredTools(request.tools, sdk),
    ...(request.tools === undefined ? gate : plainGate(gate)),
    abortController: stop,
    permissionMode,
    ...(permissionMode === 'bypassPermissions' && { allowDangerouslySkipPermissions: true }),
    persistSession: memory !== 'history',
    ...systemPrompt(options, request),
    ...definedFields({ cwd }),
    env: { ...stateEvents, ...(env ?? process.env) },
    ...(request.model !== 'default' && { model: request.model }),
    ...definedFields({ resume, resumeSessionAt: resumeAt }),
  };
}

/** Built anew for each turn: the SDK would keep that of the session's first (`snapshot`). */
function systemPrompt(
  { systemPrompt: place = 'append' }: ClaudeProviderOptions,
  { systemPrompt: prompt }: AgentRequest,
): Pick<ClaudeQueryOptions, 'systemPrompt'> {
  const snapshot = false;
  if (place === 'append') {
    const append = prompt === undefined ? {} : { append: prompt };
    return { systemPrompt: { type: 'preset', preset: 'claude_code', snapshot, ...append } };
  }
  return prompt === undefined ? {} : { systemPrompt: { type: 'custom', prompt, snapshot } };
}

function told(logger: Logger, text: string, { runId, sessionId }: AgentRequest): void {
  logger.debug('claude wrote to stderr', { runId, sessionId, detail: text.trim() });
}

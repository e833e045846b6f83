import type { AgentTool } from '@sluice/sdk/stream';
import { type Fields, isFields } from 'sluice-kernel/internal';
import type { CsdkFrame, CsdkHook, CsdkToolGate } from '../index.js';
import type { ClaudeQueryOptions } from './claude-sdk.js';
import { type McpToolServer, toolServer } from './tool-server.js';

/** The name of the server in `mcpServers` of the SDK. */
export const toolServerName = 'sluice';

const prefix = `mcp__${toolServerName}__`;

/** The tools of Claude Code: a tool of the host may not have one of these names. */
export const claudeOwnTools: readonly string[] = [
  ...['Agent', 'AskUserQuestion', 'Bash', 'BashOutput', 'Config', 'CronCreate', 'CronDelete'],
  ...['CronList', 'Edit', 'EnterPlanMode', 'EnterWorktree', 'ExitPlanMode', 'ExitWorktree', 'Glob'],
  ...['Grep', 'KillShell', 'ListAgents', 'ListMcpResources', 'LSP', 'MultiEdit', 'Monitor'],
  ...['NotebookEdit', 'Read', 'ReadMcpResource', 'ReportFindings', 'ScheduleWakeup', 'SendMessage'],
  ...['Skill', 'SlashCommand', 'Task', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskOutput'],
  ...['TaskStop', 'TaskUpdate', 'TodoWrite', 'ToolSearch', 'WebFetch', 'WebSearch', 'Workflow'],
  ...['Write'],
];

/**
 * The tools of the host as an MCP server in this process.
 *
 * @param sdk the operator's own options of the SDK, whose servers stay.
 */
export function offeredTools(
  tools: readonly AgentTool[] | undefined,
  { mcpServers }: Fields = {},
): Pick<ClaudeQueryOptions, 'mcpServers'> {
  if (tools === undefined) return {};
  const instance: McpToolServer = toolServer(toolServerName, tools);
  const own = { type: 'sdk', name: toolServerName, instance };
  const servers: object = { ...(isFields(mcpServers) ? mcpServers : {}), [toolServerName]: own };
  return { mcpServers: servers as Record<string, never> }; // the SDK's class of servers is not at hand: it calls connect() and close()
}

/** The name of a tool without the name of its server: the name that handlers know. */
function plainName(name: string): string {
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

/** A gate that is asked with the names that handlers know. If it passes a tool of the host, the SDK asks nobody else. */
export function plainGate({ canUseTool, hooks }: CsdkToolGate): CsdkToolGate {
  const plain = (hook: CsdkHook): CsdkHook => {
    return async (input, ...rest) => {
      const named = plainNames(input);
      const output = await hook(named, ...rest);
      const isOurs = named !== input && input.hook_event_name === 'PreToolUse';
      return isOurs ? { hookSpecificOutput: { ...allowed, ...output.hookSpecificOutput } } : output;
    };
  };
  const matchers = Object.entries(hooks).map(([event, all]) => [
    event,
    all.map((matcher) => ({ ...matcher, hooks: matcher.hooks.map(plain) })),
  ]);
  return {
    canUseTool: (name, input, options) => canUseTool(plainName(name), input, options),
    hooks: Object.fromEntries(matchers) as CsdkToolGate['hooks'], // the same events
  };
}

const allowed = { hookEventName: 'PreToolUse', permissionDecision: 'allow' } as const;

/** A frame with the names that handlers know. One without a tool of the host stays the same object. */
export function plainFrame(frame: CsdkFrame): CsdkFrame {
  const { message, event } = frame as Fields; // read with care
  const block: unknown = isFields(event) ? event['content_block'] : undefined;
  if (isFields(block) && plainNames(block) !== block)
    return { ...frame, event: { ...Object(event), content_block: plainNames(block) } };
  const content: unknown = isFields(message) ? message['content'] : undefined;
  if (!Array.isArray(content)) return plainNames(frame);
  const named: unknown[] = content.map((one) => (isFields(one) ? plainNames(one) : one));
  const isSame = named.every((one, at) => one === content[at]);
  return isSame ? frame : { ...frame, message: { ...Object(message), content: named } };
}

/** The fields in which the SDK names a tool. */
const fields = ['name', 'tool_name', 'last_tool_name'] as const;

function plainNames<T extends object>(named: T): T {
  let result = named;
  for (const field of fields) {
    const name: unknown = Reflect.get(named, field);
    if (typeof name === 'string' && name.startsWith(prefix))
      result = { ...result, [field]: plainName(name) };
  }
  return result;
}

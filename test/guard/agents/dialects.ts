import { type JsonObject, type Point, points } from '../../../extensions/guard/src/agents/codec.js';

/** One input of a hook, in the shape of its agent's release. */
export interface Spoken {
  readonly agent: string;
  readonly point: Point;
  readonly input: JsonObject;
  /** The fields without which nothing can be judged. */
  readonly needed: readonly string[];
}

const callOf = { command: 'ls -l' };
const snake = (hook: string, more: JsonObject): JsonObject => ({
  session_id: 'b4a1',
  transcript_path: '/home/ann/t.jsonl',
  cwd: '/home/ada/shop',
  hook_event_name: hook,
  ...more,
});
const always = ['session_id', 'cwd', 'hook_event_name'];
const tooled = { tool_name: 'Bash', tool_input: callOf, tool_use_id: 'call-1' };
const stdout = { stdout: 'a\nb', stderr: '', interrupted: false, isImage: false };
const answered = { resultType: 'success', textResultForLlm: 'a\nb' };
const camel = { sessionId: 'b4a1', timestamp: 1_795_813_546_368, cwd: '/home/ada/shop' };
const camelCall = { ...camel, toolName: 'bash', toolArgs: callOf };
const plugin = (hook: string, more: JsonObject = {}): JsonObject => ({
  hook,
  sessionID: 'ses_1',
  directory: '/home/ada/shop',
  ...more,
});
const pluginCall = { tool: 'bash', callID: 'call-1', args: callOf };
const gemini = { tool_name: 'run_shell_command', tool_input: callOf };

/** The inputs of each agent: starting, prompt, calling, returning, completed. */
const spoken: Readonly<Record<string, readonly JsonObject[]>> = {
  claude: [
    snake('SessionStart', { source: 'startup' }),
    snake('UserPromptSubmit', { prompt: 'list it' }),
    snake('PreToolUse', tooled),
    snake('PostToolUse', { ...tooled, tool_response: stdout }),
    snake('Stop', { stop_hook_active: false, last_assistant_message: 'done' }),
  ],
  codex: [
    snake('SessionStart', { model: 'm', permission_mode: 'default', source: 'startup' }),
    snake('UserPromptSubmit', { turn_id: 't', prompt: 'list it' }),
    snake('PreToolUse', { turn_id: 't', ...tooled }),
    snake('PostToolUse', { turn_id: 't', ...tooled, tool_response: 'a\nb' }),
    snake('Stop', { stop_hook_active: false, last_assistant_message: null }),
  ],
  gemini: [
    snake('SessionStart', { timestamp: '2026-11-27T21:05:17.886Z', source: 'startup' }),
    snake('BeforeAgent', { prompt: 'list it' }),
    snake('BeforeTool', gemini),
    snake('AfterTool', { ...gemini, tool_response: { llmContent: 'a\nb', returnDisplay: 'a' } }),
    snake('AfterAgent', { prompt: 'list it', prompt_response: 'done', stop_hook_active: false }),
  ],
  copilot: [
    { ...camel, source: 'new', initialPrompt: 'list it' },
    { ...camel, prompt: 'list it' },
    camelCall,
    { ...camelCall, toolResult: answered },
    { ...camel, stopReason: 'end_turn', stop_hook_active: false },
  ],
  opencode: [
    plugin('session.created'),
    plugin('chat.message', { prompt: 'list it' }),
    plugin('tool.execute.before', pluginCall),
    plugin('tool.execute.after', { ...pluginCall, output: 'a\nb' }),
    plugin('session.idle'),
  ],
};

const call = ['tool_name', 'tool_input'];
const snakeNeeds = (more: readonly string[], result = 'tool_response') => [
  [...always, 'source'],
  [...always, 'prompt'],
  [...always, ...call, ...more],
  [...always, ...call, ...more, result],
  always,
];
const camelNeeds = ['sessionId', 'cwd'];
const pluginNeeds = ['hook', 'sessionID', 'directory'];
const needs: Readonly<Record<string, readonly (readonly string[])[]>> = {
  claude: snakeNeeds(['tool_use_id']),
  codex: snakeNeeds(['tool_use_id']),
  gemini: snakeNeeds([]),
  copilot: [
    [...camelNeeds, 'source'],
    [...camelNeeds, 'prompt'],
    [...camelNeeds, 'toolName', 'toolArgs'],
    [...camelNeeds, 'toolName', 'toolArgs', 'toolResult'],
    camelNeeds,
  ],
  opencode: [
    pluginNeeds,
    [...pluginNeeds, 'prompt'],
    [...pluginNeeds, 'tool', 'callID', 'args'],
    [...pluginNeeds, 'tool', 'callID', 'args', 'output'],
    pluginNeeds,
  ],
};

export const documented: readonly Spoken[] = Object.entries(spoken).flatMap(([agent, inputs]) =>
  points.map((point, at) => ({
    agent,
    point,
    input: inputs[at] ?? {},
    needed: needs[agent]?.[at] ?? [],
  })),
);

/** A field deep in an answer; nothing if it is not there. */
function at(body: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((one, name) => Object(one)[name], body);
}

/** The text that the person or the model reads instead, if the agent obeys the answer; by the contract of its release. */
export function obeyedText(agent: string, point: Point, body: unknown): unknown {
  const denied = ['hookSpecificOutput', 'permissionDecision'];
  const reason = ['hookSpecificOutput', 'permissionDecisionReason'];
  const is = (value: unknown, wanted: string, text: unknown) =>
    value === wanted ? text : undefined;
  if (agent === 'opencode') return at(body, 'refuse');
  if (agent === 'gemini') return is(at(body, 'decision'), 'deny', at(body, 'reason'));
  if (point === 'agent.tool.calling')
    return agent === 'copilot'
      ? is(at(body, 'permissionDecision'), 'deny', at(body, 'permissionDecisionReason'))
      : is(at(body, ...denied), 'deny', at(body, ...reason));
  if (point === 'agent.tool.returning' && agent === 'copilot')
    return at(body, 'modifiedResult', 'textResultForLlm');
  if (point === 'agent.tool.returning' && agent === 'claude')
    return at(body, 'hookSpecificOutput', 'updatedToolOutput', 'stdout');
  return is(at(body, 'decision'), 'block', at(body, 'reason'));
}

import type { AgentCodec } from './codec.js';
import { inOutput, pointsOf, resultOf, snakeFields } from './dialect.js';
import { deepest, isObject } from './reading.js';

/*
 * Claude Code 2.1.332, read in `sdk.d.ts` and the program of @anthropic-ai/claude-agent-sdk 0.3.332:
 * - `hooks` in ~/.claude/settings.json, .claude/settings.json and .claude/settings.local.json; all of them run, side by side.
 * - A hook is a command or a POST (`type: http`). A POST would give its token to whoever has the port: the guard is a command.
 * - `onFailure: block` makes a hook that fails, is late or answers rubbish a refusal; the default lets the call pass.
 * - `timeout` is in seconds, without an upper bound. An answer other than 2xx is a failure. Redirects are not followed.
 * - `disableAllHooks` and `allowManagedHooksOnly` of any settings can keep a hook from running.
 * - A tool that fails is told to PostToolUseFailure, which can only add words: its error is not judged.
 * - `updatedToolOutput` must have the shape of the tool's own output. Claude Code drops another, and shows the output as it was.
 */

export const claude: AgentCodec = {
  agent: 'claude',
  title: 'Claude Code',
  release: '@anthropic-ai/claude-agent-sdk 0.3.332',
  proof: 'run',
  points: pointsOf({
    hooks: ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'],
    fields: { ...snakeFields, call: 'tool_use_id', last: 'last_assistant_message' },
    resultOf: (read) => resultOf(read.value('tool_response')),
    prompt: (reason) => ({ decision: 'block', reason }),
    call: (permissionDecisionReason) =>
      inOutput('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason }),
    result: (reason, { tool_response: response }) => ({
      decision: 'block',
      reason,
      ...inOutput('PostToolUse', { updatedToolOutput: inShapeOf(response, reason) }),
    }),
    shown: (systemMessage) => ({ systemMessage }),
    params: (updatedInput) => ({ updatedInput }),
    changed: (text, { tool_response: response }) =>
      inOutput('PostToolUse', { updatedToolOutput: changedResult(response, text) }),
    wrap: inOutput,
  }),
  // WebSearch, Agent and Skill have neither a path nor a URL. Agents that Agent starts have hooks of their own.
  tools: {
    Bash: { is: 'shell', params: { command: 'command' } },
    PowerShell: { is: 'shell', params: { command: 'command' } },
    Monitor: { is: 'shell', params: { command: 'command' } },
    Read: { is: 'read', params: { file_path: 'path' } },
    Grep: { is: 'read', params: { path: 'path' } }, // without a path it reads the workspace
    Write: { is: 'write', params: { file_path: 'path', content: 'content' } },
    Edit: { is: 'write', params: { file_path: 'path', new_string: 'content' } },
    NotebookEdit: { is: 'write', params: { notebook_path: 'path', new_source: 'content' } },
    WebFetch: { is: 'fetch', params: { url: 'url' } },
  },
};

/** A changed text of a result in the shape of the result: data that was told as JSON is read again. */
function changedResult(response: unknown, text: string): unknown {
  if (typeof response === 'string') return text;
  try {
    const output: unknown = JSON.parse(text);
    if (Array.isArray(output) === Array.isArray(response) && typeof output === typeof response)
      return output;
  } catch {
    // it is no JSON any more
  }
  return inShapeOf(response, text);
}

/** Values of `type` that choose a shape. Any other is a text as others are. */
const kinds = new Set([
  ...['text', 'image', 'audio', 'document', 'resource', 'resource_link', 'base64', 'notebook'],
  ...['pdf', 'parts', 'file_unchanged', 'create', 'update'],
]);

/** Nothing of a result but its shape, with one text in each place: nobody knows which of its texts the model reads. */
function inShapeOf(response: unknown, text: string): unknown {
  let isSaid = false;
  const left = blank(response, '', deepest);
  return isSaid ? left : text;

  function blank(value: unknown, key: string, levels: number): unknown {
    if (typeof value === 'string') {
      if (value === '' || (key === 'type' && kinds.has(value))) return value;
      isSaid = true;
      return text;
    }
    if (typeof value === 'number') return 0;
    if (typeof value === 'boolean') return false;
    if (levels === 0) return null;
    if (Array.isArray(value)) return value.slice(0, 1).map((one) => blank(one, key, levels - 1));
    if (!isObject(value)) return null;
    const entries = Object.entries(value).map(([name, one]) => [
      name,
      blank(one, name, levels - 1),
    ]);
    return Object.fromEntries(entries);
  }
}

import type { AgentCodec, JsonObject, PointCodec, Verdict } from './codec.js';
import {
  deepest,
  type FieldReader,
  isObject,
  readerOf,
  reasonOf,
  resultText,
  says,
} from './reading.js';

/*
 * Claude Code 2.1.332, read in `sdk.d.ts` and the program of @anthropic-ai/claude-agent-sdk 0.3.332:
 * - `hooks` in ~/.claude/settings.json, .claude/settings.json and .claude/settings.local.json; all of them run, side by side.
 * - A hook is a command or a POST (`type: http`). SessionStart takes no `http`: it is skipped there.
 * - `onFailure: block` makes a hook that fails, is late or answers rubbish a refusal; the default lets the call pass.
 * - `timeout` is in seconds, without an upper bound. An answer other than 2xx is a failure. Redirects are not followed.
 * - `disableAllHooks`, `allowManagedHooksOnly` and `allowedHttpHookUrls` of any settings can keep a hook from running.
 * - A tool that fails is told to PostToolUseFailure, which can only add words: its error is not judged.
 * - `updatedToolOutput` must have the shape of the tool's own output. Claude Code drops another, and shows the output as it was.
 */

const toolHook = (read: FieldReader) => ({
  ...base(read),
  toolName: read.text('tool_name'),
  toolCallId: read.text('tool_use_id'),
  params: read.object('tool_input'),
});

const base = (read: FieldReader) => ({
  sessionId: read.text('session_id'),
  workspaceDir: read.folder('cwd'),
});

const starting: PointCodec = {
  hook: 'SessionStart',
  transport: 'command',
  effect: 'observed',
  takesChanges: false,
  timeoutMs: 30_000,
  read: (input) => {
    const read = readerOf(input, 'SessionStart');
    return { ...base(read), reason: read.text('source') };
  },
  write: (verdict) =>
    verdict.status === 'refused'
      ? says({ systemMessage: reasonOf(verdict.reason) })
      : says(contextOf('SessionStart', verdict)),
};

const prompting: PointCodec = {
  hook: 'UserPromptSubmit',
  effect: 'enforced',
  takesChanges: false,
  timeoutMs: 30_000,
  read: (input) => {
    const read = readerOf(input, 'UserPromptSubmit');
    return { ...base(read), prompt: read.text('prompt') };
  },
  write: (verdict) =>
    verdict.status === 'refused'
      ? says({ decision: 'block', reason: reasonOf(verdict.reason) })
      : says(contextOf('UserPromptSubmit', verdict)),
};

const calling: PointCodec = {
  hook: 'PreToolUse',
  effect: 'enforced',
  takesChanges: true,
  timeoutMs: 600_000,
  read: (input) => toolHook(readerOf(input, 'PreToolUse')),
  write: (verdict) => {
    if (verdict.status === 'refused')
      return says({
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'deny',
          permissionDecisionReason: reasonOf(verdict.reason),
        },
      });
    // No `allow`: the user's own permission rules ask as ever.
    const { params } = verdict;
    return says(contextOf('PreToolUse', verdict, params && { updatedInput: params }));
  },
};

const returning: PointCodec = {
  hook: 'PostToolUse',
  effect: 'enforced',
  takesChanges: true,
  timeoutMs: 30_000,
  read: (input) => {
    const read = readerOf(input, 'PostToolUse');
    const text = resultText(read.value('tool_response'));
    return { ...toolHook(read), result: { text, isError: false } };
  },
  write: (verdict, input) => {
    const { tool_response: response } = input;
    if (verdict.status === 'refused') {
      const reason = reasonOf(verdict.reason);
      const updatedToolOutput = inShapeOf(response, reason);
      const hookSpecificOutput = { hookEventName: 'PostToolUse', updatedToolOutput };
      return says({ decision: 'block', reason, hookSpecificOutput });
    }
    const { result } = verdict;
    const left = result === undefined ? undefined : changedResult(response, result);
    return says(contextOf('PostToolUse', verdict, left && { updatedToolOutput: left.output }));
  },
};

const completed: PointCodec = {
  hook: 'Stop',
  effect: 'observed',
  takesChanges: false,
  timeoutMs: 30_000,
  read: (input) => {
    const read = readerOf(input, 'Stop');
    const text = read.maybe('last_assistant_message');
    return { ...base(read), ...(text !== undefined && { result: { text, isError: false } }) };
  },
  write: (verdict) =>
    says(verdict.status === 'refused' ? { systemMessage: reasonOf(verdict.reason) } : {}),
};

export const claude: AgentCodec = {
  agent: 'claude',
  title: 'Claude Code',
  release: '@anthropic-ai/claude-agent-sdk 0.3.332',
  proof: 'run',
  transport: 'http',
  points: {
    'session.starting': starting,
    'ingress.normalized': prompting,
    'agent.tool.calling': calling,
    'agent.tool.returning': returning,
    'agent.completed': completed,
  },
  // WebSearch sends words to Anthropic, Agent and Skill start what has hooks of its own: none of them has a path or a URL.
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

function contextOf(
  hookEventName: string,
  { context }: Extract<Verdict, { status: 'allowed' }>,
  more: JsonObject = {},
): JsonObject {
  const added = { ...more, ...(context !== undefined && { additionalContext: context }) };
  return Object.keys(added).length === 0 ? {} : { hookSpecificOutput: { hookEventName, ...added } };
}

/** A changed text of a result in the shape of the result: data that was told as JSON is read again. */
function changedResult(response: unknown, text: string): { readonly output: unknown } {
  if (typeof response === 'string') return { output: text };
  try {
    const output: unknown = JSON.parse(text);
    if (Array.isArray(output) === Array.isArray(response) && typeof output === typeof response)
      return { output };
  } catch {
    // it is no JSON any more
  }
  return { output: inShapeOf(response, text) };
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

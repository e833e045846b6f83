import { type AgentCodec, HookInputError, type JsonObject } from './codec.js';
import { pointsOf } from './dialect.js';
import { filesOfPatch, isObject, wrong } from './reading.js';

/*
 * Copilot CLI, read in the types, the change log and the program of @github/copilot 1.0.102, and seen there:
 * - `hooks/*.json` in ~/.copilot, .github/hooks/*.json of a trusted project, and `hooks` in settings.json; all of them run.
 * - A hook may be a POST, but one that refuses must be https: so the guard is a command there.
 * - Exit 2, and any failure, of preToolUse refuses. A hook that is late lets the call pass. A failure of postToolUse shows the result.
 * - Names in camelCase give an input in camelCase. It has no id of the call.
 * - `disableAllHooks` of any settings keeps hooks from running.
 * - A tool that fails is told to postToolUseFailure, which can only add words: its error is not judged.
 * - `timeoutSec` is in seconds.
 */

export const copilot: AgentCodec = {
  agent: 'copilot',
  title: 'Copilot CLI',
  release: '@github/copilot 1.0.102',
  proof: 'run',
  points: pointsOf({
    hooks: ['sessionStart', 'userPromptSubmitted', 'preToolUse', 'postToolUse', 'agentStop'],
    fields: {
      session: 'sessionId',
      folder: 'cwd',
      tool: 'toolName',
      params: 'toolArgs',
      source: 'source',
    },
    paramsOf: argsOf,
    resultOf: (read) => {
      const { textResultForLlm: text, resultType } = read.object('toolResult');
      if (typeof text !== 'string') throw wrong('toolResult.textResultForLlm', 'a text');
      return { text, isError: resultType !== 'success' };
    },
    prompt: (reason) => ({ decision: 'block', reason }),
    call: (permissionDecisionReason) => ({ permissionDecision: 'deny', permissionDecisionReason }),
    result: modified,
    shown: () => ({}),
    params: (modifiedArgs) => ({ modifiedArgs }),
    changed: modified,
    wrap: (_hook, fields) => fields,
  }),
  // write_bash speaks to a running program: its words are in `input`, and no command of their own. glob gives names only.
  tools: {
    bash: { is: 'shell', params: { command: 'command' } },
    powershell: { is: 'shell', params: { command: 'command' } },
    view: { is: 'read', params: { path: 'path' } },
    rg: { is: 'read', params: { path: 'path' } }, // without a path it reads the workspace
    grep: { is: 'read', params: { path: 'path' } },
    create: { is: 'write', params: { path: 'path', file_text: 'content' } },
    edit: { is: 'write', params: { path: 'path', new_str: 'content' } },
    apply_patch: {
      ...{ is: 'write', params: { input: 'content' } },
      files: ({ input }) => filesOfPatch(input),
    },
    web_fetch: { is: 'fetch', params: { url: 'url' } },
  },
};

function modified(textResultForLlm: string, { toolResult }: JsonObject): JsonObject {
  const { resultType = 'success' }: JsonObject = isObject(toolResult) ? toolResult : {};
  return { modifiedResult: { resultType, textResultForLlm } };
}

/** The arguments of a call: an object, or one as JSON. A tool of free form has a text, which is its input. */
function argsOf(given: unknown): JsonObject {
  if (isObject(given)) return given;
  if (typeof given !== 'string') throw new HookInputError('the field "toolArgs" must be an object');
  try {
    const read: unknown = JSON.parse(given);
    if (isObject(read)) return read;
  } catch {
    // free form
  }
  return { input: given };
}

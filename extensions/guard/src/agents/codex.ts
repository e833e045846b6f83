import type { AgentCodec } from './codec.js';
import { inOutput, orNone, pointsOf, resultOf, snakeFields } from './dialect.js';
import { filesOfPatch } from './reading.js';

/*
 * Codex, read in the JSON schemas of the program of @openai/codex 0.171.0, and seen there:
 * - `hooks.json` in ~/.codex and in .codex of a trusted project, and `[hooks]` in config.toml; all of them run. Commands only.
 * - A hook that nobody has trusted in `/hooks` is left out without a word (`--dangerously-bypass-hook-trust` runs it).
 * - Exit 2 with words on stderr refuses. Any other failure, a late answer and rubbish let the call pass.
 * - `updatedInput` counts with `permissionDecision: allow` only; `ask`, `continue: false` and an empty reason are failures.
 * - `decision: block` of PostToolUse puts the reason in the place of the result: so a changed result is given.
 * - Text that is written to a running program (`write_stdin`) calls no hook.
 * - `timeout` is in seconds.
 */

export const codex: AgentCodec = {
  agent: 'codex',
  title: 'Codex',
  release: '@openai/codex 0.171.0',
  proof: 'run',
  points: pointsOf({
    hooks: ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'],
    fields: { ...snakeFields, call: 'tool_use_id', last: 'last_assistant_message' },
    resultOf: (read) => resultOf(read.value('tool_response')),
    prompt: (reason) => ({ decision: 'block', reason }),
    call: (permissionDecisionReason) =>
      inOutput('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason }),
    result: (reason) => ({ decision: 'block', reason }),
    shown: (systemMessage) => ({ systemMessage }),
    params: (updatedInput) => ({ permissionDecision: 'allow', updatedInput }),
    changed: (text) => ({ decision: 'block', reason: orNone(text) }),
    wrap: inOutput,
  }),
  tools: {
    Bash: { is: 'shell', params: { command: 'command' } },
    apply_patch: {
      ...{ is: 'write', params: { command: 'content' } },
      files: ({ command }) => filesOfPatch(command),
    },
    view_image: { is: 'read', params: { path: 'path' } },
  },
};

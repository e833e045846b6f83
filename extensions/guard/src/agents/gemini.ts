import type { AgentCodec } from './codec.js';
import { inOutput, orNone, pointsOf, resultOf, snakeFields } from './dialect.js';
import { filesOfList } from './reading.js';

/*
 * Gemini CLI, read in the hook reference and the sources that @google/gemini-cli 0.61.0 and its core bring, and seen there:
 * - `hooks` in ~/.gemini/settings.json, .gemini/settings.json and those of the system and of extensions; all run. Commands only.
 * - Hooks of a project do not run in a folder that is not trusted, and nobody is told; `hooksConfig` can switch them off.
 * - Exit 2 with words on stderr refuses. Exit 1, a late answer and rubbish let the call pass.
 * - `tool_input` is put over the parameters: a parameter cannot be taken away. The model is told which were changed.
 * - `decision: deny` of AfterTool puts the reason in the place of the result: so a changed result is given.
 * - BeforeTool and AfterAgent take no words for the model besides.
 * - `timeout` is in milliseconds.
 */

export const gemini: AgentCodec = {
  agent: 'gemini',
  title: 'Gemini CLI',
  release: '@google/gemini-cli 0.61.0',
  proof: 'run',
  points: pointsOf({
    hooks: ['SessionStart', 'BeforeAgent', 'BeforeTool', 'AfterTool', 'AfterAgent'],
    fields: { ...snakeFields, last: 'prompt_response' },
    resultOf: (read) => {
      const { llmContent = null, error } = read.object('tool_response');
      return resultOf(llmContent, error !== undefined);
    },
    prompt: (reason) => ({ decision: 'deny', reason }),
    call: (reason) => ({ decision: 'deny', reason }),
    result: (reason) => ({ decision: 'deny', reason }),
    shown: (systemMessage) => ({ systemMessage }),
    params: (params) => ({ tool_input: params }),
    keepsParams: true,
    changed: (text) => ({ decision: 'deny', reason: orNone(text) }),
    wrap: inOutput,
  }),
  // google_web_search sends words to Google; glob and list_directory give names only.
  tools: {
    run_shell_command: { is: 'shell', params: { command: 'command' } },
    read_file: { is: 'read', params: { file_path: 'path' } },
    read_many_files: { is: 'read', params: {}, files: ({ include }) => filesOfList(include) },
    grep_search: { is: 'read', params: { dir_path: 'path' } }, // without a path it reads the workspace
    write_file: { is: 'write', params: { file_path: 'path', content: 'content' } },
    replace: { is: 'write', params: { file_path: 'path', new_string: 'content' } },
    web_fetch: { is: 'fetch', params: {} }, // the URL stands among the words of its prompt
  },
};

import type { AgentCodec } from './codec.js';
import { pointsOf, resultOf } from './dialect.js';
import { filesOfPatch } from './reading.js';

/*
 * OpenCode, read in @opencode-ai/plugin and the program of opencode-ai 1.18.33, and seen there:
 * - It has plugins, no hooks: each file of .opencode/plugin and ~/.config/opencode/plugin. The guard's plugin (`plugin.ts`) calls the client.
 * - `tool.execute.before` and `tool.execute.after` refuse by an error, which the model reads. Changes are made in place.
 * - `chat.message` refuses by an error; OpenCode tells the person of an unknown error only.
 * - Events (`session.created`, `session.idle`) are told, and nobody waits.
 * - There is no time limit. A plugin that cannot be loaded is left out: OpenCode goes on without it.
 * - There is no place for words besides but the output of a tool.
 */

export const opencode: AgentCodec = {
  agent: 'opencode',
  title: 'OpenCode',
  release: 'opencode-ai 1.18.33',
  proof: 'run',
  points: pointsOf({
    hooks: [
      'session.created',
      'chat.message',
      'tool.execute.before',
      'tool.execute.after',
      'session.idle',
    ],
    fields: {
      hook: 'hook',
      session: 'sessionID',
      folder: 'directory',
      tool: 'tool',
      call: 'callID',
      params: 'args',
    },
    resultOf: (read) => resultOf(read.value('output')),
    prompt: (refuse) => ({ refuse }),
    call: (refuse) => ({ refuse }),
    result: (refuse) => ({ refuse }),
    shown: () => ({}),
    params: (args) => ({ args }),
    changed: (output) => ({ output }),
    wrap: (_hook, fields) => fields,
  }),
  // websearch sends words to a service; glob and list give names only; task starts an agent whose calls are told as well.
  tools: {
    bash: { is: 'shell', params: { command: 'command' } },
    read: { is: 'read', params: { filePath: 'path' } },
    grep: { is: 'read', params: { path: 'path' } }, // without a path it reads the workspace
    write: { is: 'write', params: { filePath: 'path', content: 'content' } },
    edit: { is: 'write', params: { filePath: 'path', newString: 'content' } },
    apply_patch: {
      ...{ is: 'write', params: { patchText: 'content' } },
      files: ({ patchText }) => filesOfPatch(patchText),
    },
    webfetch: { is: 'fetch', params: { url: 'url' } },
  },
};

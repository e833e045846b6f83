import { opencode } from '../agents/opencode.js';
import type { CommandOf } from './places.js';

/** The text of the guard's plugin for OpenCode: each hook starts the client, and does what it answers. */
export function pluginText(commandOf: CommandOf): string {
  const commands = Object.values(opencode.points).map((point) => [point.hook, commandOf(point)]);
  return `// Written by \`sluice guard init\`. \`sluice guard remove\` takes it away.
import { spawn } from 'node:child_process';

const commands = ${JSON.stringify(Object.fromEntries(commands), undefined, 2)};

function ask(hook, input) {
  return new Promise((resolve, reject) => {
    const client = spawn(commands[hook], { shell: true, stdio: 'pipe' });
    let body = '';
    let words = '';
    client.stdout.on('data', (piece) => { body += piece; });
    client.stderr.on('data', (piece) => { words += piece; });
    client.stdin.on('error', () => {});
    client.on('error', reject);
    client.on('close', (code) => {
      if (code !== 0) return reject(new Error(words.trim() || 'The guard gives no verdict.'));
      const answer = JSON.parse(body || '{}');
      if (answer.refuse !== undefined) return reject(new Error(answer.refuse));
      resolve(answer);
    });
    client.stdin.end(JSON.stringify({ ...input, hook }));
  });
}

function become(object, fields) {
  for (const name of Object.keys(object)) delete object[name];
  Object.assign(object, fields);
}

export const SluiceGuard = async ({ directory }) => ({
  'chat.message': async ({ sessionID }, { parts }) => {
    const prompt = parts.map((part) => part.text ?? '').join('\\n') || '(no text)';
    await ask('chat.message', { sessionID, directory, prompt });
  },
  'tool.execute.before': async (call, output) => {
    const { args } = await ask('tool.execute.before', { ...call, directory, args: output.args });
    if (args !== undefined) become(output.args, args);
  },
  'tool.execute.after': async (call, output) => {
    const said = await ask('tool.execute.after', { ...call, directory, output: output.output ?? '' });
    if (said.output !== undefined) become(output, { title: '', metadata: {}, output: said.output });
    if (said.additionalContext !== undefined) output.output += '\\n\\n' + said.additionalContext;
  },
  event: async ({ event: { type, properties } }) => {
    if (type !== 'session.created' && type !== 'session.idle') return;
    await ask(type, { sessionID: properties.sessionID, directory }).catch(() => {});
  },
});
`;
}

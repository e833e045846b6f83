import type { ChannelStart } from './channel-start.js';
import { devDependencies, json, tsconfigOf } from './project-files.js';

/** Returns the files that a new host begins with, by their paths in its folder. They are complete: the test passes as it is. */
export function starterFiles({
  name,
  source,
  channel,
}: {
  /** The name of the folder's package. */
  readonly name: string;
  /** The place where npm finds the Sluice that it depends on: a range of versions, or an address. */
  readonly source: string;
  /** The channel that its messages come from; the console if absent. */
  readonly channel?: ChannelStart;
}): Readonly<Record<string, string>> {
  return {
    ...channel?.declaration.starter?.files,
    'package.json': packageJson(name, source, channel),
    'tsconfig.json': tsconfigOf('**/*.ts'),
    'sluice.config.ts': config(channel),
    'extensions/guard.ts': extension,
    'extensions/guard.test.ts': test,
    '.gitignore': 'node_modules/\n*.log\n',
  };
}

function packageJson(name: string, source: string, channel: ChannelStart | undefined): string {
  const ofChannel = channel === undefined ? {} : { [channel.packageName]: channel.source };
  const content = {
    name,
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: {
      start: 'sluice run',
      doctor: 'sluice doctor',
      test: 'vitest run',
      typecheck: 'tsc --noEmit',
    },
    dependencies: { sluice: source, ...ofChannel, zod: '^4.6.7' },
    devDependencies,
  };
  return json(content);
}

/** The config file. */
function config(channel: ChannelStart | undefined): string {
  return `import { defineConfig } from 'sluice/host';

export default defineConfig({
  // The agent that answers: 'echo' says back what it hears, 'claude' is the Claude Agent SDK
  // (npm install @anthropic-ai/claude-agent-sdk), 'replay:FILE' a recorded stream.
  agent: 'echo',

  // The channels that messages come from: the console, and channels that extensions or packages provide.
  channels: ['${channel?.declaration.id ?? 'console'}'],

  // The extensions that take part. Paths are read from this folder. A secret is named, not written:
  // { path: './extensions/other.ts', config: { token: { env: 'OTHER_TOKEN' } } }
  extensions: [
    { path: './extensions/guard.ts', config: { signature: 'sent by Sluice' } },${
      channel === undefined ? '' : `\n    ${entryOf(channel)},`
    }
  ],

  // The operator has the last word on each handler, by "extension/handler".
  overrides: {
    // 'guard/sign': { disabled: true },
  },

  // After SIGTERM, what has begun has so long to end.
  budgets: { drainTimeoutMs: 10_000 },

  // { format: 'json' } writes a line of JSON per entry to stderr; { file: 'sluice.log' } to a file.
  logging: { level: 'warn' },

  // The text for the sender of a message that could not be answered, by the code of the failure.
  // failureText: { busy: 'Please try again in a minute.', other: 'Sorry, that did not work.' },

  // Answers /healthz and /readyz on 127.0.0.1, for a monitor.
  // health: { port: 8080 },
});
`;
}

function entryOf({ packageName, declaration }: ChannelStart): string {
  const settings = declaration.starter?.config;
  const written = settings === undefined ? '' : `, config: ${settings}`;
  return `{ path: '${packageName}'${written} }`;
}

const extension = `import { allow, cancel, defineExtension } from 'sluice';
import { z } from 'zod';

// Texts that look like a key of somebody's.
const key = /\\b(sk-[\\w-]{16,}|xox[abp]-[\\w-]{10,}|gh[opsu]_\\w{20,})/;

export default defineExtension({
  id: 'guard',
  // The schema of its settings in sluice.config.ts. A wrong setting is an error that names it.
  config: z.object({ signature: z.string().min(1) }),
  setup(api, { signature }) {
    // A mutator returns a patch: the fields to change, and no others. This one signs the answers, and no question or error.
    // With preview: 'ok' an answer is shown while it grows, and signed at its end. Without it, nothing of any answer is shown
    // before the answer is whole.
    const answers = { match: { kind: ['reply', 'stream-final'] }, preview: 'ok' } as const;
    api.mutate('egress.preparing', 'sign', answers, ({ payload }) => ({
      content: \`\${payload.content}\\n-- \${signature}\`,
    }));

    // A veto cancels, or allows. This one keeps a message with a key from the agent, and tells its sender.
    // With failClosed, a message that it could not judge is not answered.
    api.veto('routing.resolving', 'no-keys', { failClosed: true }, ({ payload }) =>
      key.test(payload.message.content)
        ? cancel('policy', { text: 'it holds a key', reply: 'I take no keys. Please revoke that one.' })
        : allow(),
    );
  },
});
`;

const test = `import { expectDenied, expectReply, startTestHost } from 'sluice/testing';
import { test } from 'vitest';
import guard from './guard.ts';

const extensions = [{ extension: guard, config: { signature: 'me' } }];

test('signs an answer', async () => {
  await using host = await startTestHost({ extensions });
  expectReply(await host.say('hello'), 'hello\\n-- me');
});

test('keeps a key from the agent, and tells the sender', async () => {
  await using host = await startTestHost({ extensions });
  const answer = await host.say('use sk-0123456789abcdef0123');
  expectDenied(answer, { code: 'policy', by: 'guard/no-keys' });
  expectReply(answer, 'I take no keys. Please revoke that one.');
});
`;

import { devDependencies, json, tsconfigOf } from '@sluice/cli/internal';
import { fromJsonSchema } from '@sluice/sdk/extension';
import type { LegacyHookName, LegacyPlugin } from '../../index.js';
import { pluginCapabilities } from '../../plugin/api/capabilities.js';
import type { LegacyManifest } from '../../plugin/shape/manifest.js';
import { extensionSource, type PlaceOf } from './extension-source.js';

/** The plugin that moves, and the surroundings of its skeleton. */
interface Moving {
  readonly plugin: LegacyPlugin;
  readonly manifest: LegacyManifest;
  /** The plugin's folder, as the skeleton's tests find it. */
  readonly path: string;
  readonly placeOf: PlaceOf;
}

/** The files that are made of the plugin itself. */
export type MadeFiles = Readonly<
  Record<'src/index.ts' | 'test/parity.test.ts' | 'README.md', string>
>;

/** The files of the extension that takes a plugin's place, by their paths. They compile, and their tests run. */
export function skeletonFiles(
  manifest: LegacyManifest,
  source: string,
  made: MadeFiles,
): Readonly<Record<string, string>> {
  const name = manifest.id.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return {
    'package.json': json({
      name: `${name.replace(/^-+|-+$/g, '')}-extension`,
      version: '0.1.0',
      private: true,
      type: 'module',
      scripts: { test: 'vitest run', typecheck: 'tsc --noEmit' },
      dependencies: { sluice: source },
      devDependencies,
    }),
    'tsconfig.json': tsconfigOf('src', 'test'),
    'src/config-schema.ts': `/** The configSchema of the plugin's manifest. */\nexport const configSchema = ${json(manifest.configSchema).trimEnd()};\n`,
    // by their names: the process of the plugin may have written any others
    'src/index.ts': made['src/index.ts'],
    'test/parity.test.ts': made['test/parity.test.ts'],
    'README.md': made['README.md'],
  };
}

/** Makes the files for which the plugin has to be loaded. */
export function madeFiles(moving: Moving): MadeFiles {
  return {
    'src/index.ts': extensionSource(moving.plugin, moving.placeOf),
    'test/parity.test.ts': parityTest(moving),
    'README.md': readme(moving),
  };
}

/** The kinds of things that the skeleton has. */
const written: readonly string[] = ['hook', 'internal hook', 'command', 'service'];

/** The hooks of a plugin, each once. */
function hooksOf({ hooks }: LegacyPlugin): readonly string[] {
  return [...new Set(hooks.map(({ hookName }) => hookName))];
}

function parityTest({ plugin, path, manifest }: Moving): string {
  const samples: Readonly<Record<string, readonly [object, object] | undefined>> = sampleCalls;
  const hooks = hooksOf(plugin).filter((hook) => samples[hook] !== undefined);
  const others = hooksOf(plugin).filter((hook) => samples[hook] === undefined);
  const calls = hooks.map((hook) => {
    const [event, ctx] = samples[hook] ?? [{}, {}];
    return `  { hook: '${hook}', event: ${JSON.stringify(event)}, ctx: ${JSON.stringify(ctx)} },`;
  });
  const checked = fromJsonSchema(manifest.configSchema)['~standard'].validate({});
  const mayBeEmpty = !('issues' in checked) || checked.issues === undefined;
  return `import { join } from 'node:path';
import { loadExtension } from 'sluice/extension';
import { type AnyParityStep, compareParity, loadForTest } from 'sluice/testing';
import { expect, test } from 'vitest';
import extension from '../src/index.ts';

const plugin = join(import.meta.dirname, ${JSON.stringify(path)});
// The release of OpenClaw that the plugin is for.
const profile = '${plugin.profile}';
// The settings of the plugin.${mayBeEmpty ? '' : ' Its schema requires some: the test of loading is skipped until they are here.'}
const config: Readonly<Record<string, unknown>> = {};

// Take a hook out of this list when its body is written: its test then compares the plugin with the extension.
const toWrite: readonly string[] = ${JSON.stringify(hooks)};

// Add the calls that matter to the plugin.
const calls: readonly AnyParityStep<typeof profile>[] = [
${calls.join('\n')}
];

test${mayBeEmpty ? '' : '.skipIf(Object.keys(config).length === 0)'}('the extension loads', async () => {
  await using loaded = await loadForTest(extension, { config });
  expect(loaded.labels()).toBeDefined();
});

for (const call of calls) {
  const { hook } = call;
  if (toWrite.includes(hook)) {
    test.todo(\`\${hook}: write its body in src/index.ts, then take it out of toWrite\`);
    continue;
  }
  test(\`\${hook} does as in the plugin\`, async () => {
    const report = await compareParity({
      ...(call as AnyParityStep<typeof profile> & { hook: 'message_sending' }), // any hook: the types of its call are checked above
      profile,
      plugin,
      pluginConfig: config,
      pipeline: (kernel) => loadExtension(kernel, extension, { config }),
    });
    expect(report.differences).toEqual([]);
  });
}
${others.map((hook) => `\ntest.todo('${hook}: compareParity has no call of it; write its test');\n`).join('')}`;
}

function readme({ plugin, path }: Moving): string {
  const rest = pluginCapabilities(plugin).filter(
    ({ kind, verdict }) => verdict === 'refused' || !written.includes(kind),
  );
  const hooks = plugin.hooks.map(
    ({ hookName, parts }) =>
      `| ${hookName} | ${parts.map(({ family, class: name }) => `${name} of ${family}`).join('; ')} |`,
  );
  return [
    `# ${plugin.name}, as an extension`,
    '',
    `Made of the OpenClaw plugin in \`${path.replace(/^\.\.\//, '')}\`. The bodies of its handlers are still to be moved.`,
    '',
    '1. `npm install && npm run typecheck && npm test`. A hook that is still to be moved is a todo.',
    '2. Move the body of one handler to `src/index.ts`. A comment there names its file and line.',
    '3. Take the hook out of `toWrite` in `test/parity.test.ts`. Its test compares both.',
    '4. When all are moved, name the extension in the config in place of the plugin. Do not run both:',
    '   each would act.',
    ...(hooks.length === 0 ? [] : ['', '| hook | becomes |', '|---|---|', ...hooks]),
    ...(rest.length === 0
      ? []
      : [
          '',
          '## Not in the skeleton',
          '',
          ...rest.map(
            ({ kind, name, because }) =>
              `- ${kind} ${name}: ${because.join(' ') || 'give it with api.provide.'}`,
          ),
        ]),
    '',
  ].join('\n');
}

const messages = [{ role: 'user', content: 'hello' }];
const run = { agentId: 'main', sessionKey: 'agent:main:main', sessionId: 'session-1' };
const model = { runId: 'run-1', sessionId: 'session-1', provider: 'acme', model: 'acme-1' };
const message = { channelId: 'slack', accountId: 'default', conversationId: 'C1' };
const child = { childSessionKey: 'agent:main:subagent:1', agentId: 'main', mode: 'run' };
const tool = { toolName: 'read', params: { path: 'notes.txt' } };
const line = { role: 'toolResult', content: 'three lines' };

/** A well-formed call of each hook that `compareParity` runs, for the tests of a plugin that moves. */
const sampleCalls: Readonly<
  Record<
    LegacyHookName | 'before_agent_reply' | 'before_agent_run',
    readonly [event: object, ctx: object]
  >
> = {
  before_agent_reply: [{ cleanedBody: 'hello' }, { ...run, trigger: 'user' }],
  before_agent_run: [{ prompt: 'hello', messages }, run],
  before_model_resolve: [{ prompt: 'hello' }, run],
  before_prompt_build: [{ prompt: 'hello', messages }, run],
  before_agent_start: [{ prompt: 'hello', messages }, run],
  llm_input: [{ ...model, prompt: 'hello', historyMessages: [], imagesCount: 0 }, run],
  llm_output: [{ ...model, assistantTexts: ['hi'] }, run],
  agent_end: [{ messages, success: true, durationMs: 12 }, run],
  before_compaction: [{ messageCount: 1 }, run],
  after_compaction: [{ messageCount: 1, compactedCount: 1 }, run],
  before_reset: [{ messages, reason: 'new' }, run],
  message_received: [{ from: 'U1', content: 'hello', timestamp: 1_700_000_000_000 }, message],
  message_sending: [{ to: 'C1', content: 'hello' }, message],
  message_sent: [{ to: 'C1', content: 'hello', success: true }, message],
  before_tool_call: [tool, { ...run, toolName: 'read' }],
  after_tool_call: [
    { ...tool, result: 'three lines', durationMs: 3 },
    { ...run, toolName: 'read' },
  ],
  tool_result_persist: [
    { message: line, toolName: 'read' },
    { agentId: run.agentId, sessionKey: run.sessionKey, toolName: 'read' },
  ],
  before_message_write: [{ message: line }, { agentId: 'main' }],
  session_start: [{ sessionId: 'session-1' }, { sessionId: 'session-1', agentId: 'main' }],
  session_end: [
    { sessionId: 'session-1', messageCount: 2 },
    { sessionId: 'session-1', agentId: 'main' },
  ],
  subagent_spawning: [{ ...child, threadRequested: false }, {}],
  subagent_spawned: [{ ...child, runId: 'run-2', threadRequested: false }, {}],
  subagent_delivery_target: [
    {
      childSessionKey: child.childSessionKey,
      requesterSessionKey: run.sessionKey,
      expectsCompletionMessage: true,
    },
    {},
  ],
  subagent_ended: [
    { targetSessionKey: child.childSessionKey, targetKind: 'subagent', reason: 'done' },
    {},
  ],
  gateway_start: [{ port: 18_789 }, { port: 18_789 }],
  gateway_stop: [{ reason: 'restart' }, { port: 18_789 }],
};

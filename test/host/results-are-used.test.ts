import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import {
  cancel,
  canonicalStages,
  type FamilyName,
  type HandlerClass,
  type Kernel,
  select,
} from '../../src/kernel/internal.js';
import type { DecodedIngress } from '../../src/sdk/channel/index.js';
import { defineExtension } from '../../src/sdk/extension/index.js';
import type { AgentProvider } from '../../src/sdk/stream/index.js';
import { scriptedAgent } from '../../src/testing/index.js';
import { type HostLabOptions, hostLab } from '../support/host-lab.js';
import { type Said, scriptedChannel } from '../support/scripted-channel.js';

interface Row {
  readonly family: FamilyName;
  readonly class: HandlerClass;
  readonly contribute: (kernel: Kernel) => unknown;
  /** What is said; one message `hello` where unsaid. */
  readonly say?: readonly (string | Said)[];
  readonly lab?: HostLabOptions;
  /** What comes out then. */
  readonly texts: readonly string[];
}

const at = { extensionId: 'test', id: 'probe' } as const;
const later = { extensionId: 'test', id: 'later', priority: -1 } as const;
const everything = { agents: [{ id: 'main', provider: echoProvider(), model: 'echo-full' }] };
const two = {
  agents: [
    { id: 'main', provider: echoProvider() },
    { id: 'other', provider: echoProvider(), systemPrompt: 'Other.', model: 'echo-full' },
  ],
};

/** Provides a tool of the host whose answer holds what nobody should read. */
const keyTool = defineExtension({
  id: 'acme',
  setup: (api) =>
    api.provide('tool', {
      name: 'key',
      description: 'Tells a key.',
      inputSchema: { type: 'object', properties: {} },
      execute: () => 'sk-live-4711',
    }),
});

/** Calls the first tool of the host, and says what that answered. */
const sayingTool: AgentProvider = {
  id: 'saying-tool',
  models: ['m'],
  toolGate: 'enforce',
  ownTools: [],
  async *run({ tools: [tool] = [] }) {
    yield { type: 'agent_start' };
    const answer = await tool?.call({ toolCallId: 't', args: {} });
    const message = {
      role: 'assistant',
      content: (answer?.content ?? []).filter((block) => block.type === 'text'),
    } as const;
    yield { type: 'message_start', message };
    yield { type: 'message_end', message };
    yield { type: 'agent_end', messages: [message] };
  },
};

/** Shows the labels that have come down to egress in what is sent. */
function showLabels(kernel: Kernel): void {
  kernel.contribute({
    ...later,
    family: 'egress.preparing',
    class: 'mutator',
    handler: ({ payload, annotations }) => ({
      content: `${payload.content} [${(annotations.labels ?? []).join()}]`,
    }),
  });
}

const contextRow = (
  family:
    | 'ingress.normalized'
    | 'routing.resolving'
    | 'routing.resolved'
    | 'session.starting'
    | 'agent.starting'
    | 'agent.prompt.building',
): Row => ({
  family,
  class: 'augmenter',
  contribute: (kernel) =>
    kernel.contribute({
      ...at,
      family,
      class: 'augmenter',
      handler: () => ({ context: ['Note.'] }),
    }),
  texts: ['Note.\n\nhello'],
});

const labelRow = (
  family:
    | 'agent.llm.input'
    | 'agent.tool.calling'
    | 'agent.tool.returning'
    | 'agent.tool.called'
    | 'agent.completed'
    | 'agent.llm.output'
    | 'egress.preparing',
): Row => ({
  family,
  class: 'augmenter',
  contribute: (kernel) => {
    kernel.contribute({ ...at, family, class: 'augmenter', handler: () => ({ labels: [family] }) });
    showLabels(kernel);
  },
  texts: [`hello [${family}]`],
});

const replyRow = (
  family: 'command.received' | 'command.completed' | 'session.resetting',
  say: readonly string[],
  texts: readonly string[],
): Row => ({
  family,
  class: 'augmenter',
  say,
  contribute: (kernel) =>
    kernel.contribute({
      ...at,
      family,
      class: 'augmenter',
      handler: () => ({ replies: ['Noted.'] }),
    }),
  texts,
});

/** Cancels every send. */
function vetoSends(kernel: Kernel): void {
  kernel.contribute({
    ...later,
    family: 'egress.preparing',
    class: 'veto',
    handler: () => cancel('policy'),
  });
}

const rows: readonly Row[] = [
  contextRow('ingress.normalized'),
  contextRow('routing.resolving'),
  contextRow('routing.resolved'),
  contextRow('session.starting'),
  contextRow('agent.starting'),
  contextRow('agent.prompt.building'),
  labelRow('agent.llm.input'),
  labelRow('agent.tool.calling'),
  labelRow('agent.tool.returning'),
  labelRow('agent.tool.called'),
  labelRow('agent.completed'),
  labelRow('agent.llm.output'),
  labelRow('egress.preparing'),
  replyRow(
    'command.received',
    ['/unknown'],
    ['There is no command "/unknown". Try /help.\n\nNoted.'],
  ),
  replyRow('command.completed', ['/stop'], ['There is nothing to stop.\n\nNoted.']),
  replyRow(
    'session.resetting',
    ['hello', '/new'],
    ['hello', 'A new session begins with your next message.\n\nNoted.'],
  ),
  {
    family: 'ingress.normalized',
    class: 'mutator',
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'ingress.normalized',
        class: 'mutator',
        handler: ({ payload }) => ({ content: payload.content.toUpperCase() }),
      }),
    texts: ['HELLO'],
  },
  {
    family: 'routing.resolving',
    class: 'resolver',
    lab: two,
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'routing.resolving',
        class: 'resolver',
        handler: () => select({ agentId: 'other' }),
      }),
    texts: ['system: Other.\nprompt: hello'],
  },
  {
    family: 'routing.resolving',
    class: 'veto',
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'routing.resolving',
        class: 'veto',
        handler: () => cancel('policy'),
      }),
    texts: [],
  },
  {
    family: 'session.starting',
    class: 'mutator',
    contribute: (kernel) => {
      kernel.contribute({
        ...at,
        family: 'session.starting',
        class: 'mutator',
        handler: () => ({ context: { locale: 'es-PE' }, memoryKeys: ['user:ada'] }),
      });
      kernel.contribute({
        ...later,
        family: 'egress.preparing',
        class: 'mutator',
        handler: ({ event, payload }) => ({
          content: `${payload.content} ${JSON.stringify(event.metadata.session)}`,
        }),
      });
    },
    texts: ['hello {"context":{"locale":"es-PE"},"memoryKeys":["user:ada"],"metadata":{}}'],
  },
  {
    family: 'agent.model.resolving',
    class: 'mutator',
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'agent.model.resolving',
        class: 'mutator',
        handler: () => ({ model: 'echo-full' }),
      }),
    texts: ['prompt: hello'],
  },
  {
    family: 'agent.prompt.building',
    class: 'mutator',
    lab: everything,
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'agent.prompt.building',
        class: 'mutator',
        handler: () => ({
          guidance: ['Be brief.'],
          additions: ['Before.', { text: 'After.', position: 'after' as const }],
        }),
      }),
    texts: ['system: Be brief.\nprompt: Before.\n\nhello\n\nAfter.'],
  },
  {
    family: 'agent.answer.resolving',
    class: 'resolver',
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'agent.answer.resolving',
        class: 'resolver',
        handler: ({ payload }) => select({ text: `no model for "${payload.prompt}"` }),
      }),
    texts: ['no model for "hello"'],
  },
  {
    family: 'agent.llm.calling',
    class: 'veto',
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'agent.llm.calling',
        class: 'veto',
        handler: () => cancel('unsafe', { reply: 'I may not read this.' }),
      }),
    texts: ['I may not read this.'],
  },
  {
    family: 'agent.tool.calling',
    class: 'mutator',
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'agent.tool.calling',
        class: 'mutator',
        handler: () => ({ params: { text: 'patched' } }),
      }),
    texts: ['patched'],
  },
  {
    family: 'agent.tool.calling',
    class: 'veto',
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'agent.tool.calling',
        class: 'veto',
        handler: () => cancel('policy', { text: 'no tools today' }),
      }),
    texts: ['I may not use echo: no tools today'],
  },
  {
    family: 'transcript.tool-result.persisting',
    class: 'mutator',
    say: ['one', 'two'],
    lab: everything,
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'transcript.tool-result.persisting',
        class: 'mutator',
        handler: ({ payload }) => ({
          message: { ...payload.message, content: [{ type: 'text', text: 'cut' }] },
        }),
      }),
    texts: [
      'prompt: one',
      'user: one\nassistant: \ntoolResult: cut\nassistant: prompt: one\nprompt: two',
    ],
  },
  {
    family: 'transcript.message.writing',
    class: 'mutator',
    say: ['one', 'two'],
    lab: everything,
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'transcript.message.writing',
        class: 'mutator',
        handler: ({ payload: { message } }) =>
          message.role === 'user' ? { message: { ...message, content: 'redacted' } } : null,
      }),
    texts: [
      'prompt: one',
      'user: redacted\nassistant: \ntoolResult: prompt: one\nassistant: prompt: one\nprompt: two',
    ],
  },
  {
    family: 'agent.llm.returning',
    class: 'mutator',
    lab: { agents: [{ id: 'main', provider: scriptedAgent([['The key is sk-live-4711.']]) }] },
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'agent.llm.returning',
        class: 'mutator',
        handler: () => ({ text: 'The key is [key].' }),
      }),
    texts: ['The key is [key].'],
  },
  {
    family: 'agent.llm.returning',
    class: 'veto',
    lab: { agents: [{ id: 'main', provider: scriptedAgent([['The key is sk-live-4711.']]) }] },
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'agent.llm.returning',
        class: 'veto',
        handler: () => cancel('unsafe', { reply: 'It held a key.' }),
      }),
    texts: ['It held a key.'],
  },
  {
    family: 'agent.tool.returning',
    class: 'mutator',
    lab: { agents: [{ id: 'main', provider: sayingTool }], extensions: [{ extension: keyTool }] },
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'agent.tool.returning',
        class: 'mutator',
        handler: () => ({ result: { content: [{ type: 'text', text: '[key]' }], isError: false } }),
      }),
    texts: ['[key]'],
  },
  {
    family: 'agent.tool.returning',
    class: 'veto',
    lab: { agents: [{ id: 'main', provider: sayingTool }], extensions: [{ extension: keyTool }] },
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'agent.tool.returning',
        class: 'veto',
        handler: () => cancel('unsafe', { text: 'it held a key' }),
      }),
    texts: ['it held a key'],
  },
  {
    family: 'transcript.message.writing',
    class: 'veto',
    say: ['one', 'two'],
    lab: everything,
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'transcript.message.writing',
        class: 'veto',
        handler: ({ payload: { message } }) =>
          message.role === 'user' ? null : cancel('suppressed'),
      }),
    texts: ['prompt: one', 'user: one\nassistant: (No answer is known.)\nprompt: two'],
  },
  {
    family: 'egress.preparing',
    class: 'mutator',
    contribute: (kernel) =>
      kernel.contribute({
        ...at,
        family: 'egress.preparing',
        class: 'mutator',
        handler: ({ payload }) => ({ content: `${payload.content}!` }),
      }),
    texts: ['hello!'],
  },
  { family: 'egress.preparing', class: 'veto', contribute: vetoSends, texts: [] },
  {
    family: 'egress.preparing',
    class: 'resolver',
    lab: { channel: scriptedChannel({ accounts: ['default', 'spare'] }) },
    contribute: (kernel) => {
      kernel.contribute({
        ...at,
        family: 'egress.preparing',
        class: 'resolver',
        handler: () => select({ channel: 'scripted', accountId: 'spare' }),
      });
    },
    texts: ['hello'], // by the other account: see below
  },
];

/** The delivery's annotations have nothing after them to change: they are in the report of the send. */
const terminal = ['egress.sent', 'egress.cancelled', 'egress.failed'] as const;

describe('what handlers return is used', () => {
  it.each(rows)('$family, $class: changes what comes out of the channel', async (row) => {
    await using lab = await hostLab({ ...row.lab, contribute: row.contribute });
    for (const said of row.say ?? ['hello']) await lab.say(said);
    expect(lab.texts()).toEqual(row.texts);
    expect(lab.outcomes.flatMap(({ failures }) => failures)).toEqual([]);
  });

  it.each(terminal)(
    '%s, augmenter: its index keys are in the report of the send',
    async (family) => {
      await using lab = await hostLab({
        channel: scriptedChannel({
          ...(family === 'egress.failed' && {
            send: async (permit) => {
              permit.take();
              return { status: 'rejected', reason: 'blocked' };
            },
          }),
        }),
        contribute: (kernel) => {
          const handler = () => ({ indexKeys: ['k-1'] });
          kernel.contribute({ ...at, family, class: 'augmenter', handler });
          if (family === 'egress.cancelled') vetoSends(kernel);
        },
      });
      const end = await lab.say('hello');
      expect(end.sends[0]?.indexKeys).toEqual(['k-1']);
    },
  );

  it('covers every class that can change something, of every family that the host emits', () => {
    const elsewhere = /^(compaction|interaction|subagent)\./; // emitted by later parts
    const due = canonicalStages
      .filter(({ family }) => !elsewhere.test(family))
      .flatMap(({ family, classes }) => classes.map((name) => `${family} ${name}`))
      .filter((name) => !name.endsWith(' observer'));
    const shown = [
      ...rows.map((row) => `${row.family} ${row.class}`),
      ...terminal.map((family) => `${family} augmenter`),
    ];
    expect(shown.toSorted()).toEqual(due.toSorted());
  });

  it('sends by the account that a resolver of egress.preparing selects', async () => {
    await using lab = await hostLab({
      channel: scriptedChannel({ accounts: ['default', 'spare'] }),
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          family: 'egress.preparing',
          class: 'resolver',
          handler: () => select({ channel: 'scripted', accountId: 'spare', to: 'scripted:bob' }),
        }),
    });
    await lab.say('hello');
    expect(lab.channel.sent).toMatchObject([{ accountId: 'spare', to: 'scripted:bob' }]);
    expect(lab.of('egress.sent')[0]?.payload).toMatchObject({ accountId: 'spare' });
  });

  it('never re-routes a message whose source named its route', async () => {
    const decode = (raw: unknown): DecodedIngress => {
      const { text } = raw as Said; // this test says nothing else
      const place = { channel: 'scripted', accountId: 'default', from: 'scripted:ada' };
      return {
        kind: 'message',
        message: { ...place, content: text, attachments: [], metadata: {} },
        route: { agentId: 'main', sessionKey: 'named' },
      };
    };
    await using lab = await hostLab({
      ...two,
      channel: scriptedChannel({ decode }),
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          family: 'routing.resolving',
          class: 'resolver',
          handler: () => select({ agentId: 'other' }, { explicit: true }),
        }),
    });
    const end = await lab.say('hello');
    expect(end).toMatchObject({ agentId: 'main', sessionKey: 'named' });
    expect(lab.of('routing.resolving')[0]?.skipped).toMatchObject([
      { extensionId: 'host', why: 'explicit-target' },
      { extensionId: 'test', why: 'explicit-target' },
    ]);
  });

  it('never re-routes a send whose sender named its account', async () => {
    await using lab = await hostLab({
      channel: scriptedChannel({ accounts: ['default', 'spare'] }),
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          family: 'egress.preparing',
          class: 'resolver',
          handler: () => select({ channel: 'scripted', accountId: 'default' }, { explicit: true }),
        }),
    });
    const named = { channel: 'scripted', accountId: 'spare', to: 'scripted:bob', content: 'ping' };
    expect(await lab.host.send(named)).toMatchObject({ status: 'sent', accountId: 'spare' });
    expect(lab.channel.sent).toMatchObject([{ accountId: 'spare', content: 'ping' }]);
  });
});

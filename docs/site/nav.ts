/** Pages that one kind of reader needs. Each link is the place of a page, from the root of the site. */
export interface PageGroup {
  readonly text: string;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

type Entry = readonly [text: string, page: string];

const group = (text: string, entries: readonly Entry[]): PageGroup => ({
  text,
  items: entries.map(([entry, page]) => ({ text: entry, link: `/${page}` })),
});

/** The entry points of the package, each with the sentence that begins its page. */
export const entryPoints = {
  sluice: 'The names that authors of extensions import, and the kernel.',
  'sluice/testing': 'The test kit: a kernel for tests, assertions, sample payloads, scenarios.',
  'sluice/legacy': 'OpenClaw plugins, internal hooks and agent events on the pipeline.',
  'sluice/csdk': 'Streams of the Claude Agent SDK as session events and coder events.',
  'sluice/channel': 'The contract of a channel, with its permits.',
  'sluice/chat': 'The parts that channels of chat providers share.',
  'sluice/stream': 'The shapes that agents and channels exchange.',
  'sluice/extension': 'The loader of extensions, with scopes, manifests and grants.',
  'sluice/gateway': 'The client of an OpenClaw gateway, and an agent behind one.',
  'sluice/agent': 'One turn of an agent, with its reply callbacks.',
  'sluice/host': 'A host in your own program, with its journal.',
} as const;

/** The name of the API page of an entry point, such as `sluice` or `testing`. */
export const apiPageOf = (entryPoint: string): string => entryPoint.replace(/^sluice\//, '');

/** The sidebar of every page: the pages in the order in which its readers need them. */
export const sidebar: readonly PageGroup[] = [
  group('Begin', [
    ['Sluice', 'index.md'],
    ['Getting started', 'docs/getting-started.md'],
    ['The kernel', 'docs/kernel.md'],
    ['Judge another agent', 'docs/adapters.md'],
    ['Guard your coding agents', 'docs/guard.md'],
    ['Guard a server of MCP', 'docs/guard-mcp.md'],
    ['Glossary', 'docs/glossary.md'],
  ]),
  group('Write extensions', [
    ['Extensions', 'docs/extensions.md'],
    ['npm create sluice', 'extensions/create-sluice/README.md'],
    ['Cookbook', 'docs/cookbook.md'],
    ['Judgement', 'docs/judgement.md'],
    ['Testing', 'docs/testing.md'],
    ['Channels', 'docs/channels.md'],
    ['Agents', 'docs/agents.md'],
    ['Migrating from OpenClaw', 'docs/migrating-from-openclaw.md'],
    ['From Omni', 'docs/omni.md'],
    ['Plugins that were tried', 'docs/plugins-tried.md'],
    ['Stages', 'spec/stages.md'],
    ['Points', 'spec/points.md'],
    ['Errors', 'spec/errors.md'],
  ]),
  group('Operate a host', [
    ['Deploy one host', 'docs/deploying.md'],
    ['Operating', 'docs/operating.md'],
    ['Privacy', 'docs/privacy.md'],
    ['Record', 'docs/record.md'],
    ['Observability', 'docs/observability.md'],
    ['Agents that the guard knows', 'docs/guard-agents.md'],
    ['Inspector', 'docs/inspector.md'],
    ['sluice-inspector', 'extensions/inspector/README.md'],
    ['The command line', 'docs/command-line.md'],
    ['Settings of a host', 'spec/config.md'],
    ['Sentences of a host', 'spec/texts.md'],
    ['Performance', 'docs/performance.md'],
    ['Limits', 'docs/limits.md'],
    ['Changes', 'CHANGELOG.md'],
  ]),
  group('Extensions to use', [
    ['Telegram', 'extensions/telegram/README.md'],
    ['HTTP', 'extensions/http/README.md'],
    ['Any model', 'extensions/openai/README.md'],
    ['Agent Client Protocol', 'extensions/acp/README.md'],
    ['Slack', 'extensions/slack/README.md'],
    ['Thread ownership', 'extensions/thread-ownership/README.md'],
    ['Policies', 'extensions/policies/README.md'],
    ['Import from OpenClaw', 'extensions/import-openclaw/README.md'],
    ['Rate limit', 'extensions/rate-limit/README.md'],
    ['Budget', 'extensions/budget/README.md'],
    ['OpenTelemetry', 'extensions/otel/README.md'],
    ['PostgreSQL', 'extensions/postgres/README.md'],
    ['Quiet hours', 'extensions/quiet-hours/README.md'],
    ['sluice-judge', 'extensions/judge/README.md'],
    ['Guard', 'extensions/guard/README.md'],
    ['AI SDK', 'extensions/ai-sdk/README.md'],
    ['OpenAI Agents SDK', 'extensions/openai-agents/README.md'],
    ['LangChain', 'extensions/langchain/README.md'],
  ]),
  group(
    'API',
    Object.keys(entryPoints).map((name) => [name, `api/${apiPageOf(name)}.md`]),
  ),
  group('The rules', [
    ['The event pipeline', 'spec/event-pipeline.md'],
    ['Durability', 'spec/durability.md'],
    ['Record', 'spec/record.md'],
    ['Extensions that act', 'spec/extensions-that-act.md'],
    ['Rules of judgement', 'spec/judgement.md'],
    ['What is held back', 'spec/held-back.md'],
    ['The contract agent-hooks', 'spec/agent-hooks.md'],
    ['Sight', 'spec/sight.md'],
    ['HTTP as a channel', 'spec/http.md'],
    ['Stream plumbing', 'spec/stream-plumbing.md'],
    ['SDK streams', 'spec/csdk-normalization.md'],
    ['Reply callbacks', 'spec/callback-order.md'],
    ['Legacy mapping', 'spec/legacy-mapping.md'],
    ['The calls of channels', 'spec/legacy-channel.md'],
    ['Retirement of bridges', 'spec/retirement.md'],
    ['Decisions of the catalog', 'spec/catalog-decisions.md'],
    ['Names', 'spec/names.md'],
    ['Public surface', 'spec/surface.md'],
    ['API of the kernel', 'spec/kernel-api.md'],
    ['Pilot: Telegram', 'spec/pilots/telegram.md'],
    ['Pilot: Slack', 'spec/pilots/slack.md'],
    ['Pilot: thread ownership', 'spec/pilots/thread-ownership.md'],
  ]),
  group('Work on Sluice', [
    ['A tour of the source', 'docs/tour.md'],
    ['Decisions', 'docs/decisions.md'],
    ['Contributing', 'CONTRIBUTING.md'],
  ]),
];

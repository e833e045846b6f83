import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentProvider } from 'sluice/stream';
import { describe, it } from 'vitest';
import {
  type Answer,
  calls,
  modelServer,
  says,
} from '../../extensions/openai/test/model-server.js';
import { cancel } from '../../src/kernel/internal.js';
import { defineExtension, type Extension } from '../../src/sdk/extension/index.js';
import { startTestHost } from '../../src/testing/index.js';
import { agentNames, agentOf, deployTool } from '../pilots/answers/fixtures/agents.js';
import { expectFresh, heading, table } from '../support/generated.js';
import { providerLab } from '../support/provider-lab.js';
import { root } from '../support/source-tree.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** The points of a turn, each with the family at which a handler would deny, or hear of it. */
const points = [
  ['start', 'agent.starting'],
  ['input', 'routing.resolving'],
  ['before the model', 'agent.llm.calling'],
  ['after the model', 'agent.llm.returning'],
  ['before a tool', 'agent.tool.calling'],
  ['after a tool', 'agent.tool.returning'],
  ['output', 'egress.preparing'],
  ['end', 'agent.completed'],
] as const;
type Point = (typeof points)[number][0];

const agents = [...agentNames, 'gateway'] as const;
type Name = (typeof agents)[number];
const titles: Readonly<Record<Name, string>> = {
  ...{ openai: '`sluice-openai`', claude: '`claude`', acp: '`sluice-acp`' },
  ...{ gateway: 'an OpenClaw gateway', provided: 'an agent of an extension' },
};

/** A model that calls the tool once, and then repeats its result. */
const model: Answer = (response, { body }) => {
  const results = body.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
  const [result] = results;
  return (result === undefined ? calls(['deploy', { what: 'v2' }]) : says(String(result)))(
    response,
    {
      body,
      headers: {},
    },
  );
};

/** The agent of a gateway, which runs the tool itself. @returns what the gateway was asked, and what its tool has run. */
async function gatewayAgent() {
  const lab = await providerLab();
  const { server } = lab;
  const begin = lab.acknowledged().then(() => {
    const call = { name: 'deploy', toolCallId: 't-1' };
    const done = 'I have deployed v2.';
    server.agent('r-1', 'lifecycle', { phase: 'start' });
    server.agent('r-1', 'tool', { ...call, phase: 'start', args: { what: 'v2' } });
    server.agent('r-1', 'tool', { ...call, phase: 'result', result: done, isError: false });
    server.agent('r-1', 'assistant', { text: done, delta: done });
    server.agent('r-1', 'lifecycle', { phase: 'end' });
  });
  begin.catch(() => undefined); // the gateway was not asked
  const isAsked = () => server.sent('chat.send').length > 0;
  return { lab, provider: lab.agent as AgentProvider, isAsked, ran: isAsked };
}

/** Runs a turn with a handler at one point, and finds out what came of it. */
async function found(name: Name, point: Point): Promise<string> {
  using folder = temporaryFolder();
  await using server = await modelServer(model);
  const gateway = name === 'gateway' ? await gatewayAgent() : undefined;
  await using _ = gateway?.lab;
  const [, family] = points.find(([one]) => one === point) ?? points[0];
  let heard = 0;
  const guard = defineExtension({
    id: 'guard',
    setup(api) {
      if (family === 'agent.completed') api.observe(family, 'watch', () => void heard++);
      else
        api.veto(family as 'agent.tool.calling', 'deny', () => {
          heard++;
          return cancel('policy');
        });
    },
  });
  const programs = join(root, 'test/pilots/answers/fixtures');
  const place = { folder: folder.path, url: server.url, programs };
  const { id, extension, config } =
    gateway === undefined
      ? agentOf(name as (typeof agentNames)[number], place)
      : { id: 'main', extension: undefined, config: {} };
  const started = startTestHost({
    defaultAgent: id,
    ...(gateway !== undefined && { agents: [{ id, provider: gateway.provider }] }),
    extensions: [
      ...(extension === undefined ? [] : [{ extension, config }]),
      ...(name === 'openai' ? [{ extension: deployTool(place) }] : []),
      { extension: guard as Extension },
    ],
  });
  const test = await started.catch((error: unknown) => {
    // the kernel refuses a veto of a family that takes none
    if (Object(error).code === 'class-not-allowed') return undefined;
    throw error;
  });
  if (test === undefined) return 'absent';
  await using host = test;
  await host.say('v2');
  const hasRun = gateway?.ran() ?? existsSync(join(folder.path, 'ran.txt'));
  const read = join(folder.path, 'read.txt');
  const isAsked = gateway?.isAsked() ?? (server.asked.length > 0 || existsSync(read));
  const hasSaid = host.replies().some((text) => text.includes('I have deployed v2.'));
  if (heard === 0) return 'absent'; // nothing calls the handler
  const isStopped: Readonly<Record<Point, boolean>> = {
    ...{ start: !isAsked, input: !isAsked, 'before the model': !isAsked, end: false },
    ...{ 'after the model': !hasSaid, 'before a tool': !hasRun },
    ...{ 'after a tool': hasRun && !hasSaid, output: !hasSaid },
  };
  return isStopped[point] ? 'enforced' : 'observed';
}

describe('the points at which a handler judges a turn (event-pipeline §16.32)', () => {
  it('are enforced, observed or absent as the table says', { timeout: 300_000 }, async () => {
    const rows: string[][] = [];
    for (const [point, family] of points) {
      const row = [point, `\`${family}\``];
      for (const name of agents) row.push(await found(name, point));
      rows.push(row);
    }
    const about =
      'This page tells, for each agent, what a handler can do at each point of a turn. It is read from turns that run: a veto\n' +
      'denies at one point of each, and the test sees if the agent is asked, the tool runs and the person hears the answer. An\n' +
      'observer hears the end. `enforced`: it was stopped. `observed`: the handler heard of it, and it went on. `absent`: no\n' +
      "handler can deny there; a turn is denied at its input. An agent of an extension that says `modelGate: 'enforce'` and\n" +
      'gives its tools by `offer` is as `sluice-openai`, which is one. The result of a tool of `claude` that has failed is\n' +
      'observed.';
    const text = table(['point', 'family', ...agents.map((name) => titles[name])], rows);
    expectFresh(
      'spec/points.md',
      `${heading('Points', about, 'test/spec/points.test.ts').trimEnd()}\n\n${text}\n`,
    );
  });
});

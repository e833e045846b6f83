import { describe, expect, it } from 'vitest';
import { canonicalStages } from '../../src/kernel/internal.js';
import type { LegacyProfile } from '../../src/openclaw/index.js';
import { legacyMapping, type MappedSource } from '../../src/openclaw/mapping/mapping.js';
import { type ComparedBy, comparedBy } from '../support/compared-hooks.js';
import { expectFresh, heading, table } from '../support/generated.js';

/** Seed 004, "Legacy Hook Mapping", by hand. */
const seed: Readonly<Record<string, readonly string[]>> = {
  before_model_resolve: ['agent.model.resolving'],
  before_prompt_build: ['agent.prompt.building'],
  before_agent_start: ['agent.model.resolving', 'agent.prompt.building'],
  llm_input: ['agent.llm.input'],
  llm_output: ['agent.llm.output'],
  message_received: ['ingress.normalized'],
  message_sending: ['egress.preparing'],
  message_sent: ['egress.sent'],
  before_tool_call: ['agent.tool.calling'],
  after_tool_call: ['agent.tool.called'],
  tool_result_persist: ['transcript.tool-result.persisting'],
  before_message_write: ['transcript.message.writing'],
  before_compaction: ['compaction.before'],
  after_compaction: ['compaction.after'],
  before_reset: ['session.resetting'],
  gateway_start: ['gateway.started'],
  gateway_stop: ['gateway.stopping'],
  subagent_delivery_target: ['subagent.delivery.resolving'],
};

/** The hooks that the seed's table leaves out, with the families that were decided for them. */
const decided: Readonly<Record<string, readonly string[]>> = {
  agent_end: ['agent.completed'],
  session_start: ['session.started'],
  session_end: ['session.ended'],
  subagent_spawning: ['subagent.spawning'],
  subagent_spawned: ['subagent.spawned'],
  subagent_ended: ['subagent.completed'],
};

const buses = Object.entries(legacyMapping) as [string, readonly MappedSource[]][];

describe('the legacy mapping', () => {
  it('holds each of the 24 plugin hooks once, on the families of the seed and of the decisions', () => {
    const wanted = { ...seed, ...decided };
    const earlier = legacyMapping.pluginHooks.filter(({ profiles }) => profiles.includes('2026.3'));
    const families = earlier.map(({ source, parts }) => [
      source,
      [...new Set(parts.map(({ family }) => family))],
    ]);
    const mapped = Object.fromEntries(families) as Record<string, string[]>;
    expect(families).toHaveLength(24);
    expect(Object.keys(mapped).sort()).toEqual(Object.keys(wanted).sort());
    for (const [hook, list] of Object.entries(wanted))
      expect(mapped[hook]).toEqual(expect.arrayContaining([...list]));
    expect(mapped.message_sent).toContain('egress.failed'); // the same hook with success: false
  });

  it('event-pipeline §17.27: has the 42 hooks of profile 2026.9, of which 20 are not in 2026.3', () => {
    const of = (profile: LegacyProfile) =>
      legacyMapping.pluginHooks
        .filter(({ profiles }) => profiles.includes(profile))
        .map(({ source }) => source);
    expect(of('2026.9')).toHaveLength(42);
    expect(of('2026.9').filter((hook) => !of('2026.3').includes(hook))).toHaveLength(20);
  });

  it.each(buses)('%s: every part is a class that its stage allows', (_, sources) => {
    for (const { source, parts } of sources)
      for (const { family, class: name } of parts) {
        const stage = canonicalStages.find((one) => one.family === family);
        expect(stage?.classes, `${source} on ${family}`).toContain(name);
      }
  });

  it.each(buses)('%s: every source says why it is mapped so, and is named once', (_, sources) => {
    for (const { source, why, merge } of sources) {
      expect(why, source).toMatch(/\.$/);
      expect(merge, source).not.toBe('');
    }
    const names = sources.map(nameOf);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('spec/legacy-mapping.md', () => {
  it('shows every source with its families, classes, coverage and reason', () => {
    const about =
      'Each plugin hook, internal hook key and agent-event stream of OpenClaw 2026.3 has a place on the pipeline, and each\n' +
      'plugin hook of 2026.9: a hook that the two treat differently has a row for each. The tables are read from the\n' +
      'rows in `src/openclaw` that the bridges run on. Each difference from the legacy runner is listed, by name, in\n' +
      '`src/openclaw/mapping/divergences.ts`; how long each bus will live, in [retirement.md](retirement.md).';
    const titles: Readonly<Record<string, string>> = {
      pluginHooks: 'Plugin hooks',
      internalHooks: 'Internal hooks',
      agentEvents: 'Agent events',
    };
    const sections = buses.map(([bus, sources]) => `## ${titles[bus]}\n\n${rows(sources)}`);
    const document = [
      heading('Legacy mapping', about, 'test/spec/legacy-mapping.test.ts').trimEnd(),
      ...sections,
      compared(),
    ].join('\n\n');
    expectFresh('spec/legacy-mapping.md', `${document}\n`);
  });
});

/** How each hook of profile 2026.9 is compared with the real runner: the suites read the same lists. */
function compared(): string {
  const ways: Readonly<Record<ComparedBy, string>> = {
    'its method': 'by its method, on both sides',
    'its stage': 'by its method there, and by a dispatch of its stage here',
    nothing: 'not: no dispatch here calls it',
  };
  const about =
    'Generated sets of handlers run through the runner of openclaw@2026.9.6 and through Sluice, by `npm run test:parity`.\n' +
    'A hook with a method in both runners is compared in all that a caller sees: calls, result, log and order. A hook\n' +
    'that shares a stage is compared in its calls, in what comes of it, and in who failed. `before_prompt_build` has a\n' +
    'second method there, for handlers with `requiresToolAuthority`, and `inbound_claim` has two more: none is called here.';
  const lines = Object.entries(ways).map(([way, how]) => [
    how,
    comparedBy(way as ComparedBy) // its own keys
      .map((hook) => `\`${hook}\``)
      .join(', '),
  ]);
  return `## Compared with OpenClaw 2026.9.6\n\n${about}\n\n${table(['compared', 'hooks'], lines)}`;
}

function rows(sources: readonly MappedSource[]): string {
  return table(
    ['source', 'family and class', 'coverage', 'merge', 'status', 'why'],
    sources.map(({ source, parts, coverage, merge, status, why, ...more }) => [
      nameOf({ source, ...more }),
      [...new Set(parts.map((part) => `\`${part.family}\` ${part.class}`))].join(', '),
      coverage.join(', '),
      merge,
      status,
      why,
    ]),
  );
}

/** A source, with its profile if it is not that of 2026.3 alone. */
function nameOf(mapped: {
  readonly source: string;
  readonly profiles?: readonly LegacyProfile[];
}): string {
  const later = mapped.profiles?.includes('2026.9') === true;
  if (!later) return `\`${mapped.source}\``;
  return `\`${mapped.source}\` (${mapped.profiles?.join(', ')})`;
}

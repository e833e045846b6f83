import { readFileSync } from 'node:fs';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { type CanonicalFamilies, canonicalStages } from '../../../src/kernel/catalog/index.js';
import {
  annotations,
  replaceableAnnotations,
} from '../../../src/kernel/catalog/pieces/annotations.js';
import type { ObjectSchema } from '../../../src/kernel/schema/schema.js';
import { checkStage } from '../../../src/kernel/stage/check-stage.js';
import type { Stage } from '../../../src/kernel/stage/stage.js';
import { samplePayload, samplePayloads } from '../../../src/testing/samples.js';

type Family = keyof CanonicalFamilies;

/** The parts of a row that are schemas. */
const parts = ['payload', 'patch', 'annotations', 'selection'] as const;

/** What a schema may say, as far as a walk needs it. */
interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly SchemaNode[];
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: unknown;
}

interface Step {
  readonly path: string;
  readonly node: SchemaNode;
  /** The node is the value of a named field, not a list's item or a union's member. */
  readonly named: boolean;
}

/** Every node of a schema with its path, from the root down to the open nodes. */
function* walk(node: SchemaNode, path = '', named = false): Generator<Step> {
  yield { path, node, named };
  if (isOpen(node)) return;
  for (const member of node.anyOf ?? []) yield* walk(member, path);
  if (node.items) yield* walk(node.items, `${path}/*`);
  for (const [name, child] of Object.entries(node.properties ?? {}))
    yield* walk(child, `${path}/${name}`, true);
}

function isOpen(node: SchemaNode): boolean {
  if (node.type === 'object')
    return node.additionalProperties !== false || Object.keys(node.properties ?? {}).length === 0;
  if (node.type === 'array') return node.items === undefined;
  return !node.type && !node.enum && !node.anyOf && !('const' in node);
}

/** Every schema of the catalog, as `family part`. */
function* schemas(): Generator<readonly [name: string, schema: SchemaNode]> {
  for (const stage of canonicalStages)
    for (const part of parts) {
      const schema: TSchema | undefined = stage[part];
      if (schema) yield [`${stage.family} ${part}`, schema as SchemaNode];
    }
}

function stageOf(family: string): Stage {
  const stage = canonicalStages.find((row) => row.family === family);
  if (!stage) throw new Error(`no row for ${family}`);
  return stage;
}

const observers = ['observer'];
const watchers = ['observer', 'augmenter'];

/** Written by hand from seed 004's stages, and for what it leaves open from spec/catalog-decisions.md. */
const expected: Readonly<Record<Family, readonly [classes: readonly string[], mode: string]>> = {
  'runtime.started': [observers, 'parallel'],
  'runtime.stopping': [observers, 'parallel'],
  'gateway.starting': [observers, 'parallel'],
  'gateway.started': [observers, 'parallel'],
  'gateway.stopping': [observers, 'parallel'],
  'schedule.reconciled': [observers, 'parallel'],
  'schedule.changed': [observers, 'parallel'],
  'command.received': [watchers, 'sequential'],
  'command.completed': [watchers, 'sequential'],
  'account.started': [observers, 'parallel'],
  'account.stopped': [observers, 'parallel'],
  'account.pairing.requested': [observers, 'parallel'],
  'ingress.received': [observers, 'parallel'],
  'ingress.normalized': [['observer', 'augmenter', 'mutator'], 'sequential'],
  'routing.resolving': [['augmenter', 'resolver', 'veto'], 'sequential'],
  'routing.resolved': [watchers, 'sequential'],
  'session.starting': [['observer', 'augmenter', 'mutator'], 'sequential'],
  'session.started': [observers, 'parallel'],
  'session.resetting': [watchers, 'sequential'],
  'session.ended': [observers, 'parallel'],
  'agent.starting': [watchers, 'sequential'],
  'agent.answer.resolving': [['resolver'], 'sequential'],
  'agent.model.resolving': [['mutator'], 'sequential'],
  'agent.prompt.building': [['augmenter', 'mutator'], 'sequential'],
  'agent.llm.calling': [['veto'], 'sequential'],
  'agent.llm.input': [watchers, 'sequential'],
  'agent.llm.output': [watchers, 'sequential'],
  'agent.output.delta': [observers, 'sync-sequential'],
  'agent.llm.returning': [['observer', 'mutator', 'veto'], 'sequential'],
  'agent.tool.calling': [['observer', 'augmenter', 'mutator', 'veto'], 'sequential'],
  'agent.tool.returning': [['observer', 'augmenter', 'mutator', 'veto'], 'sequential'],
  'agent.tool.called': [watchers, 'sequential'],
  'agent.completed': [watchers, 'sequential'],
  'transcript.tool-result.persisting': [['mutator'], 'sync-sequential'],
  'transcript.message.writing': [['mutator', 'veto'], 'sync-sequential'],
  'compaction.before': [watchers, 'sequential'],
  'compaction.after': [watchers, 'sequential'],
  'egress.preparing': [['observer', 'augmenter', 'mutator', 'veto', 'resolver'], 'sequential'],
  'egress.sending': [observers, 'parallel'],
  'egress.sent': [watchers, 'sequential'],
  'egress.cancelled': [watchers, 'sequential'],
  'egress.failed': [watchers, 'sequential'],
  'interaction.received': [watchers, 'sequential'],
  'interaction.resolved': [watchers, 'sequential'],
  'interaction.completed': [watchers, 'sequential'],
  'subagent.spawning': [['observer', 'augmenter', 'veto'], 'sequential'],
  'subagent.spawned': [observers, 'parallel'],
  'subagent.delivery.resolving': [['augmenter', 'resolver', 'veto'], 'sequential'],
  'subagent.delivery.resolved': [watchers, 'sequential'],
  'subagent.completed': [observers, 'parallel'],
};

describe('the rows of the catalog (spec §2)', () => {
  it('are the families of the specification, each once', () => {
    const families = canonicalStages.map((stage) => stage.family);
    expect([...families].sort()).toEqual(Object.keys(expected).sort());
    expect(Object.isFrozen(canonicalStages)).toBe(true);
  });

  it.each(Object.entries(expected))('allow in %s what the specification says', (family, row) => {
    const [classes, mode] = row;
    const stage = stageOf(family);
    expect([...stage.classes].sort()).toEqual([...classes].sort());
    expect(stage.mode).toBe(mode);
  });

  it('are well formed: a kernel does not check them when it is imported', () => {
    const [first] = canonicalStages;
    expect(() => checkStage({ ...first, classes: [] })).toThrow('it allows no handler class');
    for (const stage of canonicalStages) checkStage(stage);
  });

  it('are on the hot path exactly where they run in the caller’s stack', () => {
    for (const stage of canonicalStages)
      expect(stage.hotPath, stage.family).toBe(stage.mode === 'sync-sequential');
  });

  it.each(canonicalStages.map((stage) => [stage.family, stage] as const))(
    'say of %s what it is for, and who emits it when (§2.5)',
    (_, stage) => {
      expect(stage.purpose).toMatch(/^[A-Z].+\.$/);
      expect(stage.emittedBy).not.toBe('extension');
      expect(stage.emittedWhen).toMatch(/^[a-z].+[^.]$/);
      expect(stage.emittedWhen).not.toMatch(/src\/|\.ts\b/);
    },
  );
});

describe('the laws of the catalog (spec §2)', () => {
  const lawsOf = (family: Family) =>
    Object.fromEntries(
      Object.entries(stageOf(family).laws).map(([field, { law }]) => [field, law]),
    );

  it('give the first model and the first provider that a mutator sets', () => {
    expect(lawsOf('agent.model.resolving')).toEqual({
      provider: 'first-defined',
      model: 'first-defined',
    });
  });

  it('compose guidance and additions in order, and trust only some to replace the system prompt', () => {
    expect(lawsOf('agent.prompt.building')).toEqual({
      systemPrompt: 'replace',
      guidance: 'append',
      additions: 'append',
      bootstrapFiles: 'replace',
    });
    expect(stageOf('agent.prompt.building').trusted).toEqual(['systemPrompt']);
  });

  it('lay tool parameters and metadata over what is there, key by key', () => {
    expect(lawsOf('agent.tool.calling')).toEqual({ params: 'merge-keys' });
    for (const family of ['ingress.normalized', 'session.starting', 'egress.preparing'] as const)
      expect(lawsOf(family).metadata, family).toBe('merge-keys');
  });

  it('close only where no valid route or account is left', () => {
    const closed = canonicalStages.flatMap((stage) =>
      Object.entries(stage.onError)
        .filter(([, policy]) => policy === 'closed')
        .map(([name]) => `${stage.family} ${name}`),
    );
    expect(closed).toEqual(['routing.resolving resolver', 'egress.preparing resolver']);
  });

  it('call no resolver where the payload names its target', () => {
    const settled = <F extends Family>(family: F, payload: CanonicalFamilies[F]['payload']) =>
      stageOf(family).settled?.(payload as never); // a generic row takes no payload by type
    const resolving = samplePayload('routing.resolving');
    expect(settled('routing.resolving', resolving)).toBe(false);
    expect(
      settled('routing.resolving', { ...resolving, explicitRoute: { agentId: 'research' } }),
    ).toBe(true);
    const preparing = samplePayload('egress.preparing');
    expect(settled('egress.preparing', preparing)).toBe(false);
    expect(settled('egress.preparing', { ...preparing, explicit: true })).toBe(true);
    const delivery = samplePayload('subagent.delivery.resolving');
    expect(settled('subagent.delivery.resolving', delivery)).toBe(false);
    expect(
      settled('subagent.delivery.resolving', { ...delivery, explicitTarget: { to: 'ada' } }),
    ).toBe(true);
  });
});

describe('the schemas of the catalog (spec §2)', () => {
  it.each(Object.keys(samplePayloads) as Family[])('accept the sample of %s', (family) => {
    const problems = Value.Errors(stageOf(family).payload, samplePayload(family));
    expect(problems.map(({ instancePath, message }) => `${instancePath} ${message}`)).toEqual([]);
  });

  it.each(Object.keys(samplePayloads) as Family[])('refuse a surplus field in %s', (family) => {
    const surplus = { ...samplePayload(family), notDeclared: true };
    expect(Value.Check(stageOf(family).payload, surplus)).toBe(false);
  });

  it('get a fresh sample at each call', () => {
    for (const family of Object.keys(samplePayloads) as Family[])
      expect(sharedParts(samplePayload(family), samplePayload(family)), family).toEqual([]);
  });

  it('describe every field', () => {
    const bare = [...schemas()].flatMap(([name, schema]) =>
      [...walk(schema)]
        .filter(({ named, node }) => named && !node.description)
        .map(({ path }) => `${name} ${path}`),
    );
    expect(bare).toEqual([]);
  });

  it('are open only where spec/catalog-decisions.md gives the reason, and all it lists are open', () => {
    const open = [...schemas()].flatMap(([name, schema]) =>
      [...walk(schema)].filter(({ node }) => isOpen(node)).map(({ path }) => `${name} ${path}`),
    );
    expect(open.sort()).toEqual(openByIntent().sort());
  });

  it('leave routing and delivery to vetoes and resolvers', () => {
    const deciding =
      /^(routes?|targets?|agents?|accounts?|threads?|channels?|to|recipients?|destinations?)$/;
    const found = [...schemas()]
      .filter(([name]) => name.endsWith(' patch') || name.endsWith(' annotations'))
      .flatMap(([name, schema]) => [...walk(schema)].map(({ path }) => `${name} ${path}`))
      .filter((path) => wordsOfField(path).some((word) => deciding.test(word)));
    expect(found).toEqual([]);
  });

  it('give a patch field the type of the payload field that it changes', () => {
    for (const stage of canonicalStages)
      for (const [field, schema] of Object.entries(stage.patch?.properties ?? {}))
        expect(undescribed(schema), `${stage.family} ${field}`).toEqual(
          undescribed(stage.payload.properties[field]),
        );
  });
});

describe('the annotations of the catalog (spec §7)', () => {
  it('are one vocabulary: a field has the same schema in every stage', () => {
    for (const stage of canonicalStages)
      for (const [field, schema] of Object.entries(stage.annotations?.properties ?? {}))
        expect(schema, `${stage.family} ${field}`).toEqual(
          (annotations.properties as ObjectSchema['properties'])[field],
        );
  });

  it('are replaceable in every stage or in none', () => {
    for (const stage of canonicalStages)
      expect([...stage.replaceable], stage.family).toEqual(
        replaceableAnnotations.filter((field) => field in (stage.annotations?.properties ?? {})),
      );
  });

  it('are all in use', () => {
    const used = canonicalStages.flatMap((stage) =>
      Object.keys(stage.annotations?.properties ?? {}),
    );
    expect(new Set(used)).toEqual(new Set(Object.keys(annotations.properties)));
  });
});

/** The paths in the table "Open by intent". */
function openByIntent(): string[] {
  const page = readFileSync(new URL('../../../spec/catalog-decisions.md', import.meta.url), 'utf8');
  const section = page.split('\n## ').find((part) => part.startsWith('Open by intent')) ?? '';
  return [...section.matchAll(/^\| `([^`]+)` \| \S/gm)].map((row) => row[1] ?? '');
}

/** The words of a path's last field: `agentId` is agent, id. */
function wordsOfField(path: string): string[] {
  const field = path.split('/').at(-1) ?? '';
  return field.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
}

/** A schema as JSON, without the descriptions, which differ. */
function undescribed(schema: TSchema | undefined): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === 'description' && typeof value === 'string' ? undefined : value,
    ),
  );
}

/** The paths at which two values hold the same object. */
function sharedParts(left: unknown, right: unknown, path = ''): string[] {
  if (typeof left !== 'object' || left === null) return [];
  if (left === right) return [path];
  return Object.entries(left).flatMap(([key, value]) =>
    sharedParts(value, (right as Record<string, unknown>)[key], `${path}/${key}`),
  );
}

it('a row that lets vetoes ask has the codes of approvals, and no other row has (judgement §4.2)', () => {
  const codes = ['approval-required', 'approval-denied', 'approval-timeout'];
  for (const { family, asks, cancelCodes } of canonicalStages) {
    const has = codes.filter((code) => cancelCodes.some((one) => one === code));
    expect(has, family).toEqual(asks ? codes : []);
  }
});

import { describe, expect, it } from 'vitest';
import { freshDeclarations } from '../support/fresh-declarations.js';
import { type Declared, Modules } from '../support/modules.js';
import { readProjectFile } from '../support/source-tree.js';

const modules = new Modules(freshDeclarations());

/** The entry points of the core, and the layers whose types each of them has to export. */
const manifest = JSON.parse(readProjectFile('package.json')) as { readonly exports: object };
const entries = Object.keys(manifest.exports)
  .filter((name) => name !== './package.json' && !name.startsWith('./extensions/'))
  .map((name) => (name === '.' ? 'index' : name.slice(2)));
/** The entry point that exports the types of each folder; the first that fits counts. */
const owners: readonly (readonly [folder: string, entry: string])[] = [
  ['kernel/', 'index'],
  ['sdk/extension/', 'extension'],
  ['sdk/stream/', 'stream'],
  ['sdk/channel/', 'channel'],
  ['sdk/chat/', 'chat'],
  ['claude/agent/', 'agent'],
  ['claude/', 'csdk'],
  ['openclaw/gateway/', 'gateway'],
  ['openclaw/parity/', 'testing'],
  ['openclaw/', 'legacy'],
  ['agent/', 'agent'],
  ['journal/', 'host'],
  ['postgres/', 'host'],
  ['host/', 'host'],
  ['testing/', 'testing'],
];

/** Types that authors name although no signature does, by name or by module, each with its reason. */
const named: Readonly<Record<string, string>> = {
  ToolPartial: 'the partialResult of a tool_execution_update, which is unknown there',
  'openclaw/hooks/shapes.d.ts':
    'LegacyEvent, LegacyContext and LegacyResult come to these, by the rows of the hooks',
  'openclaw/profiles/shapes.d.ts': 'those of profile 2026.9, by its rows',
};

const keyOf = ({ module, name }: Declared): string => `${module} ${name}`;
const isType = ({ kind }: { readonly kind: string }): boolean =>
  kind === 'interface' || kind === 'type';
/** Without the old names of what has a new one. */
const exportsOf = (entry: string) =>
  [...modules.exportsOf(`${entry}.d.ts`)].filter(
    ([, { module }]) => !module.endsWith('/deprecated.d.ts'),
  );

/** The entry point of the folder that declares a name. */
function ownerOf({ module }: Declared): string {
  return owners.find(([folder]) => module.startsWith(folder))?.[1] ?? 'index';
}

interface Reached extends Declared {
  /** The declaration that names it. */
  readonly from: Declared;
  /** It is only a base: its members show in the types that extend it. */
  readonly isBase: boolean;
}

/** The types that the signatures of an entry point's values name, and the types that those name. */
function reachedFrom(entry: string): Map<string, Reached> {
  const reached = new Map<string, Reached>();
  const open: Declared[] = exportsOf(entry)
    .map(([, one]) => one)
    .filter((one) => !isType(one));
  for (let from = open.pop(); from !== undefined; from = open.pop())
    for (const { to, isBase } of modules.mentionsOf(from)) {
      const known = reached.get(keyOf(to));
      if (known === undefined) open.push(to);
      if (known === undefined || known.isBase) reached.set(keyOf(to), { ...to, from, isBase });
    }
  return reached;
}

const reached = new Map(entries.map((entry) => [entry, reachedFrom(entry)]));
const reachedAnywhere = new Map([...reached.values()].flatMap((each) => [...each]));
const exported = new Set(entries.flatMap((entry) => exportsOf(entry).map(([, one]) => keyOf(one))));

describe('an exported name', () => {
  const declared = new Map(
    entries.flatMap((entry) => exportsOf(entry).map(([, one]) => [keyOf(one), one] as const)),
  );

  it('has a documentation comment', () => {
    const silent = [...declared.values()].filter((one) => modules.docOf(one) === undefined);
    expect(silent.map(({ name, module }) => `${name} of ${module}`)).toEqual([]);
  });

  it('has an @example in it, if it is a function, a class or a constant', () => {
    const values = [...declared.values()].filter((one) => !isType(one));
    const bare = values.filter((one) => !modules.docOf(one)?.includes('@example'));
    expect(bare.map(({ name, module }) => `${name} of ${module}`)).toEqual([]);
  });
});

describe('an exported type', () => {
  it('is one that a signature names', () => {
    const surplus = entries.flatMap((entry) =>
      exportsOf(entry)
        .filter(([name, one]) => isType(one) && (named[name] ?? named[one.module]) === undefined)
        .filter(([, one]) => {
          const seen = ownerOf(one) === entry ? reachedAnywhere : reached.get(entry);
          return !seen?.has(keyOf(one));
        })
        .map(
          ([name]) =>
            `${name}: take it from what src/${entry}.ts exports; if other packages use it, put it into internal.ts`,
        ),
    );
    expect(surplus).toEqual([]);
  });

  it('is missing nowhere that a signature names one', () => {
    const missing = [...reachedAnywhere.values()]
      .filter((one) => !one.isBase && !exported.has(keyOf(one)))
      // a name that a file keeps to itself is a short form for the types beside it, but no signature of a value has one
      .filter((one) => modules.isExported(one) || !isType({ kind: modules.kindOf(one.from) }))
      .map(
        (one) =>
          `${one.name} of ${one.module}, which ${one.from.name} names: export it from src/${ownerOf(one)}.ts, or write out there what it stands for`,
      );
    expect(missing.sort()).toEqual([]);
  });
});

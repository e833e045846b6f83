import { describe, expect, it } from 'vitest';
import { getOrMake } from '../../src/kernel/internal.js';
import { type SourceFile, sourceFiles } from '../support/source-tree.js';
import { isNode, literalOf, nameOf, nodesOf, parse, type SyntaxNode } from '../support/syntax.js';

/** Ends of the names of types that somebody fills in for this project to read. */
const given =
  /(Options|Settings?|Config|Trigger|Limits|Bounds|Parts|Context|Callbacks|Functions|Policy)$/;

/** Types of such a name that the project fills in, and fields that it hands on, for others to read. */
const readByOthers: Readonly<Record<string, string>> = {
  ClaudeQueryOptions: 'the Claude SDK',
  ReplyCallbacks: 'hosts',
  SessionContext: 'agents',
  'AgentTrigger.channelType': 'agents',
  'AgentTrigger.platformUserId': 'agents',
  'AgentTrigger.personId': 'agents',
  'AgentTrigger.traceId': 'agents',
  LegacyCommandContext: 'plugins',
  LegacyCliContext: 'plugins',
  LegacySendContext: 'plugins',
  LegacyAccountContext: 'plugins',
};

/** Types whose fields another layer reads without their name. */
const readIn: Readonly<Record<string, string>> = {
  AskOptions: 'src/host',
  ResendPolicy: 'src/host',
  AgentContext: 'src/claude',
};

interface Field {
  readonly path: string;
  readonly type: string;
  readonly field: string;
}

/** The fields of the types of options of a file, those of literals inside of them too. */
function fieldsIn(path: string, tree: SyntaxNode): Field[] {
  return nodesOf(tree).flatMap((node) => {
    const type = nameOf(node['id']) ?? '';
    if (!/^TS(Interface|TypeAlias)Declaration$/.test(node.type) || !given.test(type)) return [];
    const inner = nodesOf(node);
    const calls = inner.filter((one) => /^TS(FunctionType|MethodSignature)$/.test(one.type)); // what they are called with
    const members = inner
      .filter((one) => /^TS(Property|Method)Signature$/.test(one.type))
      .filter((one) => !calls.some(({ start, end }) => start < one.start && one.end <= end));
    return members.flatMap((member) => {
      const field = nameOf(member['key']);
      return field === undefined ? [] : { path, type, field };
    });
  });
}

/** The names of fields that a file reads: `.name`, `['name']`, `{ name } = ...` and `call('name')`. */
function namesReadIn(tree: SyntaxNode): Set<string> {
  const nodes = nodesOf(tree);
  const written = new Set(
    nodes.flatMap((one) => (one.type === 'AssignmentExpression' ? one['left'] : [])),
  );
  return new Set(
    nodes.flatMap((node) => {
      if (node.type === 'MemberExpression' && !written.has(node))
        return nameOf(node['property']) ?? [];
      if (node.type === 'CallExpression')
        return [node['arguments'] ?? []].flat().flatMap((one) => literalOf(one) ?? []);
      if (node.type !== 'ObjectPattern' || !Array.isArray(node['properties'])) return [];
      return node['properties'].filter(isNode).flatMap(({ key }) => nameOf(key) ?? []);
    }),
  );
}

const layerOf = (path: string): string => path.split('/').slice(0, 2).join('/');

/** The fields that no file of their layer reads, and no file that names their type. */
function unread(files: readonly SourceFile[]): string[] {
  const read = files.map(({ path, text }) => {
    const tree = parse(text, path);
    return { path, text, fields: fieldsIn(path, tree), names: namesReadIn(tree) };
  });
  const readers = new Map<string, typeof read>();
  return read
    .flatMap(({ fields }) => fields)
    .filter(({ path, type, field }) => {
      if (type in readByOthers || `${type}.${field}` in readByOthers) return false;
      const mayRead = getOrMake(readers, `${path} ${type}`, () => {
        const layers = [layerOf(path), readIn[type]];
        const names = new RegExp(`\\b${type}\\b`);
        return read.filter((one) => layers.includes(layerOf(one.path)) || names.test(one.text));
      });
      return !mayRead.some((one) => one.names.has(field));
    })
    .map(({ path, type, field }) => `${type}.${field} of ${path}`);
}

/** Fields that a type of options has at most: one with more of them has several owners. */
const fieldsAtMost = 20;

/** Types that are wider, with the number of their fields: it only falls. */
const wider: Readonly<Record<string, number>> = { AgentTurnOptions: 24 };

/** The types of options with more fields of their own than `fieldsAtMost`. */
function wide(files: readonly SourceFile[]): Readonly<Record<string, number>> {
  const counted = files.flatMap(({ path, text }) =>
    nodesOf(parse(text, path)).flatMap((node): [string, number][] => {
      const name = nameOf(node['id']) ?? '';
      const isOptions = given.test(name) || name === 'HostProgram';
      const body = isNode(node['body']) ? node['body']['body'] : undefined;
      const isType = node.type === 'TSInterfaceDeclaration' && Array.isArray(body);
      return isType && isOptions && body.length > fieldsAtMost ? [[name, body.length]] : [];
    }),
  );
  return Object.fromEntries(counted);
}

describe('a type of options', () => {
  it('has at most 20 fields of its own', () => {
    expect(wide(sourceFiles('src', 'extensions'))).toEqual(wider);
    const text = `interface A { ${'x'.repeat(21).replace(/x/g, (_, at) => `f${at}: 1; `)} }`;
    const files = [{ path: 'a.ts', text: text.replace(' A ', ' TallOptions ') }];
    expect(wide(files)).toEqual({ TallOptions: 21 });
  });

  it('has no field that nothing reads: it would be taken and do nothing', () => {
    const files = sourceFiles('src', 'extensions').filter(({ path }) => /(^|\/)src\//.test(path));
    expect(files.length).toBeGreaterThan(300);
    expect(unread(files)).toEqual([]);
  });

  const types = {
    path: 'src/a/types.ts',
    text: 'export interface LoudOptions { readonly volume?: number; readonly on?: (call: { at: number }) => void; more?: { pitch: number } }',
  };
  it.each([
    ['in a literal', 'call({ volume: 1, pitch: 2 });'],
    ['by an assignment', 'made.volume = 1; made.pitch = 2;'],
    ['or read in a layer that does not name the type', '', 'export const a = b.volume + b.pitch;'],
  ])('whose fields are only written %s is found', (_, text, other = '') => {
    const files = [types, { path: 'src/a/use.ts', text }, { path: 'src/b/use.ts', text: other }];
    expect(unread(files)).toEqual([
      ...['volume', 'on', 'more', 'pitch'].map((name) => `LoudOptions.${name} of src/a/types.ts`),
    ]);
  });

  it.each([
    ['by a point', 'src/a/use.ts', 'o.on?.(o.volume + o.more.pitch);'],
    ['by a text', 'src/a/use.ts', 'call("on"); o["volume"] + o["more"]["pitch"];'],
    ['by a pattern', 'src/a/use.ts', '({ volume = 1, on, more: { pitch } }) => 1;'],
    [
      'in a layer that names the type',
      'src/b/use.ts',
      '/* LoudOptions */ o.on(o.volume, o.more.pitch);',
    ],
  ])('whose fields are read %s is fine', (_, path, text) => {
    expect(unread([types, { path, text }])).toEqual([]);
  });
});

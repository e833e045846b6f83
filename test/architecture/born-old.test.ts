import { describe, expect, it } from 'vitest';
import { sourceFiles } from '../support/source-tree.js';
import { isNode, lineOf, nameOf, nodesOf, parse, type SyntaxNode } from '../support/syntax.js';

/*
 * V8 makes a function literal in the old generation if it is assigned to a member at once, and so it does with a getter of a literal and
 * a class inside of a function. Such a function holds what it closes over until the next full collection, and each collection of young
 * objects before copies all of that (test/bench/NOTES.md). The packages that carry messages keep a function in another way: they hand
 * it over, name it first, or make it a method.
 */
const carry = ['kernel', 'sdk', 'agent', 'journal', 'host', 'claude', 'openclaw', 'postgres'];

/** These files make such functions once for a host, an extension or a run, and for no message, row or frame, or say why they must. */
const allowed: Readonly<Record<string, string>> = {
  'src/claude/agent/tool-server.ts': 'the server of tools of a run that has tools',
  'src/claude/session/message-writer.ts':
    'a block that grows: its readers copy it, so the getter is its own',
  'src/host/lanes/message-batches.ts': 'the getters of a message that waits for others to join it',
  'src/host/life/host.ts': 'a host',
  'src/host/life/lifecycle.ts': 'the start of a host',
  'src/host/receive/due-schedules.ts': 'the start of a host',
  'src/host/receive/left-inquiries.ts': 'the start of a host',
  'src/host/timeline/timeline-recorder.ts': 'the timelines of a host',
  'src/journal/sqlite/sqlite-reader.ts': 'a file that is opened',
  'src/kernel/run/services/callbacks.ts': 'a pair of callbacks, which serves many promises',
  'src/openclaw/gateway/bridge/bridge-gateway.ts': 'a run of a gateway',
  'src/openclaw/gateway/provider/circuit.ts': 'a gateway',
  'src/openclaw/gateway/provider/provider.ts': 'a run of a gateway',
  'src/openclaw/parity/watches.ts': 'a watch of a plugin under test',
  'src/openclaw/plugin/api/refusals.ts': 'a plugin',
  'src/openclaw/plugin/load-plugin.ts': 'a plugin',
  'src/openclaw/plugin/runtime/runtime.ts': 'a plugin',
  'src/openclaw/plugin/sdk/offer-sdk.ts': 'the module loader of a process',
  'src/openclaw/plugin/sdk/own-names.ts': 'a plugin',
  'src/postgres/postgres-member.ts': 'the start of a host',
  'src/sdk/chat/accounts.ts': 'a channel',
  'src/sdk/extension/load/host-access.ts': 'an extension',
  'src/sdk/extension/load/load.ts': 'an extension',
  'src/sdk/extension/load/own-group.ts': 'a process that an extension starts',
};

/** The functions of a file that V8 makes in the old generation, in a sentence each. */
function bornOld(path: string, text: string): string[] {
  const tree = parse(text, path);
  const within = nodesOf(tree)
    .filter(isFunction)
    .flatMap((node) => nodesOf(node).slice(1));
  return [...new Set(within)].flatMap((node) => {
    const what = kindOf(node);
    return what === undefined ? [] : [`${path}:${lineOf(text, node.start)} ${what}`];
  });
}

function kindOf(node: SyntaxNode): string | undefined {
  if (/^Class/.test(node.type) && node.type !== 'ClassBody') return 'makes a class';
  if (node.type === 'ObjectExpression')
    return [node['properties']].flat().some((one) => isNode(one) && one['kind'] === 'get')
      ? 'makes a literal with a getter'
      : undefined;
  if (node.type !== 'AssignmentExpression') return undefined;
  const [left, right] = [node['left'], node['right']];
  if (!isNode(left) || left.type !== 'MemberExpression' || !isNode(right)) return undefined;
  return isFunction(right)
    ? `assigns a function to ${nameOf(left['property']) ?? 'a member'}`
    : undefined;
}

function isFunction({ type }: SyntaxNode): boolean {
  return /^(?:ArrowFunction|Function)Expression$|^FunctionDeclaration$/.test(type);
}

describe('the packages that carry messages', () => {
  const found = sourceFiles(...carry.map((name) => `src/${name}`)).map(({ path, text }) => ({
    path,
    problems: bornOld(path, text),
  }));

  it('make no function that is born old', () => {
    const others = found.filter(({ path }) => !(path in allowed));
    expect(others.flatMap(({ problems }) => problems)).toEqual([]);
  });

  it('name each file that makes one', () => {
    const named = found.filter(({ path, problems }) => path in allowed && problems.length > 0);
    expect(named.map(({ path }) => path)).toEqual(Object.keys(allowed));
  });
});

describe('the rule of what is born old', () => {
  it.each([
    'function f(o, b) { o.wake = () => b; }',
    'class A { #w; m(b) { this.#w = async () => b; } }',
    'const f = (o, b) => { o.wake ??= function () { return b; }; };',
    'const f = (o, key, b) => { o[key] = () => b; };',
    'const f = (b) => ({ get b() { return b; } });',
    'const f = (b) => class { b() { return b; } };',
  ])('refuses: %s', (text) => {
    expect(bornOld('a.ts', text)).toHaveLength(1);
  });

  it.each([
    'function f(o, b) { const wake = () => b; o.wake = wake; }',
    'class A { w = () => this; get b() { return 1; } }',
    'const f = (b) => ({ wake: () => b, *all() { yield b; } });',
    'const f = (o, b) => { o.add(() => b); };',
    'module.handler = () => undefined;',
  ])('allows: %s', (text) => {
    expect(bornOld('a.ts', text)).toEqual([]);
  });
});

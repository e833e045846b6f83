import { describe, expect, it } from 'vitest';
import { sourceFiles } from '../support/source-tree.js';
import { isNode, nameOf, nodesOf, parse } from '../support/syntax.js';

/** The lists that run side by side without a bound: their file, how many it has, and why each stays short or does no work. */
const reviewed: readonly (readonly [path: string, lists: number, why: string])[] = [
  ['extensions/budget/src/accounts.ts', 1, 'one account for each kind of cap'],
  ['extensions/budget/src/budget-command.ts', 1, 'one line for each kind of cap'],
  ['extensions/guard/src/mcp/listen.ts', 1, 'a bounded number of sessions, which end'],
  ['extensions/guard/src/mcp/relay.ts', 1, 'they run already, as many as requests may be open'],
  ['extensions/http/src/server.ts', 1, 'it listens, and does no work'],
  ['extensions/guard/src/commands/install.ts', 1, 'the agents of the table'],
  ['extensions/import-openclaw/src/state/transcripts.ts', 1, 'the entries of one commit'],
  ['extensions/otel/src/index.ts', 1, 'one provider of traces and one of metrics'],
  ['src/agent/run/tool-calls.ts', 1, 'it waits for work that has begun'],
  ['src/claude/bridge/bridged-run.ts', 1, 'it waits for work that has begun'],
  ['src/cli/pipeline/with-set.ts', 1, 'the extensions of a command: an operator names each'],
  ['src/host/ingress/end-update.ts', 1, 'the messages of a batch: at most 50'],
  ['src/host/transcript/turn-writes.ts', 1, 'it waits for work that has begun'],
  ['src/openclaw/agent-events/bridge-agent-events.ts', 1, 'it waits for work that has begun'],
  ['src/openclaw/gateway/bridge/bridge-gateway.ts', 1, 'it waits for work that has begun'],
  ['src/openclaw/parity/compare-parity.ts', 1, 'the steps of a scenario: a test has written each'],
  ['src/openclaw/parity/divergence-of.ts', 1, 'the answers of a scenario: a test has written each'],
  ['src/openclaw/parity/parity-suite.ts', 1, 'it waits for work that has begun'],
  ['src/openclaw/plugin/runtime/web-media.ts', 1, 'the folders that a plugin names'],
  ['src/openclaw/runner/hook-runner.ts', 3, 'they wait for work that has begun'],
];

/** The path of a file, once for each of its lists that run side by side whatever their length. */
function unboundedLists(path: string, text: string): string[] {
  return nodesOf(parse(text, path)).flatMap((node) => {
    if (node.type !== 'CallExpression' || !isNode(node['callee'])) return [];
    const { object, property } = node['callee'];
    if (nameOf(object) !== 'Promise' || !/^(?:all|any|race)/.test(nameOf(property) ?? ''))
      return [];
    const [list] = [node['arguments']].flat().filter(isNode);
    if (list === undefined || isFixed(list)) return [];
    return [path];
  });
}

/** Returns whether a node is a list of the parts that stand there. */
function isFixed(node: object): boolean {
  const { type, elements } = node as { readonly type: string; readonly elements?: unknown }; // fields are read by name
  const parts = [elements].flat().filter(isNode);
  return type === 'ArrayExpression' && parts.every((part) => part.type !== 'SpreadElement');
}

describe('the lists of the sources', () => {
  const found = sourceFiles('src', 'extensions')
    .filter(({ path }) => !path.includes('/test/') && !path.endsWith('.d.ts'))
    .flatMap(({ path, text }) => (text.includes('Promise.') ? unboundedLists(path, text) : []));

  it('run side by side within a bound of p-limit, unless the table says why they are short', () => {
    const allowed = reviewed.flatMap(([path, lists]) => Array<string>(lists).fill(path));
    expect(found.toSorted()).toEqual(allowed.toSorted());
  });
});

describe('the rule of lists', () => {
  it.each([
    'await Promise.all(rows.map(write));',
    'await Promise.allSettled(rows);',
    'await Promise.race(new Set(rows));',
    'await Promise.all([first, ...rows]);',
    'await Promise.all(\n  rows.map(write),\n);',
  ])('refuses: %s', (text) => {
    expect(unboundedLists('a.ts', text)).toHaveLength(1);
  });

  it.each([
    'await pLimit(8).map(rows, write);',
    'await Promise.all([one(), two()]);',
    'await Promise.race([work, late]);',
    'await limit.all(rows);',
  ])('allows: %s', (text) => {
    expect(unboundedLists('a.ts', text)).toEqual([]);
  });
});

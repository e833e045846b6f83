import { describe, expect, it } from 'vitest';
import { sourceFiles } from '../support/source-tree.js';
import { isNode, lineOf, nameOf, nodesOf, parse, type SyntaxNode } from '../support/syntax.js';

/** Milliseconds that a wait for something has at least, and a whole test: a bound for what hangs, on a machine however slow. */
const leastMs = { wait: 60_000, test: 300_000 };

/** The waits of a file of tests that a slow machine may end, in a sentence each. */
function hastyWaits(path: string, text: string): string[] {
  return nodesOf(parse(text, path)).flatMap((node) => {
    const problem = node.type === 'CallExpression' ? judge(node) : undefined;
    return problem === undefined ? [] : [`${path}:${lineOf(text, node.start)} ${problem}`];
  });
}

function judge(call: SyntaxNode): string | undefined {
  const args = [call['arguments']].flat().filter(isNode);
  const name = calleeOf(call['callee']);
  const last = args.at(-1);
  if (/^vi\.wait(?:For|Until)$/.test(name))
    return args.length < 2 || boundOf(last) < leastMs.wait
      ? `waits for less than ${leastMs.wait} ms`
      : undefined;
  if (name === 'AbortSignal.timeout')
    return boundOf(last) < leastMs.wait ? `gives less than ${leastMs.wait} ms` : undefined;
  if (/^(?:it|test)(?:\.(?:each|for|skipIf|runIf|concurrent))*$/.test(name) && args.length > 1)
    return args.slice(1).some((arg) => boundOf(arg) < leastMs.test)
      ? `ends a test before ${leastMs.test} ms`
      : undefined;
  return undefined;
}

/** `vi.waitFor` of `vi.waitFor(...)`, `it.each` of `it.each(...)(...)`. */
function calleeOf(callee: unknown): string {
  if (!isNode(callee)) return '';
  if (callee.type === 'CallExpression' || callee.type === 'TaggedTemplateExpression')
    return calleeOf(callee['callee'] ?? callee['tag']);
  if (callee.type === 'MemberExpression')
    return `${calleeOf(callee['object'])}.${nameOf(callee['property']) ?? ''}`;
  return nameOf(callee) ?? '';
}

/** The milliseconds that an argument says, as a number or as `timeout` of an object; any number if it says none. */
function boundOf(arg: SyntaxNode | undefined): number {
  if (arg?.type === 'Literal' && typeof arg['value'] === 'number') return arg['value'];
  const fields = arg?.type === 'ObjectExpression' ? [arg['properties']].flat().filter(isNode) : [];
  const timeout = fields.find(({ key }) => nameOf(key) === 'timeout')?.['value'];
  return isNode(timeout) ? boundOf(timeout) : Number.POSITIVE_INFINITY;
}

describe('the tests', () => {
  it('wait for what comes as long as a slow machine takes', () => {
    const files = sourceFiles('test', 'extensions').filter(({ path }) => path.endsWith('.test.ts'));
    expect(files.flatMap(({ path, text }) => hastyWaits(path, text))).toEqual([]);
  });
});

describe('the rule of waits', () => {
  it.each([
    'await vi.waitFor(() => ready());',
    'await vi.waitFor(() => ready(), 1_000);',
    'await vi.waitUntil(ready, { timeout: 5_000, interval: 5 });',
    'fetch(url, { signal: AbortSignal.timeout(10_000) });',
    'it("works", () => undefined, 30_000);',
    'it.each([1])("works", { timeout: 20_000 }, () => undefined);',
  ])('refuses: %s', (text) => {
    expect(hastyWaits('a.test.ts', text)).toHaveLength(1);
  });

  it.each([
    'await vi.waitFor(() => ready(), 60_000);',
    'await vi.waitFor(() => ready(), patiently);',
    'it("works", () => undefined);',
    'it("works", { timeout: 600_000 }, () => wait(5));',
  ])('allows: %s', (text) => {
    expect(hastyWaits('a.test.ts', text)).toEqual([]);
  });
});

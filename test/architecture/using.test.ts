import { describe, expect, it } from 'vitest';
import { sourceFiles } from '../support/source-tree.js';
import { isNode, lineOf, nameOf, nodesOf, parse, type SyntaxNode } from '../support/syntax.js';

/*
 * `using` gives a thing back when its block is left, and `return work()` leaves the block before the work has ended. So an async
 * function that has a thing waits for what it returns.
 */

type Tree = { readonly path: string; readonly text: string; readonly nodes: readonly SyntaxNode[] };

const treeOf = (path: string, text: string): Tree => ({
  ...{ path, text, nodes: nodesOf(parse(text, path)) },
});

/** The names of the async functions and methods of these files. */
function asyncNames(trees: readonly Tree[]): Set<string | undefined> {
  const named = trees.flatMap(({ nodes }) =>
    nodes.flatMap((node) => {
      if (node.type === 'FunctionDeclaration' && node['async'] === true) return [node['id']];
      const value = node.type === 'MethodDefinition' ? node['value'] : undefined;
      return isNode(value) && value['async'] === true ? [node['key']] : [];
    }),
  );
  return new Set(named.map(memberOf));
}

function memberOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  return node.type === 'PrivateIdentifier' ? `#${String(node['name'])}` : nameOf(node);
}

/** The returns of an async call, not waited for, in a block that has something. */
function hastyReturns({ path, text, nodes }: Tree, names: ReadonlySet<string | undefined>) {
  return nodes.flatMap((block) => {
    const body = block.type === 'BlockStatement' ? [block['body']].flat().filter(isNode) : [];
    const at = body.findIndex(({ kind }) => kind === 'using' || kind === 'await using');
    return (at < 0 ? [] : body.slice(at + 1))
      .flatMap(returned)
      .filter((value) => isAsyncCall(value, names))
      .map(({ start }) => `${path}:${lineOf(text, start)}`);
  });
}

/** All that a statement may return from its own function. */
function returned(node: SyntaxNode): SyntaxNode[] {
  if (/Function|Class|MethodDefinition/.test(node.type)) return [];
  if (node.type === 'ReturnStatement') return isNode(node['argument']) ? [node['argument']] : [];
  return Object.values(node).flat().filter(isNode).flatMap(returned);
}

function isAsyncCall(value: SyntaxNode, names: ReadonlySet<string | undefined>): boolean {
  const { type } = value;
  if (type === 'ConditionalExpression' || type === 'LogicalExpression')
    return ['left', 'right', 'consequent', 'alternate'].some((side) => {
      const one = value[side];
      return isNode(one) && isAsyncCall(one, names);
    });
  const callee = type === 'CallExpression' ? value['callee'] : undefined;
  return isNode(callee) && names.has(memberOf(callee['property'] ?? callee));
}

describe('the source', () => {
  it('gives nothing back before the work that it is for has ended', () => {
    const trees = sourceFiles('src', 'extensions')
      .filter(({ path }) => !path.includes('/test/'))
      .map(({ path, text }) => treeOf(path, text));
    const names = asyncNames(trees);
    expect(trees.flatMap((tree) => hastyReturns(tree, names))).toEqual([]);
  });
});

describe('the rule of what is given back', () => {
  const known = 'async function work() {} class A { async #work() {} }';
  it.each([
    ['return work();', 1],
    ['if (a) return this.#work();', 1],
    ['return a ? 1 : work();', 1],
    ['return a.b ?? this.#work(1);', 1],
    ['return await work();', 0],
    ['return other();', 0],
    ['return (await work()) ?? other();', 0],
    ['const f = () => { return work(); };', 0],
  ])('finds in "%s" %i', (text, count) => {
    const tree = treeOf('a.ts', `${known} async function f() { using place = a; ${text} }`);
    expect(hastyReturns(tree, asyncNames([tree]))).toHaveLength(count);
    const bare = treeOf('a.ts', `${known} async function f() { ${text} using place = a; }`);
    expect(hastyReturns(bare, asyncNames([bare]))).toEqual([]);
  });
});

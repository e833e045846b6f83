import { readProjectFile } from './source-tree.js';
import { isNode, literalOf, nodesOf, parse } from './syntax.js';

/** The titles that a test file gives to its tests and groups of tests, as they stand there. */
export function testTitles(path: string): Set<string> {
  const titles = new Set<string>();
  for (const node of nodesOf(parse(readProjectFile(path), path))) {
    if (node.type !== 'CallExpression' || !isTest(node.callee)) continue;
    const [title] = node.arguments as readonly unknown[];
    titles.add(literalOf(title) ?? '');
  }
  return titles;
}

/** `it`, `describe`, and what is called on them: `it.each(rows)`, `describe.skipIf(absent)`. */
function isTest(callee: unknown): boolean {
  if (!isNode(callee)) return false;
  if (callee.type === 'Identifier') return callee.name === 'it' || callee.name === 'describe';
  return isTest(callee.type === 'MemberExpression' ? callee.object : callee.callee);
}

import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { divergences } from '../openclaw/installed-replies/divergences.js';
import { literalOf, nameOf, nodesOf, parse, type SyntaxNode } from '../support/syntax.js';

const spec = readFileSync(new URL('../../spec/callback-order.md', import.meta.url), 'utf8');
const proof = /`([\w/.-]+\.ts) › ([^`]+)`/g;

/** The title of a test where a node is one: `it('…')`, `test('…')`, `it.each(…)('…')`. */
function titleOf({ type, callee, arguments: given }: SyntaxNode): string | undefined {
  if (type !== 'CallExpression' || !Array.isArray(given)) return undefined;
  let called = callee as SyntaxNode; // every call has one
  while (called.type !== 'Identifier') {
    const inner = called.type === 'CallExpression' ? called['callee'] : called['object'];
    if (inner === undefined) return undefined;
    called = inner as SyntaxNode; // an expression
  }
  return ['it', 'test'].includes(nameOf(called) ?? '') ? literalOf(given[0]) : undefined;
}

function titlesIn(file: string): readonly string[] {
  const path = new URL(`../${file}`, import.meta.url);
  if (!existsSync(path)) return [];
  return nodesOf(parse(readFileSync(path, 'utf8'), file)).flatMap((node) => titleOf(node) ?? []);
}

/** The rows of every table that has a column of proofs. */
function rowsWithProofs(): readonly string[] {
  const tables = spec.split('\n\n').filter((part) => /^\|.*\| proof \|/.test(part));
  return tables.flatMap((table) => table.trim().split('\n').slice(2));
}

describe('spec/callback-order.md', () => {
  it('names a test for each of its rows', () => {
    expect(rowsWithProofs().length).toBeGreaterThan(40);
    for (const row of rowsWithProofs()) expect(row).toMatch(/`[\w/.-]+\.ts › [^`]+` \|$/);
  });

  it('cites tests that exist', () => {
    const cited = [...spec.matchAll(proof)].map(([, file = '', title = '']) => ({ file, title }));
    const missing = cited.filter(({ file, title }) => !titlesIn(file).includes(title));
    expect(missing).toEqual([]);
  });

  it('has every deliberate difference that the differential allows, and no other', () => {
    const [, table = ''] = spec.split('### Divergences');
    const named = [...table.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name);
    expect(named).toEqual(divergences.map(({ name }) => name));
  });
});

import { parseAst } from 'rolldown/parseAst';

/** A node of a syntax tree (ESTree with TypeScript), as far as the tests read it. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/**
 * Parses a TypeScript file.
 *
 * @throws with the place, if it is not well formed.
 */
export function parse(text: string, path = 'file.ts'): SyntaxNode {
  const lang = path.endsWith('.d.ts') ? 'dts' : 'ts';
  return parseAst(text, { lang }, path) as unknown as SyntaxNode; // the tests read fields by name
}

/** Every node of a tree, parents first, in the order of the text. */
export function nodesOf(tree: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const open = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    found.push(node);
    open.push(...Object.values(node).flat().filter(isNode).reverse());
  }
  return found;
}

/** Whether a field of a node holds a node. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** The text of a string literal, or nothing where the node is none. */
export function literalOf(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  if (value.type === 'Literal' && typeof value.value === 'string') return value.value;
  if (value.type !== 'TSLiteralType') return undefined;
  return literalOf(value.literal);
}

/** The name of an identifier (or of a string that serves as one), or nothing. */
export function nameOf(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  return value.type === 'Identifier' ? String(value.name) : literalOf(value);
}

/** The line of a place in a text, from 1. */
export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

import { parseSync } from 'rolldown/utils';
import type { SourceFile } from './source-tree.js';
import { isNode, nameOf, nodesOf, type SyntaxNode } from './syntax.js';

/** A function or a type, and its size: code lines of the one, own and inherited fields of the other. */
export interface Sized {
  readonly name: string;
  readonly size: number;
}

/** A file whose comments are spaces: what is left are tokens of the language, in their lines. */
interface Tokens {
  readonly path: string;
  readonly text: string;
  readonly tree: SyntaxNode;
}

const functions: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
]);

/** Reads files once, for all measures. */
export function tokensOf(files: readonly SourceFile[]): Tokens[] {
  return files
    .filter(({ path }) => !path.endsWith('.d.ts'))
    .map(({ path, text }) => {
      const { program, comments } = parseSync(path, text);
      const parts: string[] = [];
      let end = 0;
      for (const comment of comments) {
        parts.push(text.slice(end, comment.start));
        parts.push(text.slice(comment.start, comment.end).replaceAll(/[^\n]/g, ' '));
        end = comment.end;
      }
      parts.push(text.slice(end));
      return { path, text: parts.join(''), tree: program as unknown as SyntaxNode }; // the tests read fields by name
    });
}

/** The lines that have a token. */
export function codeLinesOf(text: string): number {
  return text.split('\n').filter((line) => line.trim() !== '').length;
}

/** The functions, methods and closures, largest first. */
export function functionsOf(files: readonly Tokens[]): Sized[] {
  const found = files.flatMap(({ path, text, tree }) =>
    nodesOf(tree)
      .filter(({ type }) => functions.has(type))
      .map((node) => ({
        name: `${path}: ${nameOf(node.id) ?? text.slice(node.start, node.start + 40).split('\n')[0]}`,
        size: codeLinesOf(text.slice(node.start, node.end)),
      })),
  );
  return found.sort((left, right) => right.size - left.size);
}

/** The types whose name says that they are handed over as one: options, parts, settings, a request. Their fields with those that they extend. */
export function bagsOf(files: readonly Tokens[]): Sized[] {
  const bodies = new Map<string, { readonly fields: number; readonly bases: readonly string[] }>();
  for (const node of files.flatMap(({ tree }) => nodesOf(tree))) {
    const name = nameOf(node.id);
    if (node.type !== 'TSInterfaceDeclaration' || name === undefined || !isNode(node.body))
      continue;
    const fields = Array.isArray(node.body.body) ? node.body.body.length : 0;
    const bases = Array.isArray(node.extends)
      ? node.extends.flatMap((base: SyntaxNode) => nameOf(base.expression) ?? [])
      : [];
    bodies.set(name, { fields, bases });
  }
  const sizeOf = (name: string): number => {
    const body = bodies.get(name);
    return body === undefined
      ? 0
      : body.bases.reduce((sum, base) => sum + sizeOf(base), body.fields);
  };
  return [...bodies.keys()]
    .filter((name) => /(?:Options|Parts|Settings|Request|Context|Plugin|Config)$/.test(name))
    .map((name) => ({ name, size: sizeOf(name) }))
    .sort((left, right) => right.size - left.size);
}

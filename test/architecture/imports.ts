import { posix } from 'node:path';
import type { SourceFile } from '../support/source-tree.js';
import { isNode, lineOf, literalOf, nodesOf, parse } from '../support/syntax.js';
import { sourcesByName } from '../support/workspaces.js';

/** One import of a file: static, of types, by re-export, or dynamic. */
export interface Import {
  readonly specifier: string;
  readonly line: number;
}

/** Every import of a file, in the order of the text. A dynamic one must name its module literally. */
export function importsOf({ path, text }: SourceFile): Import[] {
  const found: Import[] = [];
  for (const node of nodesOf(parse(text, path))) {
    const source = sourceOf(node);
    if (source === undefined) continue;
    found.push({ specifier: literalOf(source) ?? '<computed>', line: lineOf(text, node.start) });
  }
  return found;
}

function sourceOf(node: { readonly type: string; readonly [field: string]: unknown }): unknown {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return node.source;
    case 'ExportNamedDeclaration':
      return node.source ?? undefined;
    case 'TSExternalModuleReference':
      return node.expression;
    case 'CallExpression': {
      const callee = node.callee;
      const [first] = node.arguments as readonly unknown[];
      return isNode(callee) && callee.name === 'require' ? first : undefined;
    }
    default:
      return undefined;
  }
}

/** The file that an import means, relative or by the name of a package below `src`; nothing for every other package. */
export function targetOf(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return sourcesByName.get(specifier);
  return posix.join(posix.dirname(from), specifier).replace(/\.([cm]?)js$/, '.$1ts');
}

/** Which files each file imports. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** The graph of some files; imports of packages that are not below `src` are left out. */
export function graphOf(files: readonly SourceFile[]): ImportGraph {
  return new Map(
    files.map((file) => [
      file.path,
      importsOf(file).flatMap(({ specifier }) => targetOf(file.path, specifier) ?? []),
    ]),
  );
}

/** One circle for each file from which the walk comes back to a file that it is still in. */
export function circlesOf(graph: ImportGraph): string[] {
  const done = new Set<string>();
  const way: string[] = [];
  const circles: string[] = [];
  const visit = (file: string): void => {
    if (done.has(file)) return;
    const at = way.indexOf(file);
    if (at >= 0) {
      circles.push([...way.slice(at), file].join(' -> '));
      return;
    }
    way.push(file);
    for (const next of graph.get(file) ?? []) visit(next);
    way.pop();
    done.add(file);
  };
  for (const file of graph.keys()) visit(file);
  return circles;
}

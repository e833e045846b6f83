import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { readProjectFile, root } from './source-tree.js';
import { isNode, literalOf, nameOf, parse, type SyntaxNode } from './syntax.js';

/** What a module exports: each name with its kind (function, class, const, interface, type, namespace). */
export type Surface = ReadonlyMap<string, string>;

/** Reads the exports of files, those that they pass on from others included. Reads each file once. */
export class SurfaceReader {
  readonly #read = new Map<string, Surface>();

  /** @throws if a file passes on what is not found. */
  surfaceOf(path: string): Surface {
    const known = this.#read.get(path);
    if (known !== undefined) return known;
    const found = new Map<string, string>();
    const body = parse(readProjectFile(path), path).body as readonly SyntaxNode[];
    for (const node of body) {
      if (node.type === 'ExportAllDeclaration') this.#addAll(found, path, node);
      else if (node.type === 'ExportNamedDeclaration') this.#addNamed(found, path, body, node);
      else if (node.type === 'ExportDefaultDeclaration') found.set('default', 'const');
    }
    const surface = new Map([...found].sort(([left], [right]) => (left < right ? -1 : 1)));
    this.#read.set(path, surface);
    return surface;
  }

  #addAll(found: Map<string, string>, path: string, node: SyntaxNode): void {
    const name = nameOf(node.exported);
    if (name !== undefined) found.set(name, 'namespace');
    else
      for (const [one, kind] of this.#elsewhere(path, node.source))
        if (one !== 'default' && (node.exportKind !== 'type' || isType(kind))) found.set(one, kind);
  }

  #addNamed(
    found: Map<string, string>,
    path: string,
    body: readonly SyntaxNode[],
    node: SyntaxNode,
  ): void {
    for (const { name, kind } of declared(node.declaration)) found.set(name, kind);
    for (const specifier of node.specifiers as readonly SyntaxNode[]) {
      const local = nameOf(specifier.local) ?? '';
      const kind = isNode(node.source)
        ? this.#elsewhere(path, node.source).get(local)
        : this.#kindOf(path, body, local);
      if (kind === undefined) throw new Error(`${path} exports ${local}, which is not found`);
      const onlyType = node.exportKind === 'type' || specifier.exportKind === 'type';
      found.set(nameOf(specifier.exported) ?? local, onlyType && !isType(kind) ? 'type' : kind);
    }
  }

  /** The kind of a name within its file, or within the one that it is imported from. */
  #kindOf(path: string, body: readonly SyntaxNode[], local: string): string | undefined {
    for (const node of body) {
      const own = declared(node).find(({ name }) => name === local);
      if (own !== undefined) return own.kind;
      if (node.type !== 'ImportDeclaration') continue;
      for (const specifier of node.specifiers as readonly SyntaxNode[]) {
        if (nameOf(specifier.local) !== local) continue;
        if (specifier.type === 'ImportNamespaceSpecifier') return 'namespace';
        return this.#elsewhere(path, node.source).get(nameOf(specifier.imported) ?? 'default');
      }
    }
    return undefined;
  }

  #elsewhere(path: string, source: unknown): Surface {
    const specifier = literalOf(source) ?? '';
    const target = posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts');
    if (specifier.startsWith('.') && existsSync(join(root, target))) return this.surfaceOf(target);
    throw new Error(`${path} passes on the exports of "${specifier}", which is not a file of src`);
  }
}

const kinds: Readonly<Record<string, string>> = {
  FunctionDeclaration: 'function',
  TSDeclareFunction: 'function',
  ClassDeclaration: 'class',
  TSInterfaceDeclaration: 'interface',
  TSTypeAliasDeclaration: 'type',
  TSEnumDeclaration: 'enum',
  TSModuleDeclaration: 'namespace',
};

function declared(node: unknown): { readonly name: string; readonly kind: string }[] {
  if (!isNode(node)) return [];
  if (node.type === 'VariableDeclaration')
    return (node.declarations as readonly SyntaxNode[]).flatMap(({ id }) => {
      const name = nameOf(id);
      return name === undefined ? [] : [{ name, kind: 'const' }];
    });
  const kind = kinds[node.type];
  const name = nameOf(node.id);
  return kind === undefined || name === undefined ? [] : [{ name, kind }];
}

function isType(kind: string): boolean {
  return kind === 'interface' || kind === 'type';
}

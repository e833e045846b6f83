import { posix } from 'node:path';
import type { SourceFile } from './source-tree.js';
import { isNode, literalOf, nameOf, nodesOf, parse, type SyntaxNode } from './syntax.js';
import { sourcesByName } from './workspaces.js';

/** A name that a module declares. */
export interface Declared {
  readonly module: string;
  readonly name: string;
}

/** One use of a type by a declaration. */
export interface Mention {
  readonly to: Declared;
  /** An interface or a class extends it, or a type that it is an argument of. */
  readonly isBase: boolean;
}

/** One statement that declares a name; an interface can have several. */
interface Site {
  readonly module: string;
  readonly node: SyntaxNode;
  /** The documentation comment in front of it. */
  readonly doc: string | undefined;
}

interface Export extends Declared {
  /** `export type`: a class, too, is only a type to those who import it. */
  readonly isTypeOnly: boolean;
}

interface Module {
  readonly sites: Map<string, Site[]>;
  readonly imports: Map<string, Declared>;
  readonly exports: Map<string, Export>;
  /** The modules of `export *`. */
  readonly passedOn: string[];
}

const kinds: Readonly<Record<string, string>> = {
  FunctionDeclaration: 'function',
  TSDeclareFunction: 'function',
  ClassDeclaration: 'class',
  TSInterfaceDeclaration: 'interface',
  TSTypeAliasDeclaration: 'type',
};

/** The modules of some files, sources or declarations, and the way of a name from one to another. Each is read once. */
export class Modules {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #modules = new Map<string, Module>();

  constructor(files: readonly SourceFile[]) {
    this.#texts = new Map(files.map(({ path, text }) => [path, text]));
    for (const { path, text } of files) if (text.includes('declare module')) this.#augment(path);
  }

  /** @throws if the module passes on a name that is not found. */
  exportsOf(path: string): ReadonlyMap<string, Declared & { readonly kind: string }> {
    const { exports, passedOn } = this.#module(path);
    const found = new Map<string, Declared & { readonly kind: string }>();
    for (const other of passedOn) for (const one of this.exportsOf(other)) found.set(...one);
    found.delete('default');
    for (const [name, { isTypeOnly }] of exports) {
      const declared = this.#exported(path, name);
      if (declared === undefined) throw new Error(`${path} exports ${name}, which is not found`);
      const kind = this.kindOf(declared);
      found.set(name, { ...declared, kind: isTypeOnly && kind !== 'interface' ? 'type' : kind });
    }
    return new Map([...found].sort(([left], [right]) => (left < right ? -1 : 1)));
  }

  /** `function`, `class`, `const`, `interface` or `type`. */
  kindOf(declared: Declared): string {
    return kinds[this.#sites(declared)[0]?.node.type ?? ''] ?? 'const';
  }

  docOf(declared: Declared): string | undefined {
    return this.#sites(declared).find(({ doc }) => doc !== undefined)?.doc;
  }

  /** Whether the module that declares it exports it. */
  isExported({ module, name }: Declared): boolean {
    return this.#module(module).exports.has(name);
  }

  /** The types that a declaration names. It passes over `typeof`: a hover shows the type that comes of it. */
  mentionsOf(declared: Declared): Mention[] {
    return this.#sites(declared).flatMap(({ module, node }) => {
      const bases = new Set([node.extends, node.superClass].flat().filter(isNode).flatMap(nodesOf));
      return nodesOf(node).flatMap((one) => {
        const to = this.#named(module, one);
        return to === undefined ? [] : [{ to, isBase: bases.has(one) }];
      });
    });
  }

  #module(path: string): Module {
    const known = this.#modules.get(path);
    if (known !== undefined) return known;
    const text = this.#texts.get(path);
    if (text === undefined) throw new Error(`${path} is not among the files`);
    const module = { sites: new Map(), imports: new Map(), exports: new Map(), passedOn: [] };
    this.#modules.set(path, module);
    for (const node of bodyOf(parse(text, path))) this.#read(module, path, text, node);
    return module;
  }

  #read(module: Module, path: string, text: string, node: SyntaxNode): void {
    const source = this.#target(path, node.source);
    const specifiers = (node.specifiers ?? []) as readonly SyntaxNode[];
    if (node.type === 'ImportDeclaration') {
      if (source === undefined) return;
      for (const one of specifiers)
        module.imports.set(textOf(one.local), { module: source, name: textOf(one.imported) });
    } else if (node.type === 'ExportAllDeclaration') {
      if (source !== undefined) module.passedOn.push(source);
    } else {
      const isTypeOnly = node.exportKind === 'type';
      for (const name of addSites(module.sites, path, text, node))
        if (node.type.startsWith('Export'))
          module.exports.set(name, { module: path, name, isTypeOnly: false });
      for (const one of specifiers)
        module.exports.set(textOf(one.exported), {
          module: source ?? path,
          name: textOf(one.local),
          isTypeOnly: isTypeOnly || one.exportKind === 'type',
        });
    }
  }

  /** Adds the declarations of a `declare module` to those of the module that it names. */
  #augment(path: string): void {
    const text = this.#texts.get(path) ?? '';
    for (const node of bodyOf(parse(text, path))) {
      const target = node.type === 'TSModuleDeclaration' ? this.#target(path, node.id) : undefined;
      if (target === undefined || !isNode(node.body)) continue;
      for (const one of bodyOf(node.body)) {
        const declared = isNode(one.declaration) ? one.declaration : one;
        const module = this.#exported(target, nameOf(declared.id) ?? '')?.module ?? target;
        addSites(this.#module(module).sites, path, text, one);
      }
    }
  }

  #target(from: string, source: unknown): string | undefined {
    const name = literalOf(source) ?? '';
    const known = sourcesByName.get(name);
    if (known !== undefined) return this.#texts.has(known) ? known : declarationOf(known);
    const path = posix.join(posix.dirname(from), name).replace(/\.js$/, '');
    return [`${path}.ts`, `${path}.d.ts`].find((one) => this.#texts.has(one));
  }

  #sites({ module, name }: Declared): readonly Site[] {
    return this.#module(module).sites.get(name) ?? [];
  }

  #exported(path: string, name: string): Declared | undefined {
    const { exports, passedOn } = this.#module(path);
    const found = exports.get(name);
    if (found?.module === path) return this.#local(path, found.name);
    if (found !== undefined) return this.#exported(found.module, found.name);
    return passedOn.map((other) => this.#exported(other, name)).find((one) => one !== undefined);
  }

  #local(path: string, name: string): Declared | undefined {
    const { sites, imports } = this.#module(path);
    if (sites.has(name)) return { module: path, name };
    const imported = imports.get(name);
    return imported && this.#exported(imported.module, imported.name);
  }

  #named(module: string, node: SyntaxNode): Declared | undefined {
    switch (node.type) {
      case 'TSTypeReference':
        return this.#local(module, firstOf(node.typeName));
      case 'TSInterfaceHeritage':
      case 'TSClassImplements':
        return this.#local(module, firstOf(node.expression));
      case 'TSImportType': {
        const source = this.#target(module, node.source);
        return source === undefined ? undefined : this.#exported(source, firstOf(node.qualifier));
      }
      default:
        return undefined;
    }
  }
}

/** Among declarations: those of the build have no folder `src`. */
function declarationOf(source: string): string {
  return source.replace(/^src\//, '').replace(/\.ts$/, '.d.ts');
}

function bodyOf(node: SyntaxNode): readonly SyntaxNode[] {
  return node.body as readonly SyntaxNode[];
}

function textOf(identifier: unknown): string {
  return nameOf(identifier) ?? 'default';
}

/** The first name of `a.b.c`. */
function firstOf(name: unknown): string {
  if (!isNode(name)) return '';
  return firstOf(name.left ?? name.object) || (nameOf(name) ?? '');
}

/** Adds the names that a statement declares, and returns them. */
function addSites(
  sites: Map<string, Site[]>,
  module: string,
  text: string,
  statement: SyntaxNode,
): readonly string[] {
  const node = isNode(statement.declaration) ? statement.declaration : statement;
  const before = text.slice(0, statement.start).trimEnd();
  const doc = before.endsWith('*/') ? before.slice(before.lastIndexOf('/*')) : undefined;
  const declarations = ((node.declarations ?? [node]) as readonly SyntaxNode[]).filter(
    ({ id }) => nameOf(id) !== undefined,
  );
  const isDefault = statement.type === 'ExportDefaultDeclaration';
  for (const one of isDefault ? [node] : declarations) {
    const name = isDefault ? 'default' : textOf(one.id);
    sites.set(name, [...(sites.get(name) ?? []), { module, node: one, doc }]);
  }
  return isDefault ? ['default'] : declarations.map(({ id }) => textOf(id));
}

import { createRequire } from 'node:module';
import { extname } from 'node:path';

/** A place in a text: its line and its column, both from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** The part of esbuild that is used here. Its types need the DOM's. */
interface Compiler {
  transformSync(text: string, options: { loader: string; logLevel: 'silent' }): unknown;
}

const loaders: Readonly<Record<string, string>> = {
  '.json': 'json',
  '.ts': 'ts',
  '.mts': 'ts',
  '.tsx': 'tsx',
  '.jsx': 'jsx',
};

/**
 * Finds where a text breaks the syntax of its language. Node 20 says only that it does.
 *
 * @param file its name: the ending tells the language, JavaScript where no other one is known.
 * @returns nothing if no mistake is found.
 * @example
 * syntaxPlace('config.json', '{\n  a: 1\n}'); // { line: 2, column: 3 }
 */
export function syntaxPlace(file: string, text: string): TextPlace | undefined {
  // a CommonJS module, which cannot be typed here without its own declarations
  const compiler = createRequire(import.meta.url)('esbuild') as Compiler;
  try {
    compiler.transformSync(text, { loader: loaders[extname(file)] ?? 'js', logLevel: 'silent' });
    return undefined;
  } catch (thrown) {
    const { errors } = Object(thrown) as {
      readonly errors?: readonly { readonly location?: TextPlace | null }[];
    }; // as esbuild throws it
    const location = errors?.[0]?.location;
    return location ? { line: location.line, column: location.column + 1 } : undefined;
  }
}

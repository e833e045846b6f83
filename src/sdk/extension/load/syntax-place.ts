import { createRequire } from 'node:module';
import { extname } from 'node:path';

/** A place in a text: its line and its column (in UTF-16 units, as editors count), both from 1. */
interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** The part of esbuild that is used here. Its types need the DOM's. */
interface Compiler {
  transformSync(text: string, options: { loader: string; logLevel: 'silent' }): unknown;
}

/** A place as esbuild tells it: the line from 1, the column in bytes of UTF-8 from 0. */
interface CompilerPlace {
  readonly line: number;
  readonly column: number;
  readonly lineText: string;
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
 * @returns nothing if no mistake is found, or if the compiler cannot be loaded.
 * @example
 * syntaxPlace('config.json', '{\n  a: 1\n}'); // { line: 2, column: 3 }
 */
export function syntaxPlace(file: string, text: string): TextPlace | undefined {
  try {
    // a CommonJS module, which cannot be typed here without its own declarations
    const compiler = createRequire(import.meta.url)('esbuild') as Compiler;
    compiler.transformSync(text, { loader: loaders[extname(file)] ?? 'js', logLevel: 'silent' });
    return undefined;
  } catch (thrown) {
    const { errors } = Object(thrown) as {
      readonly errors?: readonly { readonly location?: CompilerPlace | null }[];
    }; // as esbuild throws it
    const location = errors?.[0]?.location;
    if (!location) return undefined;
    const before = Buffer.from(location.lineText).toString('utf8', 0, location.column);
    return { line: location.line, column: before.length + 1 };
  }
}

import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** `import`, `export ... from` and `import()` of a path that is written out. */
const imports = /(?:\bfrom|\bimport)\s*\(?\s*["'](\.{1,2}\/[^"'?]+)["']/g;

/**
 * Finds the file of a module, the files that it imports by a path that is written out, and so on: a change of one of them is
 * a change of the extension. It reads text, not syntax, so that an import in a comment counts, too.
 */
export function moduleFiles(entry: string): readonly string[] {
  const files = new Set([entry]);
  for (const file of files)
    for (const [, path = ''] of textOf(file).matchAll(imports)) {
      const found = candidates(resolve(dirname(file), path)).find(isFile);
      if (found !== undefined) files.add(found); // the loop goes on with it
    }
  return [...files];
}

/** Lists the files that a path may mean: TypeScript writes `.js` for a `.ts`. */
function candidates(path: string): string[] {
  return [path, path.replace(/\.(m?)js$/, '.$1ts'), `${path}.ts`, `${path}.js`];
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Reads the text of a file; none while the file is gone, as it is for a moment when an editor saves it. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

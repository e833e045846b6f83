import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** `import`, `export ... from` and `import()` of a path that is written out. */
const imports = /(?:\bfrom|\bimport)\s*\(?\s*["'](\.{1,2}\/[^"'?]+)["']/g;

/**
 * The file of a module, and those that it imports by a path that is written out, and so on: what has to be watched to know
 * that an extension has changed. It reads text, not syntax: what a comment imports is watched as well.
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

/** Where a path may lead: TypeScript writes `.js` for what is a `.ts`. */
function candidates(path: string): string[] {
  return [path, path.replace(/\.(m?)js$/, '.$1ts'), `${path}.ts`, `${path}.js`];
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Its text; none where it is gone for a moment, as it is while an editor saves it. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, posix } from 'node:path';
import { describeDeclarations } from './described-declarations.js';
import { manifestOf, sourcesByName } from './workspaces.js';

/**
 * Makes the declarations that `tsc` wrote into a folder those of the two packages: fields get their descriptions, names of
 * workspaces become paths, those of the kernel go to a folder of their own, and those that no entry point reaches go.
 */
export function finishDeclarations(dist: string, kernelDist: string): void {
  describeDeclarations(dist);
  rmSync(kernelDist, { recursive: true, force: true });
  cpSync(join(dist, 'kernel'), kernelDist, { recursive: true });
  rmSync(join(dist, 'kernel'), { recursive: true });
  for (const path of declarationsIn(dist)) {
    const text = readFileSync(join(dist, path), 'utf8');
    const named = text.replace(
      /(['"])(@sluice\/[\w/-]+)\1/g,
      (all, quote: string, name: string) => {
        const source = sourcesByName.get(name);
        if (source === undefined)
          throw new TypeError(`${path} imports ${all}, which nothing exports.`);
        const to = posix
          .relative(posix.dirname(path), source.slice('src/'.length))
          .replace(/ts$/, 'js');
        return `${quote}${to.startsWith('.') ? to : `./${to}`}${quote}`;
      },
    );
    if (named !== text) writeFileSync(join(dist, path), named);
  }
  for (const path of declarationsIn(kernelDist)) {
    const text = readFileSync(join(kernelDist, path), 'utf8');
    const up = posix.relative(posix.dirname(path), '.') || '.';
    const own = text.replaceAll('import("sluice-kernel/internal")', `import("${up}/internal.js")`);
    if (own !== text) writeFileSync(join(kernelDist, path), own);
  }
  prune(dist, '.');
  prune(kernelDist, 'src/kernel');
}

/** Removes the declarations that no entry point of a package reaches. */
function prune(dist: string, folder: string): void {
  const reached = new Set<string>();
  const reach = (file: string): void => {
    if (reached.has(file) || !existsSync(join(dist, file))) return; // an example in a comment may name another
    reached.add(file);
    for (const [, name = ''] of readFileSync(join(dist, file), 'utf8').matchAll(
      /['"](\.[^'"]+)\.js['"]/g,
    ))
      reach(posix.join(posix.dirname(file), `${name}.d.ts`));
  };
  for (const entry of Object.values(manifestOf(folder).exports ?? {}))
    if (typeof entry !== 'string') reach(entry.types.replace('./dist/', ''));
  for (const path of declarationsIn(dist)) if (!reached.has(path)) rmSync(join(dist, path));
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' }).sort().reverse())
    if (statSync(join(dist, path)).isDirectory() && readdirSync(join(dist, path)).length === 0)
      rmSync(join(dist, path), { recursive: true });
}

function declarationsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.d.ts'));
}

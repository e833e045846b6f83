import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Begins to watch what handlers do outside of their results. @returns a function that ends it, and tells what they did. */
export type ParityWatch = () => () => unknown;

/**
 * Watches the files of a folder: the changes of each side, as texts by path. A file that was deleted is `null`. The folder is
 * put back as it was before the other side runs: give a folder of the test's own.
 *
 * @example
 * const report = await compareParity({ plugin: './acme', pluginConfig: { folder }, watch: { files: watchFolder(folder) }, ...scenario });
 * // { path: "effects.files['notes.txt']", legacy: 'hi', pipeline: undefined }
 */
export function watchFolder(folder: string): ParityWatch {
  return () => {
    mkdirSync(folder, { recursive: true });
    const before = filesIn(folder);
    return () => {
      const changes: Record<string, string | null> = {};
      for (const [path, text] of filesIn(folder)) {
        if (before.get(path) === text) continue;
        changes[path] = text;
        if (!before.has(path)) rmSync(join(folder, path));
      }
      for (const [path, text] of before) {
        const file = join(folder, path);
        if (statSync(file, { throwIfNoEntry: false }) === undefined) changes[path] = null;
        if (!Object.hasOwn(changes, path)) continue;
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
      return changes;
    };
  };
}

function filesIn(folder: string): ReadonlyMap<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
      .map((file) => [relative(folder, file), readFileSync(file, 'utf8')]),
  );
}

/**
 * Stands in for `fetch` while a side runs: the requests of each side with method, URL and text of the body. Nothing goes out.
 *
 * @param answer answers a request; by default with 200 and no body.
 * @example
 * watch: { requests: watchFetch(() => Response.json({ owner: 'me' }, { status: 409 })) }
 */
export function watchFetch(
  answer: (request: Request) => Response = () => new Response(),
): ParityWatch {
  return () => {
    const requests: object[] = [];
    const real = globalThis.fetch;
    globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      const { method, url } = request;
      const body = await request.clone().text();
      requests.push({ method, url, body });
      return answer(request);
    };
    return () => {
      globalThis.fetch = real;
      return requests;
    };
  };
}

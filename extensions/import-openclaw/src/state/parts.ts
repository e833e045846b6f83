import { existsSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { parse } from 'yaml';
import type { Draft } from '../convert/draft.js';
import { isRecord } from '../source/node.js';

/** A handler of internal hooks, with the module that has it. */
export interface Hook {
  readonly name: string;
  readonly events: readonly string[];
  readonly file: string;
  readonly exported: string;
}

const modules = ['handler.ts', 'handler.js', 'handler.mjs', 'index.ts', 'index.js'];

/** Reads a HOOK.md: the events of its front matter, and the module beside it. One that is broken is named. */
export function hookOf({ folder, broken }: Draft, at: string): Hook | undefined {
  const name = basename(at);
  const text = readFileSync(join(at, 'HOOK.md'), 'utf8');
  const [, front = ''] = /^---\r?\n([\s\S]*?)\r?\n---/.exec(text) ?? [];
  try {
    const { metadata }: { readonly metadata?: unknown } = parse(front) ?? {};
    const { openclaw } = isRecord(metadata) ? metadata : {};
    const { events, export: exported = 'default' } = isRecord(openclaw) ? openclaw : {};
    const named = [events].flat().filter((one) => typeof one === 'string');
    const file = modules.find((one) => existsSync(join(at, one)));
    if (named.length === 0 || file === undefined)
      throw new Error('it has no events, or no handler');
    return { name, events: named, file: `./hooks/${name}/${file}`, exported: String(exported) };
  } catch (thrown) {
    const { linePos } = thrown as { linePos?: readonly { readonly line: number }[] }; // as yaml throws it
    const line = (linePos?.[0]?.line ?? 0) + 1;
    broken.push(`${relative(folder, at)}/HOOK.md:${line}: ${String(thrown).split('\n')[0]}`);
    return undefined;
  }
}

/** The files of a plugin that has hooks and skills. */
export function partsOf(
  hooks: readonly Hook[],
  skills: readonly string[],
): Readonly<Record<string, string>> {
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  const id = 'openclaw-parts';
  const imports = hooks.map(
    ({ file }, at) => `import * as hook${at} from ${JSON.stringify(file)};\n`,
  );
  const calls = hooks.map(({ name, events, exported }, at) => {
    const handler = `hook${at}[${JSON.stringify(exported)}]`;
    return `  api.registerHook(${JSON.stringify(events)}, ${handler}, ${JSON.stringify({ name })});\n`;
  });
  return {
    'openclaw.plugin.json': json({
      ...{ id, configSchema: { type: 'object' } },
      skills: skills.map((name) => `./skills/${name}`),
    }),
    'package.json': json({
      ...{ name: id, private: true, type: 'module' },
      openclaw: { extensions: ['./index.mjs'] },
    }),
    'index.mjs': `${imports.join('')}export default function register(api) {\n${calls.join('')}}\n`,
  };
}

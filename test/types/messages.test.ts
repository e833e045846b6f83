import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { root } from '../support/source-tree.js';

/** Each line that is wrong, with the words that the compiler has to say of it. */
const wrong: readonly (readonly [line: string, ...words: string[]])[] = [
  [
    "api.mutate('egress.preparing', 'x', () => ({ contnt: '' }));",
    ...['egress.preparing has no .contnt', '".attachments" | ".content"'],
  ],
  [
    "api.mutate('egress.preparing', 'x', () => ({ content: '', contnt: '' }));",
    ...['egress.preparing has no .contnt', '".attachments" | ".content"'],
  ],
  [
    "api.mutate('egress.preparing', 'x', { preview: 'ok' }, async () => ({ contnt: '' }));",
    'egress.preparing has no .contnt',
  ],
  [
    "api.mutate('egress.preparing', 'x', ({ payload: { silent } }) => { if (silent) return; return { contnt: '' }; });",
    'egress.preparing has no .contnt',
  ],
  [
    "api.augment('egress.preparing', 'x', () => ({ note: [] }));",
    ...['egress.preparing has no .note', '".notes"'],
  ],
  [
    "api.veto('egress.sending', 'x', { failClosed: true }, () => allow());",
    ...['egress.sending has no veto', '"observer"'],
  ],
  [
    "api.observe('egress.sendng', 'x', () => undefined);",
    ...['there is no family egress.sendng', '"egress.sending"'],
  ],
  [
    "api.observe('egres.sending', 'x', () => undefined);",
    ...['there is no family egres.sending', '"egress.sending"'],
  ],
];

const right = `
  api.mutate('egress.preparing', 'x', ({ payload }) => ({ content: payload.content.trim() }));
  api.mutate('egress.preparing', 'x', async ({ payload }) => (payload.silent ? undefined : { content: '' }));
  api.augment('egress.preparing', 'x', () => ({ notes: ['a'] }));
  for (const family of ['egress.preparing', 'agent.llm.returning'] as const)
    api.veto(family, 'x', { failClosed: true }, () => allow());`;

it('the compiler names the field, the class or the family that is wrong, and those that there are (§3.1, §6.1)', () => {
  mkdirSync(join(root, 'node_modules/.cache'), { recursive: true });
  const project = mkdtempSync(join(root, 'node_modules/.cache/sluice-messages-'));
  try {
    const head = `import { allow, type ExtensionApi } from '${join(root, 'src/index.js')}';`;
    const generic = `export const each = <F extends FamilyAllowing<'observer'>>(api: ExtensionApi, family: F) => api.observe(family, 'x', () => undefined);`;
    const imported = `import type { FamilyAllowing } from '${join(root, 'src/index.js')}';`;
    const before = [head, imported, generic, 'export const f = (api: ExtensionApi) => {', right];
    const text = [...before, ...wrong.map(([line]) => line), '};'].join('\n');
    writeFileSync(join(project, 'author.ts'), text);
    const first = before.join('\n').split('\n').length + 1;
    const compilerOptions = { noEmit: true, composite: false, incremental: false };
    const config = { extends: join(root, 'tsconfig.json'), compilerOptions };
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ ...config, files: ['author.ts'], include: [] }),
    );
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const options = ['-p', project, '--checkers', '1', '--pretty', 'false'];
    const { stdout } = spawnSync(process.execPath, [compiler, ...options], { encoding: 'utf8' });
    const told = new Map<number, string>();
    for (const message of stdout.split(/\n(?=\S)/)) {
      const line = Number(/author\.ts\((\d+),/.exec(message)?.[1]);
      told.set(line, (told.get(line) ?? '') + message);
    }
    expect([...told.keys()]).toEqual(wrong.map((_, at) => first + at));
    for (const [at, [line, ...words]] of wrong.entries())
      for (const word of words)
        expect(told.get(first + at)?.replaceAll('\\"', '"'), line).toContain(word);
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
});

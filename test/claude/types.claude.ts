import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { root } from '../support/source-tree.js';
import { describeClaude, sdkFolder } from './claude-lab.js';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Compiles a file that sees both the real SDK's types and ours. @returns what the compiler said. */
function compile(source: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-types-')));
  folders.push(folder);
  const sdk = join(sdkFolder, 'node_modules', '@anthropic-ai', 'claude-agent-sdk', 'sdk.d.ts');
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      paths: {
        '@anthropic-ai/claude-agent-sdk': [sdk],
        'sluice/*': [join(root, 'src', '*', 'index.ts')],
      },
      typeRoots: [join(root, 'node_modules', '@types')],
    },
    files: ['assignable.ts'],
    include: [],
  };
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'assignable.ts'), source);
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
  return stdout.trim();
}

describeClaude('the structural copy of the SDK’s types', () => {
  it('fits the SDK: what we give it, and what it gives us; a difference would be seen', () => {
    const said = compile(`
      import { type CanUseTool, type HookCallback, type Options, query, type SDKMessage } from '@anthropic-ai/claude-agent-sdk';
      import type { ClaudeQuery, ClaudeQueryOptions } from 'sluice/agent';
      import type { CsdkCanUseTool, CsdkFrame, CsdkHook, CsdkHooks, CsdkToolGate } from 'sluice/csdk';

      declare const ours: { options: ClaudeQueryOptions; gate: CsdkToolGate; hooks: CsdkHooks; hook: CsdkHook; can: CsdkCanUseTool };
      declare const other: Omit<ClaudeQueryOptions, 'permissionMode'> & { permissionMode: 'always' };
      declare const message: SDKMessage;
      export const options: Options = ours.options;
      export const gate: Pick<Options, 'canUseTool' | 'hooks'> = ours.gate;
      export const hooks: Options['hooks'] & {} = ours.hooks;
      export const hook: HookCallback = ours.hook;
      export const can: CanUseTool = ours.can;
      export const frame: CsdkFrame = message;
      export const run: ClaudeQuery = query;
      // @ts-expect-error
      export const refused: Options = other;
    `);
    expect(said).toBe('');
  }, 90_000);
});

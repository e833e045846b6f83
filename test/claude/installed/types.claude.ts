import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { claudeOwnTools } from '../../../src/claude/agent/claude-tools.js';
import {
  type CsdkFrame,
  normalizeSession,
  type SessionDiagnostic,
} from '../../../src/claude/index.js';
import { says } from '../../support/messages-api/reply.js';
import { root } from '../../support/source-tree.js';
import { ClaudeLab, describeClaude, sdkFolder } from './claude-lab.js';

const folders: string[] = [];
const sdkTypes = join(sdkFolder, 'node_modules', '@anthropic-ai', 'claude-agent-sdk');

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Compiles a file that sees both the real SDK's types and ours. @returns what the compiler said. */
function compile(source: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-types-')));
  folders.push(folder);
  const sdk = join(sdkTypes, 'sdk.d.ts');
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      paths: {
        '@anthropic-ai/claude-agent-sdk': [sdk],
        'sluice/*': [join(root, 'src', '*.ts')],
      },
      typeRoots: [join(root, 'node_modules', '@types')],
    },
    files: ['assignable.ts', join(root, 'src/index.ts')], // the host says what may be provided
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

  it('knows every message that the SDK declares (csdk §8.2)', async () => {
    const words = [...readFileSync(join(sdkTypes, 'sdk.d.ts'), 'utf8').matchAll(/type: '(\w+)'/g)];
    const isKnown = async (frame: CsdkFrame): Promise<boolean> => {
      let told = false;
      const onDiagnostic = ({ kind }: SessionDiagnostic) => {
        told ||= kind === 'unknown_frame';
      };
      for await (const _ of normalizeSession([frame], { onDiagnostic }));
      return !told;
    };
    const known = async (frameOf: (word: string) => CsdkFrame): Promise<string> => {
      const names = new Set<string>();
      for (const [, word = ''] of words) if (await isKnown(frameOf(word))) names.add(`'${word}'`);
      return [...names].join(' | ');
    };
    const types = await known((type) => ({ type, subtype: 'init' }));
    const subtypes = await known((subtype) => ({ type: 'system', subtype }));
    const said = compile(`
      import type { SDKMessage } from '@anthropic-ai/claude-agent-sdk';
      type Unknown<Name, Known> = Exclude<Name, Known> extends never ? 'none' : Exclude<Name, Known>;
      export const types: Unknown<SDKMessage['type'], ${types}> = 'none';
      export const subtypes: Unknown<Extract<SDKMessage, { type: 'system' }>['subtype'], ${subtypes}> = 'none';
    `);
    expect(said).toBe('');
  }, 90_000);

  it('names every tool of the SDK, so that no tool of a host takes its place (§16.24)', async () => {
    await using lab = await ClaudeLab.start(
      { main: [says('Hello.')] },
      { sdk: { disallowedTools: [] } },
    );
    const { frames } = await lab.turn('Hello');
    const { tools } = frames.find(({ subtype }) => subtype === 'init') as { tools?: string[] };
    expect(tools).toContain('Bash');
    expect(tools?.filter((name) => !claudeOwnTools.includes(name))).toEqual([]);
  });
});

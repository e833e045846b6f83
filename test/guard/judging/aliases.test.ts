import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentCodec, Heard, JsonObject } from '../../../extensions/guard/src/agents/codec.js';
import { fromShared, toShared } from '../../../extensions/guard/src/judging/aliases.js';
import { realPath } from '../../../extensions/guard/src/judging/paths.js';

const codec: AgentCodec = {
  agent: 'lab',
  title: 'Lab',
  release: 'lab 1',
  proof: 'documented',
  points: {},
  tools: {
    Bash: { is: 'shell', params: { cmd: 'command' } },
    Edit: { is: 'write', params: { file_path: 'path', notebook_path: 'path', text: 'content' } },
    Get: { is: 'fetch', params: { uri: 'url' } },
  },
};

let folder = '';
beforeAll(() => {
  folder = realpathSync.native(mkdtempSync(join(tmpdir(), 'guard-paths-')));
  for (const one of ['secret', 'work/sub']) mkdirSync(join(folder, one), { recursive: true });
  writeFileSync(join(folder, 'secret/key'), '');
  writeFileSync(join(folder, 'work/cafe\u0301'), '');
  symlinkSync('../secret', join(folder, 'work/link'));
  symlinkSync('../secret/new', join(folder, 'work/dangling'));
  symlinkSync('loop', join(folder, 'work/loop'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const heard = (toolName: string, params: JsonObject): Heard => ({
  sessionId: 's',
  workspaceDir: join(folder, 'work'),
  toolName,
  params,
});
const real = (path: string): string => realPath(path, join(folder, 'work'));

describe('a path of a call', () => {
  it.each([
    ['a.txt', 'work/a.txt'],
    ['./sub/../a.txt', 'work/a.txt'],
    ['sub//./b', 'work/sub/b'],
    ['../secret/key', 'secret/key'],
    ['none/../../secret/key', 'secret/key'],
    ['link/key', 'secret/key'],
    ['link/none/deep', 'secret/none/deep'],
    ['dangling', 'secret/new'],
    ['dangling/deep', 'secret/new/deep'],
    ['cafe\u0301', 'work/caf\u00e9'],
    ['new-cafe\u0301', 'work/new-caf\u00e9'],
    ['sub/', 'work/sub'],
    ['a\\b', 'work/a\\b'],
  ])('%j is the file that the system would open', (written, name) => {
    expect(real(written)).toBe(join(folder, name));
  });

  it('starts in the home of the user if it starts with a tilde', () => {
    expect(real('~/.ssh/none-of-this-name')).toMatch(/\/\.ssh\/none-of-this-name$/);
    expect(real('~')).toBe(realpathSync.native(process.env['HOME'] ?? ''));
    expect(real('~$draft.docx')).toBe(join(folder, 'work/~$draft.docx'));
  });

  it.each([
    ['', /1 to 4096 characters/],
    ['a'.repeat(10_000_000), /1 to 4096 characters/],
    ['a\0b', /control character/],
    ['a\nb', /control character/],
    ['a\ud800', /half a character/],
    ['a\u202egnp.sh', /control character/],
    ['~root/.ssh', /home of a user/],
    ['link/../a.txt', /".." after a symbolic link/],
    ['loop', /cannot be followed: ELOOP/],
    [`${'n'.repeat(300)}/x`, /cannot be followed: ENAMETOOLONG/],
  ])('that cannot be read for certain is refused, as %.20j', (written, reason) => {
    expect(() => real(written)).toThrow(reason);
  });

  it('needs a folder to start from', () => {
    expect(() => realPath('a', 'work')).toThrow(/must be an absolute path/);
  });
});

describe('a call in the shared words', () => {
  it('keeps the parameters that have no shared word, and a tool without an alias its name', () => {
    expect(toShared(codec, heard('Bash', { cmd: 'ls', timeout: 3 }))).toEqual({
      toolName: 'shell',
      params: { command: 'ls', timeout: 3 },
    });
    for (const name of ['mcp__x__y', 'constructor', '__proto__'])
      expect(toShared(codec, heard(name, { cmd: 'ls' }))).toEqual({
        toolName: name,
        params: { cmd: 'ls' },
      });
  });

  it('has a command that comes in words as one text of shell', () => {
    const { params } = toShared(codec, heard('Bash', { cmd: ['bash', '-lc', "echo 'a' b"] }));
    expect(params).toEqual({ command: String.raw`bash -lc 'echo '\''a'\'' b'` });
  });

  it('has a URL in its normal form', () => {
    const { params } = toShared(codec, heard('Get', { uri: 'hTTps://EXAMPLE.com:443/a/../b' }));
    expect(params).toEqual({ url: 'https://example.com/b' });
  });

  it.each([
    ['two own words for one', { file_path: 'a', notebook_path: 'b' }],
    ['an own word that is a shared one', { file_path: 'a', path: 'b' }],
  ])('is refused if its words clash: %s', (_, params) => {
    expect(() => toShared(codec, heard('Edit', params))).toThrow(/says "path" twice/);
  });

  it('is refused without a tool, and if a parameter with a shared word is no text', () => {
    const { toolName: _, ...none } = heard('Edit', {});
    expect(() => toShared(codec, none)).toThrow(/names no tool/);
    expect(() => toShared(codec, heard('Edit', { file_path: 3 }))).toThrow(/must be a text/);
  });
});

describe('changed parameters', () => {
  it('are said in the own words, and what is as it was judged stays as it was written', () => {
    const edit = heard('Edit', { notebook_path: 'sub/../a', text: 'x', mode: 1 });
    const { params } = toShared(codec, edit);
    expect(fromShared(codec, edit, params)).toEqual(edit.params);
    expect(fromShared(codec, edit, { ...params, content: 'y', mode: 2 })).toEqual({
      notebook_path: 'sub/../a',
      text: 'y',
      mode: 2,
    });
    expect(fromShared(codec, edit, { path: '/b' })).toEqual({ notebook_path: '/b' });
  });

  it('of a command in words are a command in words', () => {
    const call = heard('Bash', { cmd: ['ls', 'a b'] });
    expect(fromShared(codec, call, toShared(codec, call).params)).toEqual(call.params);
    expect(fromShared(codec, call, { command: 'ls -l' })).toEqual({ cmd: ['bash', '-c', 'ls -l'] });
  });

  it('are refused if they say a thing in two words', () => {
    const edit = heard('Edit', { file_path: 'a' });
    expect(() => fromShared(codec, edit, { path: '/a', file_path: '/b' })).toThrow(/twice/);
  });

  it('keep a name that is no field of an object', () => {
    const call = heard('Bash', JSON.parse('{"cmd":"ls","__proto__":{"x":1}}'));
    const { params } = toShared(codec, call);
    expect(Object.keys(params)).toEqual(['command', '__proto__']);
    expect(JSON.stringify(fromShared(codec, call, params))).toBe(JSON.stringify(call.params));
  });
});

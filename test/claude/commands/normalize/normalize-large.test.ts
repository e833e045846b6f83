import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cliProgram } from '../../../support/compiled.js';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const turns = 1_000;
const megabytes = 64;

let folder = '';
const file = (): string => join(folder, 'large.jsonl');

/** One turn: a streamed answer, a tool call with a large result, and the turn's end. */
function turn(number: number): string {
  let frames = 0;
  const line = (fields: object): string =>
    `${JSON.stringify({ session_id: 's', uuid: `${number}-${++frames}`, parent_tool_use_id: null, ...fields })}\n`;
  const raw = (event: object): string => line({ type: 'stream_event', event });
  const id = `message-${number}`;
  const text = 'word '.repeat(20);
  return [
    line({ type: 'system', subtype: 'init', model: 'm' }),
    raw({ type: 'message_start', message: { id, content: [] } }),
    raw({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...Array.from({ length: 20 }, () =>
      raw({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'word ' } }),
    ),
    line({ type: 'assistant', message: { id, content: [{ type: 'text', text }] } }),
    raw({ type: 'content_block_stop', index: 0 }),
    line({
      type: 'assistant',
      message: {
        id,
        content: [{ type: 'tool_use', id: `call-${number}`, name: 'Read', input: {} }],
      },
    }),
    raw({ type: 'message_stop' }),
    line({
      type: 'user',
      message: {
        content: [
          {
            type: 'tool_result',
            tool_use_id: `call-${number}`,
            content: 'x'.repeat(megabytes * 950),
          },
        ],
      },
    }),
    line({ type: 'result', subtype: 'success', is_error: false, usage: { input_tokens: 1 } }),
  ].join('');
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-large-'));
  const out = createWriteStream(file());
  for (let number = 0; number < turns; number++)
    if (!out.write(turn(number))) await once(out, 'drain');
  out.end();
  await once(out, 'finish');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the command with so little memory that it cannot hold the file, and counts the events that it prints. */
async function normalized(...options: readonly string[]) {
  const args = ['--max-old-space-size=56', cliProgram, 'normalize', ...options, file()];
  const child = spawn(process.execPath, args, { cwd: root, env: { PATH: process.env['PATH'] } });
  let stderr = '';
  let ends = 0;
  let bytes = 0;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    for (let at = -1; (at = chunk.indexOf('"usage":', at + 1)) !== -1; ) ends++;
  });
  const [code] = await once(child, 'close');
  return { code, stderr, ends, bytes };
}

describe('a recording that is larger than memory', () => {
  it('is printed as session events', async () => {
    const { code, stderr, ends, bytes } = await normalized();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(ends).toBeGreaterThan(turns * 0.95); // a chunk's border may hide one
    expect(bytes).toBeGreaterThan(megabytes * 900_000);
  });

  it('is printed as coder events', async () => {
    const { code, stderr, bytes } = await normalized('--coder');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(bytes).toBeGreaterThan(megabytes * 900_000);
  });

  it('is checked', async () => {
    expect(await normalized('--check')).toEqual({ code: 0, stderr: '', ends: 0, bytes: 0 });
  });
});

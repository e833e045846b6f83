import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { createHost } from '../../../src/host/index.js';
import { pinoLogger } from '../../../src/host/logging/pino-logger.js';
import { inertJson, inertText } from '../../../src/kernel/internal.js';
import { consoleChannel } from '../../../src/sdk/channel/index.js';
import { testFolder } from '../../support/folder.js';
import { jsonLines } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

/** A title, a colour, C1's own escape and string, a bell, and every character that turns the direction. */
const codes = [0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067];
const shapes = [0x206a, 0x206b, 0x206c, 0x206d, 0x206e, 0x206f];
const turning = String.fromCodePoint(...codes, 0x2068, 0x2069, ...shapes);
const hostile = `a\u001b]0;owned\u0007b\u001b[31mc\u009b2Jd\u0090e\u007f${turning}\tf`;

const acting = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/u;

/** The characters of an output that act on a terminal, as numbers. */
function actingIn(text: string): string[] {
  return [...text]
    .filter((one) => acting.test(one))
    .map((one) => `U+${one.codePointAt(0)?.toString(16)}`);
}

async function replyTo(line: string, render?: (message: { readonly content: string }) => string) {
  const written: string[] = [];
  const lines = {
    async *[Symbol.asyncIterator]() {
      yield line;
    },
  };
  const channel = consoleChannel({
    lines,
    write: (text) => void written.push(text),
    ...(render !== undefined && { render }),
  });
  const host = createHost({
    agents: [{ id: 'main', provider: echoProvider() }],
    channels: [channel],
  });
  await host.start();
  await host.stopped;
  return written.join('');
}

describe('L8: a text that acts on no terminal (§20.11)', () => {
  it('has its letters, line ends and tabs, and nothing that moves, paints or turns', () => {
    expect(inertText(hostile)).toBe('a ]0;owned b [31mc 2Jd e \tf');
    expect(inertText('one\n\ttwo\u200d👩‍🚀 é שלום')).toBe('one\n\ttwo\u200d👩‍🚀 é שלום');
  });

  it('is, as JSON, the same value', () => {
    const json = inertJson(JSON.stringify({ [hostile]: hostile }));
    expect(actingIn(json)).toEqual([]);
    expect(JSON.parse(json)).toEqual({ [hostile]: hostile });
  });

  it('is, as JSON, on one line for every reader', () => {
    expect(inertJson(JSON.stringify('a\u2028b\u2029c'))).toBe('"a\\u2028b\\u2029c"');
  });

  it('is what a log of JSON writes', () => {
    const lines: string[] = [];
    pinoLogger({ level: 'debug', write: (line) => void lines.push(line) }).warn(hostile, {
      detail: hostile,
    });
    expect(actingIn(lines.join(''))).toEqual([]);
    expect(JSON.parse(lines.join(''))).toMatchObject({ msg: hostile, detail: hostile });
  });

  it('is what the console channel writes, and what its renderer gets', async () => {
    expect(actingIn(await replyTo(hostile))).toEqual([]);
    expect(await replyTo(hostile, ({ content }) => `<${content}>`)).toBe(`<${inertText(hostile)}>`);
  });
});

describe('L8: what commands print of a hostile text (§20.11)', () => {
  it('acts on no terminal: a run, its log, and what is read of its journal, which keeps the text as it was', async () => {
    const cwd = testFolder();
    const at = ['--journal', join(cwd, 'j.db')];
    const sluice = (...args: readonly string[]) => runInMemory([...args, ...at], '', { cwd });
    const run = await runInMemory(['run', '--debug', ...at], `${hostile}\n`, { cwd });
    const list = await sluice('journal', 'list', '--json');
    const [{ eventId }] = jsonLines<{ eventId: string }>(list.stdout) as [{ eventId: string }];
    const json = await sluice('journal', 'show', eventId, '--json');
    type Told = { readonly dispatches: readonly { readonly eventId: string }[] };
    const [{ dispatches }] = jsonLines<Told>(json.stdout) as [Told];
    const shown = [run, list, json];
    for (const more of [[], ['--sends'], ['--sends', '--json']])
      shown.push(await sluice('journal', 'list', ...more));
    shown.push(await sluice('journal', 'show', eventId));
    for (const dispatch of dispatches.slice(0, 5))
      for (const more of [[], ['--json'], ['--way']])
        shown.push(await sluice('explain', dispatch.eventId, ...more));
    expect(dispatches.length).toBeGreaterThan(4);
    const kept = shown.flatMap(({ stdout }) => (stdout.startsWith('{') ? jsonLines(stdout) : []));
    expect(JSON.stringify(kept)).toContain(JSON.stringify({ content: hostile }).slice(1, -1));
    expect(run.stdout).toContain('owned');
    for (const { stdout, stderr } of shown)
      expect([actingIn(stdout), actingIn(stderr)]).toEqual([[], []]);
  });
});

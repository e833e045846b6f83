import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { jsonLine, outcomeLine } from '../../../src/cli/print/json-line.js';
import { outputTo } from '../../../src/cli/shell/output.js';
import { paletteFor, plainPalette } from '../../../src/cli/shell/palette.js';
import { span, wrap } from '../../../src/cli/shell/text.js';
import { createKernel } from '../../../src/kernel/internal.js';
import { samplePayload } from '../../../src/testing/samples.js';

describe('output', () => {
  it('tells that its reader is gone, and drops what is written then', async () => {
    const stream = new Writable({
      write: (_chunk, _encoding, done) => done(new Error('EPIPE')),
    });
    const output = outputTo(stream);
    await expect(output.write('one')).rejects.toThrow('EPIPE');
    expect(output.gone.aborted).toBe(true);
    await expect(output.write('two')).rejects.toThrow('nobody reads');
    output.lines(['three']);
    await output.flush();
  });

  it('writes what JSON cannot say as text', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    expect(jsonLine({ amount: 12n })).toBe('{"amount":"12"}');
    expect(JSON.parse(jsonLine(cyclic))).toHaveProperty('unprintable');
  });

  it('B2: says a dispatch whose payload is no JSON all the same: null in its place, and why', async () => {
    const kernel = createKernel();
    const payload = { ...samplePayload('egress.preparing'), explicit: true };
    const cyclic: Record<string, unknown> = { deep: [1n] };
    const written = async () => {
      const outcome = await kernel.dispatch('egress.preparing', payload);
      return JSON.parse(outcomeLine(outcome)); // of a narrower family
    };
    expect(await written()).toMatchObject({ event: { payload: { explicit: true } } });
    const mutator = { family: 'egress.preparing', class: 'mutator', extensionId: 'a' } as const;
    const big = kernel.contribute({
      ...mutator,
      id: 'big',
      handler: () => ({ metadata: { big: 12n } }),
    });
    expect(await written()).toMatchObject({ payload: { metadata: { big: '12' } } });
    big[Symbol.dispose]();
    kernel.contribute({
      ...mutator,
      id: 'cycle',
      handler: () => {
        cyclic['self'] = cyclic;
        return { metadata: cyclic };
      },
    });
    const line = await written();
    expect(line).toMatchObject({
      status: 'passed',
      event: { family: 'egress.preparing', payload: { explicit: true } },
      payload: null,
      changes: expect.arrayContaining([expect.objectContaining({ contributionId: 'cycle' })]),
      unprintable: { payload: expect.stringContaining('circular') },
    });
  });

  it('has colours on a terminal only, and none where NO_COLOR is set', () => {
    expect(paletteFor({ isTTY: true }, {}).failure('x')).toBe('\u001b[31mx\u001b[39m');
    expect(paletteFor({ isTTY: true }, { NO_COLOR: '1' })).toBe(plainPalette);
    expect(paletteFor({ isTTY: true }, { TERM: 'dumb' })).toBe(plainPalette);
    expect(paletteFor({}, {})).toBe(plainPalette);
  });

  it('breaks lines between words, and words that are too long anywhere', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('abcdefgh i', 3)).toEqual(['abc', 'def', 'gh', 'i']);
    expect(wrap('', 10)).toEqual([]);
  });

  it('says times in few characters', () => {
    expect([0.04, 1.23, 12.3, 1_500].map(span)).toEqual(['0.04 ms', '1.2 ms', '12 ms', '1.5 s']);
  });
});

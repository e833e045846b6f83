import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readLines } from '../../../src/sdk/stream/index.js';

async function linesOf(chunks: Iterable<string | Uint8Array>): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of readLines(chunks)) lines.push(line);
  return lines;
}

it('cuts at LF and CRLF, and counts a last line without an end', async () => {
  expect(await linesOf(['a\nb\r\n', '\nc'])).toEqual(['a', 'b', '', 'c']);
  expect(await linesOf(['a\n'])).toEqual(['a']);
  expect(await linesOf([])).toEqual([]);
});

it('gives the same lines however the bytes are cut into chunks', async () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n]/g, ''));
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 7 }), async (lines, size) => {
      const bytes = new TextEncoder().encode(lines.map((text) => `${text}\n`).join(''));
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
      expect(await linesOf(chunks)).toEqual(lines);
    }),
  );
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cut } from '../../../src/host/inquiries/approval-text.js';
import { inEnglish } from '../../../src/host/texts/texts.js';

it('L1: shows the head and the tail of a text, and says how much of it is not shown (judgement §4.16)', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
      const shown = cut(text, inEnglish, 100);
      if (text.length <= 100) {
        expect(shown).toBe(text);
        return;
      }
      const [, head = '', left, all, tail = ''] =
        /^(.*)… \(NOT SHOWN: (\d+) of (\d+) characters\) …(.*)$/s.exec(shown) ?? [];
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      expect(head.length + Number(left) + tail.length).toBe(text.length);
      expect(Number(all)).toBe(text.length);
      expect(Math.min(head.length, tail.length)).toBeGreaterThanOrEqual(49);
    }),
  );
});

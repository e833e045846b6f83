import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { schema, schemaVersion } from '../../../src/host/journal/rows/journal-schema.js';

describe('the schema of a journal (durability §1.7)', () => {
  it('is the schema that the files of its version were made with, letter by letter', () => {
    expect(schemaVersion).toBe(2);
    const text = JSON.stringify([...schema].sort());
    expect(createHash('sha256').update(text).digest('hex')).toBe(
      '98859d662cdc28081dfb43804fd568331b58efe661bba3ec4fcf1d91ef21a832',
    );
  });
});

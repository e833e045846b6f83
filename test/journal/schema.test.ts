import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { schema, schemaVersion } from '../../src/journal/rows/journal-schema.js';

describe('the schema of a journal (durability §1.7)', () => {
  it('is the schema that the files of its version were made with, letter by letter', () => {
    expect(schemaVersion).toBe(3);
    const text = JSON.stringify([...schema].sort());
    expect(createHash('sha256').update(text).digest('hex')).toBe(
      'd32af0e0dd08966ab76657b016ae5c23afd0a8c4adeda1cd5968ba20c7cf2e8a',
    );
  });
});

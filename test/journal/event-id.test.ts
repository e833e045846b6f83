import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { eventIdOf, randomId } from '../../src/journal/event-id.js';

/** The bytes that each of many texts keeps in the heap. */
function bytesOf(make: (at: number) => string): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // the flag makes it
  const count = 20_000;
  const kept = Array.from({ length: count }, () => '');
  for (let at = 0; at < count; at++) kept[at] = make(at);
  kept.fill('');
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < count; at++) kept[at] = make(at);
  collect();
  const bytes = (process.memoryUsage().heapUsed - before) / count;
  expect(new Set(kept).size).toBe(count);
  return bytes;
}

describe('the ids of a host', () => {
  it('keep the bytes of their text, and not those of the pieces that it was made of', () => {
    expect(randomId('run')).toMatch(/^run-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(bytesOf(() => randomId('session'))).toBeLessThan(150); // 490 otherwise
    expect(bytesOf(() => eventIdOf('c', 'a', undefined))).toBeLessThan(150);
    expect(bytesOf((at) => eventIdOf('c', 'a', `${at}`))).toBeLessThan(110); // 180 otherwise
  });
});

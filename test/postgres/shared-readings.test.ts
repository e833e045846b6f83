import { expect, it } from 'vitest';
import { sharedReadings } from '../../src/postgres/rows/shared-readings.js';

it('readings that come together share a statement, 64 of them at most (durability §11.5)', async () => {
  const asked: number[] = [];
  const query = sharedReadings(async (_, values = []) => {
    const [ids] = values;
    const own = Array.isArray(ids) ? ids : [ids];
    asked.push(own.length);
    return own.map((id, at) => ({ asking: at + 1, id }));
  });
  const ids = Array.from({ length: 130 }, (_, at) => `id ${at}`);
  const read = await Promise.all(ids.map((id) => query('SELECT id FROM it WHERE id = $1', [id])));
  expect(asked).toEqual([64, 64, 2]);
  expect(read.map(([row]) => row?.['id'])).toEqual(ids);
});

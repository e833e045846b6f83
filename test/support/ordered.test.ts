import { expect, it } from 'vitest';
import { disorderOf } from './ordered.js';
import { end, start, toolEnd, toolStart } from './turn-lab.js';

it('is found in a run, as far as the run came', () => {
  expect(disorderOf([start, toolStart('t'), toolEnd('t'), end()])).toEqual([]);
  expect(disorderOf([start, toolStart('t')])).toEqual([]);
  expect(disorderOf([start, toolStart('t'), end()])).toHaveLength(1);
  expect(disorderOf([start, toolEnd('t')])).toHaveLength(1);
});

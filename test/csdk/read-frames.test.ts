import { expect, it } from 'vitest';
import { type CsdkFrame, readFrames, splitRuns } from '../../src/csdk/index.js';

it('names a malformed line with its number, and reads the rest on', async () => {
  const problems: string[] = [];
  const types: string[] = [];
  const lines = ['{"type":"system"}', '', 'oops', '[1]', '{"no":"type"}', '{"type":"result"}'];
  for await (const { type } of readFrames(lines, ({ number, problem }) =>
    problems.push(`${number}: ${problem}`),
  ))
    types.push(type);
  expect(types).toEqual(['system', 'result']);
  expect(problems).toEqual([
    expect.stringMatching(/^3: it is no JSON: /),
    '4: it is no message: it has no "type"',
    '5: it is no message: it has no "type"',
  ]);
});

it('splits a recording into its runs, each with its result', () => {
  const frame = (type: string): CsdkFrame => ({ type });
  const [system, said, result] = [frame('system'), frame('assistant'), frame('result')];
  expect(splitRuns([system, said, result, system, said, result, system])).toEqual([
    [system, said, result],
    [system, said, result],
  ]);
  expect(splitRuns([said, result, said])).toEqual([[said, result], [said]]);
  expect(splitRuns([])).toEqual([[]]);
});

import { expect, it } from 'vitest';
import { type CsdkFrame, readFrames, splitRuns } from '../../src/claude/index.js';

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
    '4: it is a list: give one message a line',
    '5: it is no message: it has no "type"',
  ]);
});

const messages = [{ type: 'system', tools: [] }, { type: 'result' }];
const tail = ['{"type":"tail"}'];
const linesOf = (text: string) => text.split('\n');

it.each([
  ['a list on one line', linesOf(JSON.stringify(messages)), 'a list: give'],
  [
    'a list over several lines',
    ['[', '{"type":"system"},', '{"type":"result"}', ']'],
    'a list over',
  ],
  [
    'a list that begins with a message',
    ['[{"type":"system"},', '{"type":"result"}]'],
    'a list over',
  ],
  ['a list that is printed for people', linesOf(JSON.stringify(messages, null, 2)), 'a list over'],
  [
    'a message that is printed for people',
    linesOf(JSON.stringify(messages[0], null, 2)),
    'an object over',
  ],
  ['a list in a wrapper', linesOf(JSON.stringify({ v: 1, messages })), 'a list in "messages"'],
  [
    'a list in a wrapper over several lines',
    linesOf(JSON.stringify({ messages }, null, '\t')),
    'an object over',
  ],
  ['a list in Windows lines', ['[\r', '{"type":"system"}\r', ']\r'], 'a list over'],
])(
  'refuses %s in one sentence that says what to do, and reads on (csdk §12.6)',
  async (_, lines, problem) => {
    const problems: string[] = [];
    const types: string[] = [];
    const given = [`\uFEFF${lines[0]}`, ...lines.slice(1), ...tail];
    for await (const { type } of readFrames(given, (one) =>
      problems.push(`${one.number}: ${one.problem}`),
    ))
      types.push(type);
    expect(problems).toEqual([expect.stringMatching(/^1: it .* give one message a line$/)]);
    expect(problems[0]).toContain(problem);
    expect(types).toEqual(['tail']);
  },
);

it('reads messages behind a byte order mark, in Windows lines, and names one that was cut off', async () => {
  const problems: string[] = [];
  const types: string[] = [];
  const lines = ['\uFEFF{"type":"system"}\r', '{"type":"result"}\r', '{"type":"assistant","mess'];
  for await (const { type } of readFrames(lines, ({ problem }) => problems.push(problem)))
    types.push(type);
  expect(types).toEqual(['system', 'result']);
  expect(problems).toEqual([expect.stringMatching(/^it is no JSON: /)]);
});

it('names a line of a log alone, though it begins with a bracket (csdk §12.6)', async () => {
  const problems: string[] = [];
  const lines = ['[12:03:11] started', '{"type":"system"}', '[INFO] {', '{"type":"result"}'];
  const types: string[] = [];
  for await (const { type } of readFrames(lines, ({ number }) => problems.push(String(number))))
    types.push(type);
  expect(types).toEqual(['system', 'result']);
  expect(problems).toEqual(['1', '3']);
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

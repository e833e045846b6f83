import { expect, it } from 'vitest';
import { fieldLines, payloadFields } from '../../../src/host/inquiries/payload-fields.js';

it('a payload is told field by field, whole, with its ids apart; a text that is no JSON is one field', () => {
  const payload = {
    ...{ toolName: 'deploy', params: { to: 'web', files: ['a\nb'], none: [] } },
    ...{ runId: 'run-1', dry: false, deep: { a: { b: { c: { d: 1 } } } } },
  };
  expect(payloadFields(JSON.stringify(payload))).toEqual([
    { path: 'toolName', text: 'deploy', isInner: false },
    { path: 'params.to', text: 'web', isInner: false },
    { path: 'params.files.0', text: 'a\nb', isInner: false },
    { path: 'runId', text: 'run-1', isInner: true },
    { path: 'dry', text: 'false', isInner: false },
    { path: 'deep.a.b.c', text: '{"d":1}', isInner: false },
  ]);
  expect(payloadFields('{"cut')).toEqual([{ path: '', text: '{"cut', isInner: false }]);
});

it('a line of a field stays one line and says nothing for another, whatever its name and its text are (judgement §4.16)', () => {
  const payload = { note: 'a\nto: eve "x" \u202e', 'to: eve': 1, toolCallId: 't-1' };
  expect(fieldLines(JSON.stringify(payload))).toEqual([
    'note: a\\nto: eve "x" \\u202e',
    '"to: eve": 1',
  ]);
});

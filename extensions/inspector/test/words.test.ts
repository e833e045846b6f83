import { expect, it } from 'vitest';
import { fieldsOf } from '../page/words.js';

it('a payload is told field by field, whole, with its ids apart; a text that is no JSON is one field', () => {
  const payload = {
    ...{ toolName: 'deploy', params: { to: 'web', files: ['a\nb'], none: [] } },
    ...{ runId: 'run-1', dry: false, deep: { a: { b: { c: { d: 1 } } } } },
  };
  expect(fieldsOf(JSON.stringify(payload))).toEqual([
    { path: 'toolName', text: 'deploy', isInner: false },
    { path: 'params.to', text: 'web', isInner: false },
    { path: 'params.files.0', text: 'a\nb', isInner: false },
    { path: 'runId', text: 'run-1', isInner: true },
    { path: 'dry', text: 'false', isInner: false },
    { path: 'deep.a.b.c', text: '{"d":1}', isInner: false },
  ]);
  expect(fieldsOf('{"cut')).toEqual([{ path: '', text: '{"cut', isInner: false }]);
});

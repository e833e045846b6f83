import fc from 'fast-check';
import type { ToolPlan } from './build-events.js';

const said = (text: string): unknown => ({ content: [{ type: 'text', text }] });
const picture = { type: 'image', data: 'AAAA', mimeType: 'image/png' };

const call = fc.constantFrom<ToolPlan['call']>(
  ['exec', { command: 'ls -l' }],
  ['exec', { command: 'rm x' }],
  ['bash', { command: 'ls' }],
  ['read', { path: '/tmp/a.txt' }],
  ['browser', { action: 'screenshot' }],
  ['custom_thing', {}],
  ['custom_thing', { a: 1 }],
  ['message', { action: 'send', to: 'x', channel: 'telegram', message: 'Hello there my friend' }],
  [
    'message',
    { action: 'thread-reply', to: 'x', content: 'short', media: 'https://example.org/a.png' },
  ],
  ['message', { action: 'poll', message: 'Hello there my friend' }],
  ['sessions_send', { sessionKey: 'k', message: 'Hello there my friend' }],
);

const approvals: readonly unknown[] = [
  {
    content: [{ type: 'text', text: 'x' }],
    details: {
      status: 'approval-pending',
      approvalId: 'abc',
      approvalSlug: 'ab',
      host: 'gateway',
      command: 'ls -l',
      cwd: '/tmp',
    },
  },
  { content: [], details: { status: 'approval-unavailable', reason: 'no-approval-route' } },
];

const result = fc.constantFrom<unknown>(
  said('done'),
  said('one\ntwo'),
  said('  '),
  said('shot\nMEDIA:/tmp/x.png\nMEDIA:https://example.org/y.png'),
  said('x'.repeat(9000)),
  said('Error: it broke\nat once'),
  { content: [{ type: 'text', text: 'a' }, picture, { type: 'text', text: 'b' }] },
  { content: [picture], details: { path: '/tmp/p.png' } },
  { content: [], details: { status: 'error', error: 'no way' } },
  { content: [{ type: 'text', text: 'slow' }], details: { status: 'timeout' } },
  { details: { status: 'ok' } },
  'a plain text',
  null,
  ...approvals,
);

/** A tool call, its updates and its end. */
export const toolPlan: fc.Arbitrary<ToolPlan> = fc.record({
  call,
  updates: fc.array(result, { maxLength: 2 }),
  result,
  isError: fc.boolean(),
});

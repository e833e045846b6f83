import { describe, expect, it } from 'vitest';
import { config } from '../src/config.js';
import { decodeUpdate } from '../src/ingress/decode.js';

const context = {
  accountId: 'default',
  bot: { userId: 'U0BOTBOT0', name: 'lima' },
  config: config.parse({}),
};

/** A message in private, as an event tells of it. */
const decoded = (fields: object) =>
  decodeUpdate(
    {
      type: 'events_api',
      body: {
        type: 'event_callback',
        event: {
          ...{ type: 'message', channel: 'D012AB3CD', user: 'U012AB3CD', ts: '1.5', text: '' },
          ...fields,
        },
      },
    },
    context,
  );

describe('what is shared with a message', () => {
  it.each<[string, object, object]>([
    [
      'a message',
      {
        is_share: true,
        is_msg_unfurl: true,
        author_name: 'Bo',
        from_url: 'https://case.example/p1',
        text: 'It slips to <https://x.example|Friday> &amp; more.',
        fallback: '[x] Bo: It slips',
      },
      {
        kind: 'message',
        from: 'Bo',
        text: 'It slips to [Friday](https://x.example) & more.',
        url: 'https://case.example/p1',
      },
    ],
    [
      'the preview of a link',
      {
        service_name: 'News',
        title: 'A shop',
        title_link: 'https://n.example',
        text: 'It closes.',
      },
      { kind: 'link', title: 'A shop', from: 'News', text: 'It closes.', url: 'https://n.example' },
    ],
    [
      'what an app has attached, by its fields',
      { pretext: 'Alert', fallback: 'disk', fields: [{ title: 'Host', value: 'a1' }] },
      { kind: 'other', text: 'Alert\ndisk\nHost: a1' },
    ],
  ])('is told: %s, also without a comment', (_, attachment, shared) => {
    for (const text of ['', 'what do you think?'])
      expect(decoded({ text, attachments: [attachment] })).toMatchObject({
        kind: 'message',
        message: { content: text, shared: [shared] },
      });
  });

  it('is a file of a message that was shared, too', () => {
    const files = [{ id: 'F1', name: 'q3.pdf', mimetype: 'application/pdf' }];
    const attachments = [{ is_share: true, author_name: 'Bo', text: '', fallback: 'Bo:', files }];
    expect(decoded({ attachments })).toMatchObject({
      message: {
        shared: [{ kind: 'message', from: 'Bo' }],
        attachments: [{ kind: 'document', id: 'F1', name: 'q3.pdf' }],
      },
    });
  });

  it('is the title of a file, if that is not its name', () => {
    const files = [
      { id: 'F1', name: 'q3.pdf', title: 'Plan of Q3' },
      { id: 'F2', name: 'b.png', title: 'b.png' },
    ];
    expect(decoded({ files })).toMatchObject({
      message: { shared: [{ kind: 'file', title: 'Plan of Q3', text: 'q3.pdf' }] },
    });
  });

  it('is nothing of an attachment that says nothing, and an empty message stays none', () => {
    expect(decoded({ attachments: [{ id: 1 }, { fields: 7 }] }).kind).toBe('ignored');
    expect(decoded({ attachments: 'x' }).kind).toBe('ignored');
  });
});

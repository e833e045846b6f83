import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiAnswer } from '../src/api/bot-api.js';
import { refused, streamLab, tooMany, unknown } from './stream-lab.js';

const failure = { phase: 'error', error: 'the agent failed' } as const;

describe('the sender of a streamed reply, as its upstream is tested', () => {
  it('sends a final without reasoning plain, once', async () => {
    const lab = await streamLab();
    await lab.final('Lima.');
    expect(lab.methods()).toEqual(['sendMessage']);
    expect(lab.calls[0]?.payload).toMatchObject({
      chat_id: 42,
      text: 'Lima.',
      reply_parameters: { message_id: 9 },
    });
    expect(lab.calls[0]?.payload).not.toHaveProperty('parse_mode');
    expect(lab.reports).toMatchObject([{ status: 'sent', receipt: { messageId: '101' } }]);
  });

  it('puts five seconds of reasoning above a final, folded up, with how long it took', async () => {
    const lab = await streamLab();
    await lab.final('Lima.', { thinking: 'Peru < Chile', thinkingDurationMs: 5_000 });
    expect(lab.texts()).toEqual([
      '<i>Thought for 5.0s</i>\n<blockquote expandable>Peru &lt; Chile</blockquote>\nLima.',
    ]);
  });

  it('leaves half a second of reasoning out', async () => {
    const lab = await streamLab();
    await lab.final('Lima.', { thinking: 'hm', thinkingDurationMs: 500 });
    expect(lab.texts()).toEqual(['Lima.']);
  });

  it('sends 5,000 characters as two messages that are all of it', async () => {
    const lab = await streamLab();
    await lab.final('a'.repeat(5_000));
    expect(lab.methods()).toEqual(['sendMessage', 'sendMessage']);
    expect(lab.texts().join('')).toBe('a'.repeat(5_000));
  });

  it('makes what was shown the final', async () => {
    const lab = await streamLab();
    await lab.content('Li');
    await lab.final('Lima.');
    expect(lab.methods()).toEqual(['sendMessage', 'editMessageText']);
    expect(lab.texts()).toEqual(['Lima.']);
  });

  it.each(['onError', 'abort'] as const)('takes what was shown back with %s, once', async (end) => {
    const lab = await streamLab();
    await lab.content('Li');
    await (end === 'abort' ? lab.sender.abort() : lab.sender.onError(failure));
    expect(lab.methods()).toEqual(['sendMessage', 'deleteMessage']);
    expect(lab.texts()).toEqual([]);
    expect(lab.reports).toEqual([]);
  });

  it('shows content with a cursor, as HTML where it is marked up', async () => {
    const lab = await streamLab();
    await lab.content('**Li** < ma');
    expect(lab.calls[0]?.payload).toMatchObject({
      text: '<b>Li</b> &lt; ma ▌',
      parse_mode: 'HTML',
    });
  });

  it('shows of 5,000 characters the end, under a line that says so, within the limit', async () => {
    const lab = await streamLab();
    await lab.content('b'.repeat(5_000));
    const [text = ''] = lab.texts();
    expect(text).toMatch(/^<i>… the beginning follows/);
    expect(text.length).toBeLessThan(4_096);
  });

  it('shows no reasoning before it has lasted two seconds', async () => {
    const lab = await streamLab();
    await lab.thinking('hm');
    await lab.clock.advance(100);
    await lab.thinking('hm, so');
    expect(lab.calls).toEqual([]);
    await lab.clock.advance(1_900);
    await lab.thinking('hm, so it is');
    expect(lab.texts()).toEqual([
      '<i>Thinking</i>\n<blockquote expandable>hm, so it is</blockquote>',
    ]);
  });

  it('edits a private message every 900 ms, with what is newest then', async () => {
    const lab = await streamLab();
    await lab.content('L');
    await lab.clock.advance(500);
    await lab.content('Li');
    await lab.content('Lim');
    expect(lab.methods()).toEqual(['sendMessage']);
    await lab.clock.advance(400);
    expect(lab.methods()).toEqual(['sendMessage', 'editMessageText']);
    expect(lab.texts()).toEqual(['Lim ▌']);
    await lab.clock.advance(10_000);
    expect(lab.calls).toHaveLength(2); // the same text is not sent again
  });

  it('edits a message in a group every 3 s', async () => {
    const lab = await streamLab({ isGroup: true, to: 'telegram:-77' });
    await lab.content('L');
    await lab.clock.advance(1_500);
    await lab.content('Li');
    expect(lab.calls).toHaveLength(1);
    await lab.clock.advance(2_000);
    expect(lab.texts()).toEqual(['Li ▌']);
  });

  it('takes what was shown back where the final is empty', async () => {
    const lab = await streamLab();
    await lab.content('Li');
    await lab.final('');
    expect(lab.methods()).toEqual(['sendMessage', 'deleteMessage']);
    expect(lab.reports).toMatchObject([{ status: 'rejected' }]);
  });
});

describe('the sender of a streamed reply, where its upstream fails', () => {
  /** A lab whose first message takes its time to be there. */
  async function slowLab() {
    const held: ((answer: ApiAnswer<unknown>) => void)[] = [];
    const lab = await streamLab({}, (_, at) =>
      at === 1
        ? new Promise((resolve) => {
            held.push(resolve);
          })
        : undefined,
    );
    return {
      ...lab,
      arrive: () => {
        lab.shown.set(200, 'L ▌');
        for (const resolve of held)
          resolve({ status: 'done', result: { message_id: 200, date: 1, chat: { id: 42 } } });
      },
    };
  }

  it('an abort while the first message is on its way leaves none behind', async () => {
    const lab = await slowLab();
    await lab.content('L');
    const aborted = lab.sender.abort();
    lab.arrive();
    await aborted;
    expect(lab.texts()).toEqual([]);
    expect(lab.methods()).toEqual(['sendMessage', 'deleteMessage']);
  });

  it('two parts at once send one first message', async () => {
    const lab = await slowLab();
    void lab.sender.onContentDelta({ phase: 'content', content: 'L' });
    void lab.sender.onContentDelta({ phase: 'content', content: 'Li' });
    await lab.clock.advance(5_000);
    expect(lab.methods()).toEqual(['sendMessage']);
    lab.arrive();
    await lab.clock.advance(5_000);
    expect(lab.methods()).toEqual(['sendMessage', 'editMessageText']);
    expect(lab.texts()).toEqual(['Li ▌']);
  });

  it('the tail of a long text begins with a whole character, and its markup is whole', async () => {
    const lab = await streamLab();
    await lab.content(`**${'👩‍👩‍👧'.repeat(498)}**`);
    const [text = ''] = lab.texts();
    expect(text).toMatch(/<b>(👩‍👩‍👧)+<\/b> ▌$/u);
  });

  it('a second final sends nothing', async () => {
    const lab = await streamLab();
    await lab.final('Lima.');
    await lab.sender.onFinal({ phase: 'final', content: 'Lima.' });
    expect(lab.calls).toHaveLength(1);
    expect(lab.reports).toHaveLength(1);
  });

  it('every part of a long final is escaped once', async () => {
    const lab = await streamLab();
    await lab.final(`${'a < b & '.repeat(600)}end`, {
      thinking: 'long enough',
      thinkingDurationMs: 3_000,
    });
    const [first = '', second = ''] = lab.texts();
    expect(first).toContain('a &lt; b &amp; a');
    expect(second).toContain('a < b & a'); // plain: nothing in it is marked up
    expect(lab.calls[1]?.payload).not.toHaveProperty('parse_mode');
  });

  it('a final that changes nothing is no failure', async () => {
    const lab = await streamLab({}, ({ method }) =>
      method === 'editMessageText'
        ? refused(400, 'Bad Request: message is not modified')
        : undefined,
    );
    await lab.content('Lima.');
    await lab.final('Lima.');
    expect(lab.methods()).toEqual(['sendMessage', 'editMessageText']);
    expect(lab.reports).toMatchObject([{ status: 'sent' }]);
  });

  it('what is too much for Telegram waits longer each time, at most ten seconds, and then goes on', async () => {
    const lab = await streamLab({}, ({ method }, at) =>
      method === 'editMessageText' && at < 7 ? tooMany() : undefined,
    );
    await lab.content('0');
    for (let at = 1; at < 60; at++) {
      await lab.clock.advance(1_000);
      await lab.content(String(at));
    }
    const times = lab.calls.slice(1, 8).map(({ atMs }) => atMs);
    const waits = times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0));
    expect(waits).toEqual([2_900, 4_900, 8_900, 10_900, 10_900, 900]);
  });

  it('a 429 that says how long is waited for, also at the end', async () => {
    const lab = await streamLab({}, (_, at) => (at === 2 ? tooMany(7_000) : undefined));
    await lab.content('L');
    await lab.final('Lima.');
    expect(lab.calls.map(({ atMs }) => atMs)).toEqual([0, 0, 7_000]);
    expect(lab.texts()).toEqual(['Lima.']);
  });

  it('a final that cannot be edited in time is taken away, and left to the host to send', async () => {
    const lab = await streamLab({}, ({ method }) =>
      method === 'editMessageText' ? tooMany(3_600_000) : undefined,
    );
    await lab.content('L');
    await lab.final('Lima.');
    expect(lab.texts()).toEqual([]);
    expect(lab.reports).toEqual([
      { status: 'retry-after', retryAfterMs: 3_600_000, reason: '429: Too Many Requests' },
    ]);
  });

  it('an edit that nobody knows the end of is made again: it is the same edit', async () => {
    const lab = await streamLab({}, (_, at) => (at === 2 || at === 3 ? unknown : undefined));
    await lab.content('L');
    await lab.final('Lima.');
    expect(lab.methods()).toEqual(['sendMessage', ...Array(3).fill('editMessageText')]);
    expect(lab.reports).toMatchObject([{ status: 'sent' }]);
  });

  it('a first message that nobody knows the end of is followed by no second one before the final', async () => {
    const lab = await streamLab({}, (_, at) => (at === 1 ? unknown : undefined));
    await lab.content('L');
    await lab.clock.advance(5_000);
    await lab.content('Li');
    await lab.clock.advance(5_000);
    expect(lab.methods()).toEqual(['sendMessage']);
    await lab.final('Lima.');
    expect(lab.methods()).toEqual(['sendMessage', 'sendMessage']);
  });

  it('a bot that is blocked in mid-stream stops, and the final says so (fault 44)', async () => {
    let isBlocked = false;
    const lab = await streamLab({}, () =>
      isBlocked ? refused(403, 'Forbidden: bot was blocked by the user') : undefined,
    );
    await lab.content('L');
    isBlocked = true;
    await lab.clock.advance(1_000);
    await lab.content('Li');
    await lab.clock.advance(10_000);
    await lab.content('Lim');
    await lab.clock.advance(10_000);
    expect(lab.methods()).toEqual(['sendMessage', 'editMessageText']);
    await lab.final('Lima.');
    expect(lab.reports).toEqual([
      { status: 'rejected', reason: '403: Forbidden: bot was blocked by the user' },
    ]);
  });

  it('a final that may not be edited is refused, and what was shown is taken back', async () => {
    const lab = await streamLab({}, ({ method }) =>
      method === 'editMessageText' ? refused(403, 'Forbidden: no rights') : undefined,
    );
    await lab.content('L');
    await lab.final('Lima.');
    expect(lab.methods()).toEqual(['sendMessage', 'editMessageText', 'deleteMessage']);
    expect(lab.texts()).toEqual([]);
    expect(lab.reports).toMatchObject([{ status: 'rejected' }]);
  });

  it('a message that people have removed is sent anew', async () => {
    const lab = await streamLab();
    await lab.content('L');
    lab.shown.clear();
    await lab.final('Lima.');
    expect(lab.texts()).toEqual(['Lima.']);
    expect(lab.reports).toMatchObject([{ status: 'sent' }]);
  });

  it('a final that nobody approved takes back what was shown', async () => {
    const lab = await streamLab();
    await lab.content('L');
    await lab.sender.onFinal({ phase: 'final', content: 'Lima.' });
    expect(lab.texts()).toEqual([]);
    expect(lab.reports).toEqual([]);
  });

  it('shows the message of the final’s permit, whatever the delta says', async () => {
    const lab = await streamLab();
    await lab.content('L');
    await lab.admit('Approved.');
    await lab.sender.onFinal({ phase: 'final', content: 'Said.' });
    expect(lab.texts()).toEqual(['Approved.']);
  });

  it('a preview whose permit was used up shows nothing, and harms nobody', async () => {
    const lab = await streamLab();
    lab.approval[Symbol.dispose]();
    await lab.content('L');
    await lab.content('Li');
    expect(lab.calls).toEqual([]);
  });

  it('leaves one message or none, however it ends and whatever fails (P)', async () => {
    const step = fc.oneof(
      fc.record({
        does: fc.constant('content' as const),
        text: fc.string({ minLength: 1, maxLength: 8 }),
      }),
      fc.record({ does: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 4_000 }) }),
    );
    const fault = fc.constantFrom('ok', 'ok', 'ok', '429', 'unknown-edit', 'bad');
    const end = fc.constantFrom('final' as const, 'abort' as const, 'error' as const);
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 8 }),
        fc.array(fault, { maxLength: 6 }),
        end,
        async (steps, faults, ends) => {
          const lab = await streamLab({}, ({ method }, at) => {
            const one = faults[at - 1];
            if (one === '429') return tooMany(500);
            if (one === 'unknown-edit' && method !== 'sendMessage') return unknown;
            if (one === 'bad' && method === 'editMessageText')
              return refused(400, "Bad Request: can't parse entities");
            return undefined;
          });
          for (const one of steps) {
            if (one.does === 'wait') await lab.clock.advance(one.ms);
            else void lab.sender.onContentDelta({ phase: 'content', content: one.text });
          }
          if (ends === 'final') await lab.final('The whole answer.');
          else {
            const ended = ends === 'abort' ? lab.sender.abort() : lab.sender.onError(failure);
            await lab.clock.advance(60_000);
            await ended;
          }
          await lab.clock.advance(60_000);
          expect(lab.clock.pending).toBe(0);
          const [report] = lab.reports;
          const isTold = lab.log.entries.some(({ message }) => message.includes('taken back'));
          const expected =
            ends === 'final' && report?.status === 'sent' ? ['The whole answer.'] : [];
          if (isTold) expect(lab.texts().length).toBeLessThan(2);
          else expect(lab.texts()).toEqual(expected);
        },
      ),
      { numRuns: 200 },
    );
  });
});

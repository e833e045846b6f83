import type { MessageEnd } from '@sluice/journal';
import { explain, isCancelOf } from '../expect-outcome.js';
import type { TestMessageEnd } from './test-host.js';

/**
 * Asserts that a message was answered: a reply with this text went out.
 *
 * @param text the whole text of the reply, or a pattern; by default any.
 * @returns the send.
 * @throws Error that says how the message ended and what was sent.
 * @example
 * expectReply(await test.say('What time is it?'), /o'clock/);
 */
export function expectReply(
  end: TestMessageEnd,
  text: string | RegExp = /^/,
): MessageEnd['sends'][number] {
  const sent = end.sends.filter(({ status }) => status === 'sent');
  const found = sent.find(
    ({ content }) => (typeof text === 'string' ? content === text : content.search(text) >= 0), // `test` goes on where it was
  );
  if (found !== undefined) return found;
  const texts = sent.map(({ content }) => `\n  ${JSON.stringify(content)}`).join('');
  const said = sent.length === 0 ? 'nothing was sent' : `this was sent:${texts}`;
  throw new Error(`expected a reply ${String(text)}, and ${said}\n${way(end)}`);
}

/**
 * Asserts that a veto denied a message, a reply to it, or a tool call of its turn.
 *
 * @param wanted.code the code of the cancel.
 * @param wanted.by `extension/contribution`, or the extension alone.
 * @throws Error that says how the message ended and which cancels there were.
 * @example
 * expectDenied(await test.say('again'), { code: 'rate-limited', by: 'limiter' });
 */
export function expectDenied(
  end: TestMessageEnd,
  wanted: { readonly code?: string; readonly by?: string } = {},
): void {
  const isMeant = end.outcomes.some(
    (outcome) => outcome.status === 'cancelled' && isCancelOf(outcome.cancel, wanted),
  );
  if (isMeant) return;
  const { code, by } = wanted;
  const named = [code === undefined ? '' : ` with "${code}"`, by === undefined ? '' : ` by ${by}`];
  throw new Error(`expected a veto to deny it${named.join('')}, and none did\n${way(end)}`);
}

/** The timeline of a message, as text: its end, and each dispatch in which a handler did something. */
function way({ status, reason, outcomes }: TestMessageEnd): string {
  const busy = outcomes.filter((outcome) => (outcome.steps ?? []).length > 0);
  const ended = `the message ended: ${status}${reason === undefined ? '' : `, ${reason}`}`;
  return [ended, ...busy.map((outcome) => explain(outcome))].join('\n');
}

import type { SendResult } from '@sluice/sdk/channel';
import { type ConformanceCheck, checksOf, isAbout, must, needs } from './check.js';
import {
  type ChannelConformanceOptions,
  type ChannelUnderTest,
  notAborted,
  type RunningChannel,
  runningChannel,
} from './running-channel.js';

/**
 * The rules of a channel, as checks for any test runner: intake, order, decoding, permits, failed sends, and the stop.
 *
 * @param make makes the channel with a provider where nothing was said yet.
 * @example
 * for (const { name, run } of channelConformance(makePigeon)) it(name, run);
 */
export function channelConformance(
  make: () => ChannelUnderTest | Promise<ChannelUnderTest>,
  { timeoutMs = 5_000, complete = false }: ChannelConformanceOptions = {},
): readonly ConformanceCheck[] {
  return checksOf(channelRules, complete, async (rule) => {
    await using subject = runningChannel(await make(), timeoutMs);
    if (subject.channel.accounts.length > 0) await subject.start(); // a rule of its own tells of none
    await rule(subject);
  });
}

/** Milliseconds that a check waits for something that must not come. */
const graceMs = 100;

/** The words of the updates, decoded. */
function textsOf({ channel, accountId, updates }: RunningChannel): readonly string[] {
  return updates.map(({ raw }) => {
    const decoded = channel.decodeIngress(raw, accountId);
    return decoded.kind === 'message' ? decoded.message.content : `(${decoded.kind})`;
  });
}

/** The rules of a channel, each by its sentence. */
const channelRules: Readonly<Record<string, (subject: RunningChannel) => Promise<void>>> = {
  'has an account': async ({ channel }) =>
    must(channel.accounts.length > 0, `channel "${channel.id}" has no account`),

  'hands over what people write, in order': async (subject) => {
    for (const text of ['one', 'two', 'three']) await subject.deliver(text, `u-${text}`);
    await subject.arrived(3);
    const texts = textsOf(subject);
    must(
      texts.join() === 'one,two,three',
      `the provider brought one, two, three; the host got: ${texts.join(', ') || 'nothing'}`,
    );
  },

  'gives an update the same id whenever it comes': async (subject) => {
    await subject.deliver('one', 'u-1');
    await subject.arrived(1);
    await subject.deliver('one', 'u-1');
    await subject.arrived(2, graceMs); // a channel may drop it
    const ids = subject.updates.map(({ updateId }) => updateId);
    must(
      new Set(ids).size <= 1 || ids.includes(undefined),
      `one update came with the ids ${ids.join(' and ')}: the host would answer it twice`,
    );
  },

  'gives two updates two ids': async (subject) => {
    for (const at of ['1', '2']) await subject.deliver(`text ${at}`, `u-${at}`);
    await subject.arrived(2);
    const [first, second] = subject.updates.map(({ updateId }) => updateId);
    must(
      first === undefined || first !== second,
      `two updates have the id ${first}: the host would drop the second`,
    );
  },

  'decodes without a trace: twice gives the same, and nothing is written': async (subject) => {
    const { channel, accountId } = subject;
    await subject.deliver('hello', 'u-1');
    await subject.arrived(1);
    const raw: unknown = subject.updates[0]?.raw;
    const before = JSON.stringify(raw);
    const [first, second] = [1, 2].map(() => JSON.stringify(channel.decodeIngress(raw, accountId)));
    must(first === second, `decodeIngress gave ${first}, and then ${second}, of one update`);
    must(JSON.stringify(raw) === before, 'decodeIngress has written to the update');
  },

  'decodes anything, and never throws': async ({ channel, accountId }) => {
    for (const raw of [undefined, null, 7, 'x', [], {}, { message: null }, { text: 7 }]) {
      const said = `decodeIngress of ${JSON.stringify(raw)}`;
      try {
        const { kind } = channel.decodeIngress(raw, accountId);
        const kinds = ['message', 'command', 'interaction', 'ignored', 'undecodable'];
        must(kinds.includes(kind), `${said} gave the kind "${kind}"`);
      } catch (error) {
        must(false, `${said} threw: ${String(error)}`);
      }
    }
  },

  'sends while the host takes an update in': async (subject) => {
    subject.answer = () => new Promise(() => undefined); // the conversation is full: the host lets it wait
    const delivering = Promise.resolve(subject.deliver('hello', 'u-1')).catch(() => undefined);
    const { status } = await subject.send((await subject.approve()).mintPermit());
    must(status === 'sent', `a send ended as ${status} while \`receive\` waited`);
    void delivering;
  },

  'waits for `receive` before it brings more, if it says that it can wait': async (subject) => {
    isAbout(subject.channel.capabilities.canWait === true, 'it cannot wait');
    let let1: () => void = () => undefined;
    subject.answer = () =>
      new Promise((resolve) => {
        let1 = () => resolve(undefined);
      });
    for (const text of ['one', 'two'])
      void Promise.resolve(subject.deliver(text, `u-${text}`)).catch(() => undefined);
    await subject.arrived(2, graceMs);
    const early = subject.updates.length;
    let1();
    must(early <= 1, 'it called `receive` again before the call before had resolved');
  },

  'acknowledges an update that it has brought': async (subject) => {
    const { channel, accountId } = subject;
    await subject.deliver('hello', 'u-1');
    await subject.arrived(1);
    const [update] = subject.updates;
    must(update !== undefined, 'the host got no update');
    isAbout(channel.ack !== undefined, 'it has no ack');
    for (const name of ['ack', 'ack, called again'])
      await subject.step(name, async () => channel.ack?.(accountId, update));
  },

  'sends the message of its permit, once': async (subject) => {
    const permit = (await subject.approve({ content: 'Good morning.' })).mintPermit();
    const result = await subject.send(permit);
    must(
      result.status === 'sent',
      `a send that nothing hinders ended as ${JSON.stringify(result)}`,
    );
    must(permit.used, 'it says that it has sent a message whose permit it did not take');
    const shown = await subject.shown();
    const times = shown.filter((text) => text.includes('Good morning.')).length;
    must(times === 1, `people see the message ${times} times: ${JSON.stringify(shown)}`);
  },

  'sends nothing by a permit that was used': async (subject) => {
    const permit = (await subject.approve({ content: 'Once.' })).mintPermit();
    await subject.send(permit);
    await subject.step('a second send', () =>
      subject.channel.send(permit, notAborted).catch(() => undefined),
    );
    const shown = (await subject.shown()).filter((text) => text.includes('Once.'));
    must(shown.length === 1, `people see it ${shown.length} times`);
  },

  'keeps every word of a long text': async (subject) => {
    const words = Array.from({ length: 3_000 }, (_, at) => `word${at}`);
    await subject.send((await subject.approve({ content: words.join(' ') })).mintPermit());
    const shown = (await subject.shown()).join(' ');
    const lost = words.filter((word) => !new RegExp(`\\b${word}\\b`).test(shown));
    must(lost.length === 0, `${lost.length} of 3000 words are missing, ${lost[0]} first`);
  },

  'says `ambiguous` if nobody knows whether a message went out': (subject) =>
    failed(subject, 'ambiguous'),

  'says `rejected` if the provider refuses a message for good': (subject) =>
    failed(subject, 'rejected'),

  'says `retry-after` with a time if the provider asks to wait': (subject) =>
    failed(subject, 'retry-after'),

  'shows a message once that is sent again under its key, if it says that it drops doubles': async (
    subject,
  ) => {
    isAbout(subject.channel.capabilities.deduplicatesSends === true, 'it drops no doubles');
    const approval = await subject.approve({ content: 'Twice.' });
    await subject.send(approval.mintPermit());
    await subject.send(approval.mintPermit());
    const shown = (await subject.shown()).filter((text) => text.includes('Twice.'));
    must(shown.length === 1, `people see it ${shown.length} times, and it has one key`);
  },

  'makes stream senders if it says that it can stream': async ({ channel }) => {
    isAbout(channel.capabilities.canStreamResponse === true, 'it does not stream');
    const has = channel.createStreamSender !== undefined;
    must(has, 'canStreamResponse is true, and there is no createStreamSender');
  },

  'takes nothing more in after `stopIntake`, and still sends': async (subject) => {
    const { channel, accountId } = subject;
    await subject.step('stopIntake', () => channel.stopIntake(accountId));
    const before = subject.updates.length;
    await Promise.resolve(subject.deliver('late', 'u-late')).catch(() => undefined);
    await subject.arrived(before + 1, graceMs);
    must(subject.updates.length === before, 'it handed an update over after `stopIntake`');
    const { status } = await subject.send((await subject.approve()).mintPermit());
    must(status === 'sent', `a send after \`stopIntake\` ended as ${status}`);
  },

  'stops, also twice': async ({ channel, accountId, step }) => {
    await step('stopIntake', () => channel.stopIntake(accountId));
    await step('stopAccount', () => channel.stopAccount(accountId));
    await step('stopAccount, called again', () => channel.stopAccount(accountId));
  },
};

async function failed(
  subject: RunningChannel,
  how: 'ambiguous' | 'rejected' | 'retry-after',
): Promise<void> {
  const { failNext } = subject;
  needs(failNext !== undefined, 'failNext');
  failNext(how);
  const permit = (await subject.approve({ content: 'Not now.' })).mintPermit();
  const result = await subject.step('send', () =>
    // a send that throws counts as ambiguous
    subject.channel.send(permit, notAborted).catch(
      (error: unknown): SendResult => ({
        status: 'ambiguous',
        reason: String(error),
      }),
    ),
  );
  must(
    result.status === how,
    `the provider's answer was ${how}, and the channel said ${JSON.stringify(result)}`,
  );
  if (result.status === 'retry-after')
    must(
      Number.isFinite(result.retryAfterMs) && result.retryAfterMs >= 0,
      `retryAfterMs is ${result.retryAfterMs}, which is no time to wait`,
    );
}

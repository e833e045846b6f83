import { vi } from 'vitest';
import { memoryJournal } from '../../../../src/journal/index.js';
import type { LegacyAccountContext } from '../../../../src/openclaw/index.js';
import { MessageWay } from '../../../../src/openclaw/plugin/way/message-way.js';
import { collectingLogger, virtualClock } from '../../../../src/testing/index.js';
import { hostLab } from '../../../support/host-lab.js';
import { type PostOffice, postOffice } from '../channel-lab.js';

/** Has members of the api fail from below, as a fault of this package would. */
export function breakMembers(
  fails: (member: string) => boolean,
  how: 'throws' | 'rejects' = 'throws',
): void {
  const { watch } = MessageWay.prototype;
  const fail = (): unknown => {
    const error = new Error('a fault of ours');
    if (how === 'rejects') return Promise.reject(error);
    throw error;
  };
  vi.spyOn(MessageWay.prototype, 'watch').mockImplementation(function (
    this: MessageWay,
    owner,
    members,
  ) {
    const faulty = Object.entries(members).map(([name, one]) => {
      const isFaulty = (...given: unknown[]) =>
        fails(`${owner}.${name}`) ? fail() : (one as (...all: unknown[]) => unknown)(...given);
      return [name, typeof one === 'function' ? isFaulty : one];
    });
    return watch.call(this, owner, Object.fromEntries(faulty)) as typeof members;
  });
}

/** A channel whose account gets texts from a provider, and does with each what a test says. Its code swallows what is thrown. */
export async function labOf(
  handle: (post: PostOffice, text: string) => unknown,
  more: object = {},
) {
  const waiting: { text: string; done: () => void }[] = [];
  let wake = (): void => undefined;
  const run = async ({ abortSignal }: LegacyAccountContext): Promise<void> => {
    while (!abortSignal.aborted) {
      const next = waiting.shift();
      if (next === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          abortSignal.addEventListener('abort', () => resolve(), { once: true });
        });
        continue;
      }
      await Promise.resolve()
        .then(() => handle(post, next.text))
        .catch(() => undefined);
      next.done();
    }
  };
  const logger = collectingLogger();
  const clock = virtualClock();
  const post = postOffice({ run, logger, clock, ...more });
  const journal = memoryJournal();
  const lab = await hostLab({ loadPlugins: post.load, journal, clock });
  const say = (text: string): Promise<void> =>
    new Promise((done) => {
      waiting.push({ text, done });
      wake();
    });
  const degraded = () => lab.host.health().degraded.map(({ whose, what }) => [whose, what]);
  return {
    ...lab,
    lab,
    post,
    say,
    degraded,
    journal,
    logger,
    [Symbol.asyncDispose]: lab[Symbol.asyncDispose],
  };
}

/** Calls a member of `api.runtime.channel`. */
export const call = (post: PostOffice, group: string, name: string, ...given: unknown[]): unknown =>
  post.channel()[group]?.[name]?.(...(given as never[])); // as a plugin calls it, untyped

/** The part of a queue that a test calls. */
export interface Queue {
  enqueue(id: string, payload: unknown): Promise<object>;
  claimNext(): Promise<{ id: string } | null>;
  complete(event: { id: string }): Promise<boolean>;
  release(event: { id: string }, how: object): Promise<boolean>;
  fail(event: { id: string }, how: object): Promise<boolean>;
}

/** The queue of the default account. */
export const queueOf = (post: PostOffice): Queue =>
  (post.state()['openChannelIngressQueue'] as unknown as () => Queue)(); // as a plugin calls it, untyped

import type { MessageWay } from '../way/message-way.js';
import { type Event, idOf, type Named } from './ingress-event.js';
import type { IngressQueue } from './ingress-queue.js';

const owner = 'api.runtime.state.openChannelIngressQueue';

/** The queue of an account, whose failures and lost events are told (spec §17.36). */
export function watchedQueue(
  way: MessageWay,
  accountId: string,
  queue: IngressQueue,
): IngressQueue {
  const working = new Map<string, ReturnType<MessageWay['claimed']>>();
  const claiming = (event: Event | null): Event | null => {
    if (event === null) return event;
    working.get(event.id)?.('given back'); // its claim had become stale
    working.set(event.id, way.claimed(accountId, event['payload']));
    return event;
  };
  /** Tells how the work on an event has ended, once the queue says that it has. */
  const ending = async (
    name: Named,
    isEnded: Promise<boolean>,
    how?: Parameters<ReturnType<MessageWay['claimed']>>[0],
  ): Promise<boolean> => {
    if (!(await isEnded)) return false;
    working.get(idOf(name))?.(how);
    working.delete(idOf(name));
    return true;
  };
  return {
    ...queue,
    enqueue: async (...given) => {
      const result = await queue.enqueue(...given);
      way.kept();
      return result;
    },
    claimNext: async (how) => claiming(await queue.claimNext(how)),
    claim: async (name, how) => claiming(await queue.claim(name, how)),
    complete: (name, how) => ending(name, queue.complete(name, how)),
    delete: (name) => ending(name, queue.delete(name), 'given back'),
    release: (name, how) => {
      const { lastError } = how ?? {};
      if (lastError !== undefined) way.troubled(accountId, `${owner}.release`, lastError);
      return ending(name, queue.release(name, how), 'given back');
    },
    fail: (name, how) => {
      const { reason = 'failed', message } = how;
      return ending(name, queue.fail(name, how), {
        member: `${owner}.fail`,
        error: message ?? reason,
      });
    },
  } satisfies IngressQueue;
}

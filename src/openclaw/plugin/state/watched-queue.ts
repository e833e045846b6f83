import type { MessageWay } from '../way/message-way.js';
import { idOf, type Named } from './ingress-event.js';
import type { IngressQueue } from './ingress-queue.js';

const owner = 'api.runtime.state.openChannelIngressQueue';

/** The queue of an account, whose failures and lost events are told (spec §17.36). */
export function watchedQueue(
  way: MessageWay,
  accountId: string,
  queue: IngressQueue,
): IngressQueue {
  const working = new Map<string, ReturnType<MessageWay['claimed']>>();
  const claiming = <E extends { readonly id: string; readonly payload?: unknown } | null>(
    event: E,
  ): E => {
    if (event !== null) working.set(event.id, way.claimed(accountId, event['payload']));
    return event;
  };
  const end = (name: Named, failure?: Parameters<ReturnType<MessageWay['claimed']>>[0]): void => {
    working.get(idOf(name))?.(failure);
    working.delete(idOf(name));
  };
  const { enqueue, claimNext, claim, complete, release, fail } = queue;
  return way.watch(owner, {
    ...queue,
    enqueue: async (...given) => {
      const result = await enqueue(...given);
      way.kept();
      return result;
    },
    claimNext: async (how) => claiming(await claimNext(how)),
    claim: async (name, how) => claiming(await claim(name, how)),
    complete: (name, how) => {
      end(name);
      return complete(name, how);
    },
    release: (name, how) => {
      working.delete(idOf(name));
      const { lastError } = how ?? {};
      if (lastError !== undefined) way.troubled(accountId, `${owner}.release`, lastError);
      return release(name, how);
    },
    fail: (name, how) => {
      const { reason = 'failed', message } = how;
      end(name, { member: `${owner}.fail`, error: message ?? reason });
      return fail(name, how);
    },
  } satisfies IngressQueue);
}

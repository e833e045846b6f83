import { definedFields, type Fields, fieldsOf, isFields } from 'sluice-kernel/internal';
import { eventContext } from '../channel/event-context.js';
import { textOf } from '../channel/settings.js';
import type { MessageWay } from '../way/message-way.js';
import {
  type Adoption,
  type Deliver,
  type DispatcherOptions,
  type replyOf,
  resolveEffectiveMessagesConfig,
} from './reply.js';

/** The decision of a channel about an event: `dispatch` makes a message of it. */
interface Admission {
  readonly kind: string;
  readonly reason?: string;
}

/** How a channel delivers a reply, as it declares it. */
interface Delivery {
  readonly deliver?: Deliver;
  readonly deliverWithProviderMessageSending?: Deliver;
  readonly preparePayload?: (reply: object, info: object) => unknown;
  readonly onDelivered?: (reply: object, info: object, result: unknown) => unknown;
  readonly onError?: DispatcherOptions['onError'];
}

/** An event that is to be a message. */
interface Turn {
  readonly ctxPayload: object;
  readonly cfg?: unknown;
  readonly channel?: unknown;
  readonly accountId?: unknown;
  readonly agentId?: unknown;
  readonly route?: { readonly agentId?: unknown; readonly sessionKey?: unknown };
  readonly routeSessionKey?: unknown;
  readonly admission?: Admission;
  readonly delivery?: Delivery;
  readonly dispatcherOptions?: Partial<DispatcherOptions>;
  readonly replyPipeline?: Fields;
  readonly replyOptions?: { readonly turnAdoptionLifecycle?: Adoption };
  readonly turnAdoptionLifecycle?: Adoption | undefined;
  readonly afterRecord?: () => unknown;
  readonly runDispatch?: () => unknown;
  readonly runDispatchLifecycle?: { onDispatchSkipped?(why: string): unknown };
}

/** The steps of `inbound.run`, as a channel gives them. */
interface Adapter {
  ingest(raw: unknown): unknown;
  classify?(input: unknown): unknown;
  preflight?(input: unknown, eventClass: unknown): unknown;
  resolveTurn(input: unknown, eventClass: unknown, preflight: Fields): Turn | Promise<Turn>;
  onFinalize?(result: object): unknown;
}

const dispatch: Admission = { kind: 'dispatch' };
/** Calls of a delivery that the outbox of the host makes needless: it keeps each step of a send. */
const custody = {
  assertPlatformSendAuthorized: (): void => undefined,
  onPlatformSendDispatch: async (): Promise<void> => undefined,
};

/**
 * `channel.inbound` of profile 2026.9: an event of a channel becomes a message of the host by the dispatcher of `channel.reply`. An
 * event that waits in the queue of its channel is adopted when the host has taken the message in (spec §17.35).
 */
export function inboundOf(reply: ReturnType<typeof replyOf>, way: MessageWay) {
  const dispatched = async (turn: Turn) => {
    const { ctxPayload, admission = dispatch, runDispatch, runDispatchLifecycle } = turn;
    const adoption = turn.turnAdoptionLifecycle ?? turn.replyOptions?.turnAdoptionLifecycle;
    const routeSessionKey = turn.route?.sessionKey ?? turn.routeSessionKey;
    const known = { admission, ctxPayload, routeSessionKey };
    if (admission.kind !== 'dispatch') {
      await runDispatchLifecycle?.onDispatchSkipped?.(admission.kind);
      await adoption?.onAdopted?.();
      return { ...known, dispatched: false };
    }
    await turn.afterRecord?.();
    const dispatchResult =
      runDispatch === undefined
        ? await reply.dispatchReplyWithBufferedBlockDispatcher({
            ...{ ctx: ctxPayload, dispatcherOptions: dispatcherOf(turn) },
            replyOptions: { turnAdoptionLifecycle: adoption },
          })
        : await runDispatch();
    return { ...known, dispatched: true, dispatchResult };
  };

  const run = async (given: {
    readonly raw: unknown;
    readonly adapter: Adapter;
    readonly turnAdoptionLifecycle?: Adoption;
  }) => {
    const { raw, adapter, turnAdoptionLifecycle } = given;
    const ended = (kind: string, reason: string) => ({
      ...{ admission: { kind, reason }, dispatched: false },
    });
    const input = await adapter.ingest(raw);
    if (input === null || input === undefined) return ended('drop', 'ingest-null');
    const message = { kind: 'message', canStartAgentTurn: true };
    const eventClass = (await adapter.classify?.(input)) ?? message;
    const { canStartAgentTurn, kind } = fieldsOf(eventClass);
    if (canStartAgentTurn !== true) return ended('handled', `event:${String(kind)}`);
    const told = fieldsOf(await adapter.preflight?.(input, eventClass));
    const preflight = 'kind' in told ? { admission: told } : told;
    const judged = fieldsOf(preflight['admission']);
    const decided = isFields(preflight['admission']) ? (judged as Fields & Admission) : dispatch; // a channel says so
    if (decided.kind === 'drop' || decided.kind === 'handled')
      return { admission: decided, dispatched: false };
    const turn = await adapter.resolveTurn(input, eventClass, preflight);
    const { admission = decided } = turn;
    const known = { admission, dispatched: false, ctxPayload: turn.ctxPayload };
    const result = await dispatched({
      ...turn,
      admission,
      turnAdoptionLifecycle: turn.turnAdoptionLifecycle ?? turnAdoptionLifecycle,
    }).catch(async (error: unknown) => {
      await adapter.onFinalize?.(known);
      throw error;
    });
    await adapter.onFinalize?.(result);
    return result;
  };

  return {
    buildContext: eventContext,
    dispatch: dispatched,
    dispatchReply: dispatched,
    run: (given: Parameters<typeof run>[0]) =>
      way.carry(
        () => given.raw,
        () => run(given),
      ),
    runPreparedReply: dispatched,
  };
}

/** The options of a dispatcher, of what a channel declares for one event. */
function dispatcherOf(turn: Turn): DispatcherOptions {
  const { delivery = {}, dispatcherOptions = {}, replyPipeline, route, cfg } = turn;
  const { start, stop } = fieldsOf(replyPipeline?.['typing']) as {
    start?: Callback;
    stop?: Callback;
  }; // its own
  const set =
    replyPipeline === undefined
      ? {}
      : resolveEffectiveMessagesConfig(cfg, route?.agentId ?? turn.agentId, turn);
  return {
    ...definedFields({ responsePrefix: textOf(fieldsOf(set)['responsePrefix']) }),
    ...definedFields({ onReplyStart: start, onIdle: stop, onError: delivery.onError }),
    ...(isFields(replyPipeline?.['typingCallbacks']) && {
      typingCallbacks: replyPipeline['typingCallbacks'],
    }),
    ...dispatcherOptions,
    deliver: deliveryOf(delivery),
  };
}

type Callback = () => unknown;

/** Delivers by the channel's own code, unless that leaves nothing of the reply; gives what it tells of the delivery. */
function deliveryOf(delivery: Delivery): Deliver {
  const { deliverWithProviderMessageSending: send = delivery.deliver, preparePayload } = delivery;
  return async (reply, info) => {
    const prepared: unknown =
      preparePayload === undefined ? reply : await preparePayload(reply, info);
    if (prepared === null) return { visibleReplySent: false };
    if (send === undefined) throw new Error('the channel declares no way to deliver a reply');
    const left = prepared as typeof reply; // the channel's own, as its code takes it
    const sent = fieldsOf(await send(left, { ...info, ...custody }));
    const result = { ...sent, ...fieldsOf(await sent['finalization']) };
    await delivery.onDelivered?.(left, info, result);
    return result;
  };
}

import { isOutcome, type Outcome, type PayloadOf, SluiceError } from '../kernel/index.js';
import type { ApprovedMessage } from './message.js';

/** Known to this file alone: nothing else can make a permit. */
const mint = Symbol('mint');

/**
 * The right to send one message, once (spec §14.1). Only a passed `egress.preparing` outcome mints one, through
 * `approveSend`; a channel's `send` takes nothing else. A plain object is no permit: the class is nominal.
 *
 * @example
 * async send(permit) {
 *   const message = permit.take();
 *   return { status: 'sent', receipt: await api.post(message.to, message.content) };
 * }
 */
export class SendPermit {
  /** The same for every attempt to send one approved message, and for no other. */
  readonly idempotencyKey: string;
  /** Which attempt this is, from 1. */
  readonly attempt: number;
  readonly #message: ApprovedMessage;
  #used = false;

  private constructor(key: typeof mint, message: ApprovedMessage, id: string, attempt: number) {
    if (key !== mint) throw new SluiceError('permit-forged', { what: 'new SendPermit' });
    this.#message = message;
    this.idempotencyKey = id;
    this.attempt = attempt;
  }

  /** Whether the message was taken. */
  get used(): boolean {
    return this.#used;
  }

  /**
   * The approved message. It can be taken once.
   *
   * @throws SluiceError `permit-used` the second time.
   */
  take(): ApprovedMessage {
    if (this.#used) throw new SluiceError('permit-used', { what: this.idempotencyKey });
    this.#used = true;
    return this.#message;
  }

  /** @internal `SendApproval` alone holds the key. */
  static mint(key: typeof mint, message: ApprovedMessage, id: string, attempt: number): SendPermit {
    return new SendPermit(key, message, id, attempt);
  }
}

/**
 * What a passed `egress.preparing` allows: this message, once. It stays with the host; a channel sees only the
 * permits. A further permit, for a further attempt, is minted when the one before was used up.
 */
export class SendApproval {
  /** Outcomes that were approved. It marks objects that others own, so it outlives no host by anything. */
  static readonly #approved = new WeakSet<object>();

  readonly message: ApprovedMessage;
  readonly #id: string;
  #last: SendPermit | undefined;

  private constructor(key: typeof mint, message: ApprovedMessage, id: string) {
    if (key !== mint) throw new SluiceError('permit-forged', { what: 'new SendApproval' });
    this.message = message;
    this.#id = id;
  }

  /** The same in every permit. */
  get idempotencyKey(): string {
    return this.#id;
  }

  /** How many permits were minted. */
  get attempts(): number {
    return this.#last?.attempt ?? 0;
  }

  /**
   * The next permit.
   *
   * @throws SluiceError `permit-unused` while the one before can still be used.
   */
  mintPermit(): SendPermit {
    if (this.#last?.used === false) throw new SluiceError('permit-unused', { what: this.#id });
    this.#last = SendPermit.mint(mint, this.message, this.#id, this.attempts + 1);
    return this.#last;
  }

  /** @internal Use `approveSend`. */
  static of(outcome: Outcome<'egress.preparing'>): SendApproval {
    if (!isOutcome(outcome))
      throw new SluiceError('not-approved', { what: 'A value that no kernel made' });
    const { family } = outcome.event as { readonly family: string }; // whatever the type says
    if (family !== 'egress.preparing')
      throw new SluiceError('not-approved', { what: `An outcome of "${family}"` });
    if (outcome.status !== 'passed')
      throw new SluiceError('not-approved', { what: `A ${outcome.status} outcome` });
    const message = approvedMessage(outcome.payload, outcome.selection?.target);
    if (SendApproval.#approved.has(outcome))
      throw new SluiceError('approved-before', { what: outcome.event.eventId });
    SendApproval.#approved.add(outcome);
    return new SendApproval(mint, message, outcome.event.eventId);
  }
}

/**
 * Turns a passed `egress.preparing` outcome into the approval to send it. The only source of permits.
 *
 * @throws SluiceError `not-approved`, `no-target` or `approved-before`.
 * @example
 * const outcome = await kernel.dispatch('egress.preparing', payload);
 * if (outcome.status === 'passed') await channel.send(approveSend(outcome).mintPermit());
 */
export function approveSend(outcome: Outcome<'egress.preparing'>): SendApproval {
  return SendApproval.of(outcome);
}

type Target = NonNullable<Outcome<'egress.preparing'>['selection']>['target'];

function approvedMessage(
  payload: Readonly<PayloadOf<'egress.preparing'>>,
  target: Target | undefined,
): ApprovedMessage {
  const { explicit: _explicit, accounts: _accounts, ...rest } = payload;
  const channel = target?.channel ?? payload.channel;
  const accountId = target?.accountId ?? payload.accountId;
  if (channel === undefined || accountId === undefined)
    throw new SluiceError('no-target', { what: payload.to });
  return Object.freeze({
    ...rest,
    channel,
    accountId,
    ...(target?.to !== undefined && { to: target.to }),
    ...(target?.threadId !== undefined && { threadId: target.threadId }),
  });
}

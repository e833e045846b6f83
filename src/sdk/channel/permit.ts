import {
  isBegunBy,
  isOutcome,
  type Kernel,
  type Outcome,
  type PayloadOf,
} from 'sluice-kernel/internal';
import type { ChannelCapabilities } from '../stream/index.js';
import { channelError } from './errors.js';
import { withElementsAsText } from './interactive.js';
import type { ApprovedMessage } from './message.js';

/** The key that only this file knows, so that nothing else can make a permit. */
const mint = Symbol('mint');

/** A message that may be sent, with the outcome that approves it. */
interface Approved {
  readonly outcome: Outcome<'egress.preparing'>;
  readonly message: ApprovedMessage;
  /** The idempotency key. */
  readonly id: string;
}

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
  readonly #approved: Approved;
  #used = false;

  private constructor(key: typeof mint, approved: Approved, attempt: number) {
    if (key !== mint) throw channelError('permit-forged', { what: 'new SendPermit' });
    this.#approved = approved;
    this.idempotencyKey = approved.id;
    this.attempt = attempt;
  }

  /** Returns whether a value is a permit that an outcome of this kernel has approved. A lookalike is none, nor is a primitive. */
  static isOf(value: unknown, kernel: Kernel): boolean {
    if (typeof value !== 'object' || value === null || !(#approved in value)) return false;
    return isBegunBy(value.#approved.outcome, kernel);
  }

  /** True as soon as the message was taken. */
  get used(): boolean {
    return this.#used;
  }

  /**
   * The approved message. It can be taken once.
   *
   * @throws SluiceError `permit-used` the second time.
   */
  take(): ApprovedMessage {
    if (this.#used) throw channelError('permit-used', { what: this.idempotencyKey });
    this.#used = true;
    return this.#approved.message;
  }

  /** @internal `SendApproval` alone holds the key. */
  static mint(key: typeof mint, approved: Approved, attempt: number): SendPermit {
    return new SendPermit(key, approved, attempt);
  }
}

/**
 * The approval that a passed `egress.preparing` gives: this message, once. It stays with the host; a channel sees only the
 * permits. A further permit, for a further attempt, is minted when the one before was used up.
 *
 * @example
 * const approval = approveSend(outcome);
 * let result = await channel.send(approval.mintPermit(), { signal });
 * if (result.status === 'retry-after') result = await channel.send(approval.mintPermit(), { signal });
 */
export class SendApproval {
  /** Outcomes that were approved. It marks objects that others own, so it outlives no host by anything. */
  static readonly #approved = new WeakSet<object>();

  readonly message: ApprovedMessage;
  readonly #of: Approved;
  #last: SendPermit | undefined;

  private constructor(key: typeof mint, approved: Approved) {
    if (key !== mint) throw channelError('permit-forged', { what: 'new SendApproval' });
    this.message = approved.message;
    this.#of = approved;
  }

  /** The same in every permit. */
  get idempotencyKey(): string {
    return this.#of.id;
  }

  /** The number of permits that were minted. */
  get attempts(): number {
    return this.#last?.attempt ?? 0;
  }

  /**
   * The next permit.
   *
   * @throws SluiceError `permit-unused` while the one before can still be used.
   */
  mintPermit(): SendPermit {
    if (this.#last?.used === false) throw channelError('permit-unused', { what: this.#of.id });
    this.#last = SendPermit.mint(mint, this.#of, this.attempts + 1);
    return this.#last;
  }

  /** @internal Use `approveSend`. */
  static of(
    outcome: Outcome<'egress.preparing'>,
    kernel: Kernel | undefined,
    capabilitiesOf: CapabilitiesOf | undefined,
  ): SendApproval {
    if (!isOutcome(outcome))
      throw channelError('not-approved', { what: 'A value that no kernel made' });
    const { family } = outcome.event as { readonly family: string }; // whatever the type says
    if (family !== 'egress.preparing')
      throw channelError('not-approved', { what: `An outcome of "${family}"` });
    if (!isBegunBy(outcome))
      throw channelError('not-approved', { what: 'An outcome that a handler has dispatched' });
    if (!isBegunBy(outcome, kernel))
      throw channelError('not-approved', { what: 'An outcome of another kernel' });
    if (outcome.status !== 'passed')
      throw channelError('not-approved', { what: `A ${outcome.status} outcome` });
    const approved = approvedMessage(outcome.payload, outcome.selection?.target);
    const message =
      capabilitiesOf === undefined
        ? approved
        : withElementsAsText(approved, capabilitiesOf(approved)?.interactive);
    if (SendApproval.#approved.has(outcome))
      throw channelError('approved-before', { what: outcome.event.eventId });
    SendApproval.#approved.add(outcome);
    return new SendApproval(mint, { outcome, message, id: outcome.event.eventId });
  }
}

/**
 * Turns a passed `egress.preparing` outcome into the approval to send it. The only source of permits. An outcome that a handler
 * has dispatched approves nothing, nor does one of another kernel than the given (spec §14.14).
 *
 * @param kernel the kernel that must have made the outcome: a host names its own. By default any.
 * @param capabilitiesOf the abilities of the channel that was selected: the elements that it does not show become lines of the
 *   text (spec §14.16). Without it the message keeps all of them.
 * @throws SluiceError `not-approved`, `no-target` or `approved-before`.
 * @example
 * const outcome = await kernel.dispatch('egress.preparing', payload);
 * if (outcome.status === 'passed') await channel.send(approveSend(outcome).mintPermit(), { signal });
 */
export function approveSend(
  outcome: Outcome<'egress.preparing'>,
  kernel?: Kernel,
  capabilitiesOf?: CapabilitiesOf,
): SendApproval {
  return SendApproval.of(outcome, kernel, capabilitiesOf);
}

/** Finds the abilities of the channel that a message is sent by; nothing if its account does not run. */
export type CapabilitiesOf = (
  place: Pick<ApprovedMessage, 'channel' | 'accountId'>,
) => ChannelCapabilities | undefined;

type Target = NonNullable<Outcome<'egress.preparing'>['selection']>['target'];

function approvedMessage(
  payload: PayloadOf<'egress.preparing'>,
  target: Target | undefined,
): ApprovedMessage {
  const { explicit: _explicit, accounts: _accounts, ...rest } = payload;
  const channel = target?.channel ?? payload.channel;
  const accountId = target?.accountId ?? payload.accountId;
  if (channel === undefined || accountId === undefined)
    throw channelError('no-target', { what: payload.to });
  return Object.freeze({
    ...rest,
    channel,
    accountId,
    ...(target?.to !== undefined && { to: target.to }),
    ...(target?.threadId !== undefined && { threadId: target.threadId }),
  });
}

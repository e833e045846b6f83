import {
  type AsyncFamily,
  type Clock,
  type Envelope,
  type FamilyName,
  type Given,
  getOrMake,
  type Kernel,
  type Logger,
  type OpenContribution,
  type OpenKernel,
  type Outcome,
  openKernel,
  type PayloadOf,
  perKernel,
  silentLogger,
  unfailing,
} from 'sluice-kernel/internal';
import { plainRecords } from './plain-records.js';
import { type FactBus, type FactIdentity, type SameFact, sameFact } from './same-fact.js';

/** A canonical dispatch that a call of a legacy host becomes. */
export interface Announcement {
  readonly family: FamilyName;
  readonly payload: object;
  readonly given?: Given;
}

/**
 * A legacy bus on a kernel, a source and a sink of canonical events. Its rows say what each of its events is there. A call
 * of the host becomes the dispatches of its row, unless another bus has told of the same fact; a dispatch of others
 * becomes one call for each row whose handlers hear it.
 */
export class LegacyBus<Row extends object, Made> {
  readonly kernel: OpenKernel;
  readonly counts = { dispatched: 0, misfits: 0, failures: 0 };
  protected readonly logger: Logger;
  readonly #on: Kernel;
  readonly #name: FactBus;
  readonly #misfits = new Set<Row>();
  /** The calls of the host, by the metadata of their dispatches. */
  readonly #announced = new WeakMap<object, { readonly row: Row; readonly call: Made }>();
  /** The calls that other dispatches became, by envelope and row. */
  readonly #made = new WeakMap<Envelope, Map<Row, Made>>();

  constructor(on: Kernel, name: FactBus, logger: Logger = silentLogger) {
    this.kernel = openKernel(on);
    this.logger = unfailing(logger);
    this.#on = on;
    this.#name = name;
  }

  /** The facts that the buses of the kernel have told. @param clock counts at the first call for the kernel. */
  facts(clock?: Clock): SameFact {
    return sameFact(this.#on, clock && { clock });
  }

  /** Checks the payload of a dispatch. @throws SluiceError as `kernel.parsePayload` does. */
  checked<One extends Announcement>(one: One): One {
    const payload = this.kernel.parsePayload(one.family, plainRecords(one.payload));
    return { ...one, payload };
  }

  /**
   * Dispatches what was checked, unless another bus has told of the same fact.
   *
   * @returns the outcome of the dispatch that told of the fact first.
   */
  announce({ family, payload, given }: Announcement): Promise<Outcome> {
    const begin = (): Promise<Outcome> => {
      this.counts.dispatched++;
      return this.kernel.dispatch(family, payload, given);
    };
    if (!isSharedFact(family)) return begin();
    const fact = factOf(family, payload as PayloadOf<SharedFactFamily>); // checked for this family
    const dispatch = begin as () => Promise<Outcome<AsyncFamily>>; // a shared fact is of such a family
    return this.facts().announce<AsyncFamily>(this.#name, fact, dispatch);
  }

  /** The same for a synchronous family: no other bus tells of its facts. */
  announceSync({ family, payload, given }: Announcement): Outcome {
    this.counts.dispatched++;
    return this.kernel.dispatchSync(family, payload, given);
  }

  /** Counts a call of the host that is no canonical event, and tells of it once for each row. */
  misfit(row: Row, message: string, error: unknown): void {
    this.counts.misfits++;
    if (this.#misfits.has(row)) return;
    this.#misfits.add(row);
    this.logger.warn(message, { error });
  }

  /** Notes the call behind the dispatches with these metadata. */
  note(metadata: object, row: Row, call: Made): void {
    this.#announced.set(metadata, { row, call });
  }

  /** The call behind a dispatch, with its row; nothing if the host of this bus did not announce it. */
  announced({ metadata }: Envelope): { readonly row: Row; readonly call: Made } | undefined {
    return this.#announced.get(metadata);
  }

  /** The call that a dispatch of others is for a row. @param make makes it, once. */
  madeOf(row: Row, event: Envelope, make: () => Made): Made {
    const calls = getOrMake(this.#made, event, () => new Map<Row, Made>());
    if (!calls.has(row)) calls.set(row, make());
    return calls.get(row) as Made; // it was set above
  }

  /** The call that a dispatch of others was for a row, if it was made. */
  alreadyMade(row: Row, event: Envelope): Made | undefined {
    return this.#made.get(event)?.get(row);
  }

  /**
   * Makes several contributions, or none: if one is refused, those before it are taken back.
   *
   * @param last is called once, when they have been taken back.
   * @throws SluiceError as `kernel.contribute` does.
   */
  contribute(contributions: readonly OpenContribution[], last?: () => void): Disposable {
    const made: Disposable[] = last === undefined ? [] : [{ [Symbol.dispose]: last }];
    const undo = {
      [Symbol.dispose]: () => {
        for (const one of made.splice(0).reverse()) one[Symbol.dispose]();
      },
    };
    try {
      for (const contribution of contributions) made.push(this.kernel.contribute(contribution));
    } catch (error) {
      undo[Symbol.dispose]();
      throw error;
    }
    return undo;
  }
}

/**
 * Returns whether a dispatch repeats an event that a legacy host told one of its buses: its metadata then name the hook
 * (`legacyHook`) or the bus (`legacyBus`). Such a host tells its other buses itself.
 */
export function isOfLegacyHost({ metadata }: Pick<Envelope, 'metadata'>): boolean {
  return 'legacyHook' in metadata || 'legacyBus' in metadata;
}

/**
 * Shares one bus of a kind per kernel. The legacy system has one per process, so that handlers and callers meet.
 *
 * @param make makes the bus when its first user joins.
 * @returns how a user joins. Its `leave` lets go of the bus; that of the last user takes the bus off the kernel.
 */
export function sharedBus<Bus extends Disposable, Options>(
  make: (kernel: Kernel, options: Options) => Bus,
) {
  const slotOf = perKernel(() => ({ bus: undefined as Bus | undefined, users: new Set<object>() })); // no bus yet
  return (kernel: Kernel, options: Options) => {
    const slot = slotOf(kernel);
    const bus = (slot.bus ??= make(kernel, options));
    const user = {};
    slot.users.add(user);
    const leave = (): void => {
      if (!slot.users.delete(user) || slot.users.size > 0) return;
      slot.bus = undefined;
      bus[Symbol.dispose]();
    };
    return { bus, user, leave };
  };
}

/** The families whose facts more than one legacy bus tells of. */
type SharedFactFamily =
  | 'ingress.normalized'
  | 'egress.sent'
  | 'egress.failed'
  | 'compaction.before'
  | 'compaction.after'
  | 'gateway.started';

/**
 * Finds the subject of a fact in the canonical payload of a bus. It uses only the fields that every bus fills: a received
 * message by channel, account, conversation and message id, or if it has none by sender, text and time; a sent one
 * by its place and text, since the plugin hook names no message; a compaction by its session and run, and by nothing
 * where the hook names neither; a gateway's start by being one.
 *
 * @example
 * sameFact(kernel).announce('plugin-hooks', factOf('ingress.normalized', payload), () => kernel.dispatch(...));
 */
export function factOf<F extends SharedFactFamily>(
  family: F,
  payload: PayloadOf<F>,
): FactIdentity<F> {
  return { family, names: namesOf[family](payload) };
}

/** Returns whether more than one legacy bus announces the facts of a family. */
function isSharedFact(family: string): family is SharedFactFamily {
  return Object.hasOwn(namesOf, family);
}

const namesOf: { readonly [F in SharedFactFamily]: (payload: PayloadOf<F>) => readonly string[] } =
  {
    'ingress.normalized': ({ messageId, from, content, sentAtMs, ...message }) => {
      const place = [message.channel, message.accountId, message.conversationId];
      return [
        messageId === undefined
          ? joined('text', ...place, from, content, sentAtMs)
          : joined('id', ...place, messageId),
      ];
    },
    'egress.sent': sent,
    'egress.failed': sent,
    'compaction.before': compaction,
    'compaction.after': compaction,
    'gateway.started': () => ['gateway'],
  };

function sent(send: PayloadOf<'egress.sent'> | PayloadOf<'egress.failed'>): readonly string[] {
  const { channel, accountId, conversationId, to, content } = send;
  return [joined(channel, accountId, conversationId, to, content)];
}

function compaction(
  payload: PayloadOf<'compaction.before'> | PayloadOf<'compaction.after'>,
): readonly string[] {
  const { sessionKey, sessionId, runId } = payload;
  const ids = { sessionKey, sessionId, runId };
  return Object.entries(ids).flatMap(([name, id]) => (id === undefined ? [] : [joined(name, id)]));
}

/** One text of several values, such that different values never give the same text. */
function joined(...values: readonly (string | number | undefined)[]): string {
  return JSON.stringify(values.map((value) => value ?? null));
}

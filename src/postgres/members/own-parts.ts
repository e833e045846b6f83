import type { Hold } from '@sluice/journal';
import { getOrMake, type SluiceError } from 'sluice-kernel/internal';

interface OwnPart {
  readonly part: number;
  readonly epoch: number;
  /** Nothing while the lease may be over: others may have the part by now. */
  held: { readonly hold: Hold; readonly losing: AbortController } | undefined;
  /** The updates that it had in hand when the lease was over. */
  stalled: readonly string[];
  /** The updates, the sends, and all else that must end before the part is released. */
  readonly work: Set<string | Leaving>;
  readonly leaving: Set<Leaving>;
}

type Leaving = () => Promise<void>;

/** How often a beginning is given back to an update because the host was stalled: it may be what stalls it. */
const mostGivenBack = 10;

/** The parts of a host as it knows them itself, with the work that it has in hand for each. */
export class OwnParts {
  readonly #held = new Map<number, OwnPart>();
  readonly #onIdle: () => void;
  #draining: ReadonlySet<number> = new Set();
  #suspensions = 0;
  readonly #givenBack = new Map<string, number>();

  /** @param onIdle is called when nothing of a part is in hand any more in which it begins nothing. */
  constructor(onIdle: () => void) {
    this.#onIdle = onIdle;
  }

  /** The parts in which it begins nothing more. */
  get draining(): ReadonlySet<number> {
    return this.#draining;
  }

  holdOf(part: number): Hold | undefined {
    return this.#draining.has(part) ? undefined : this.#held.get(part)?.held?.hold;
  }

  /** The epoch in which it has a part as far as it knows, also while its lease may be over. */
  epochOf(part: number): number | undefined {
    return this.#held.get(part)?.epoch;
  }

  /** How often its lease was over. */
  get suspensions(): number {
    return this.#suspensions;
  }

  /** The parts in which it may begin something. */
  parts(): readonly number[] {
    return [...this.#held.keys()].filter((part) => this.holdOf(part) !== undefined);
  }

  /** How much it has in hand for a part. */
  workOf(part: number): number {
    const { work, leaving } = this.#held.get(part) ?? {};
    return (work?.size ?? 0) + (leaving?.size ?? 0);
  }

  begun(hold: Hold | undefined, id: string): void {
    this.#of(hold)?.work.add(id);
  }

  ended(hold: Hold, id: string): void {
    this.#givenBack.delete(id);
    this.#done(this.#of(hold), id);
  }

  #done(own: OwnPart | undefined, what: string | Leaving): void {
    const hasEnded = own?.work.delete(what) === true && own.work.size === 0;
    if (hasEnded && this.#draining.has(own.part)) this.#onIdle();
  }

  onLeave(hold: Hold, leave: Leaving): Disposable {
    this.#of(hold)?.leaving.add(leave);
    return { [Symbol.dispose]: () => this.#of(hold)?.leaving.delete(leave) };
  }

  #of(hold: Hold | undefined): OwnPart | undefined {
    const own = hold && this.#held.get(hold.part);
    return own?.held?.hold.signal === hold?.signal ? own : undefined; // one that has ended may come back in the same epoch
  }

  /** Begins nothing more in these parts, and again in others. An account under a part is left when all else of it has ended. */
  drain(parts: readonly number[]): void {
    this.#draining = new Set(parts);
    for (const part of parts) {
      const own = this.#held.get(part);
      if (own?.work.size !== 0) continue;
      for (const leave of own.leaving) {
        own.leaving.delete(leave);
        own.work.add(leave);
        void leave().finally(() => this.#done(own, leave));
      }
    }
  }

  /** Has a part from now on, in a hold of its own, also if it had the part in this epoch when its lease was over. */
  take(part: number, epoch: number): void {
    const own = getOrMake(
      this.#held,
      part,
      (): OwnPart => ({
        ...{ part, epoch, held: undefined, stalled: [], work: new Set(), leaving: new Set() },
      }),
    );
    if (own.held !== undefined) return;
    for (const id of own.stalled) this.#givenBack.set(id, (this.#givenBack.get(id) ?? 0) + 1);
    own.stalled = [];
    const losing = new AbortController();
    own.held = { hold: { part, epoch, signal: losing.signal }, losing };
  }

  /** Ends all holds. The parts are this host's again, in the same epoch, if no other host has taken them: see `take`. */
  suspend(error: SluiceError): void {
    this.#suspensions++;
    for (const own of this.#held.values()) {
      const { held, work } = own;
      if (held === undefined) continue;
      own.held = undefined;
      own.stalled = [...work].filter(
        (one): one is string =>
          typeof one === 'string' && (this.#givenBack.get(one) ?? 0) < mostGivenBack,
      );
      work.clear();
      own.leaving.clear(); // the signal has told them
      held.losing.abort(error);
    }
  }

  /** The updates, and sends, that a lease which was over has broken off in parts that are this host's all the same. */
  stalledIn(epochs: ReadonlyMap<number, number>): readonly string[] {
    const kept = [...this.#held.values()].filter(({ part, epoch }) => epochs.get(part) === epoch);
    return kept.flatMap(({ stalled }) => stalled);
  }

  /** Ends the holds of the parts that it has no more, or in another epoch. @returns whether there are any. */
  keep(epochs: ReadonlyMap<number, number>, error: () => SluiceError): boolean {
    const gone = [...this.#held.values()].filter(({ part, epoch }) => epochs.get(part) !== epoch);
    for (const { part, held } of gone) {
      this.#held.delete(part);
      held?.losing.abort(error());
    }
    return gone.length > 0;
  }
}

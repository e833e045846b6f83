import { getOrMake, type SluiceError } from '../../../../kernel/index.js';
import type { Hold } from '../../hold.js';

interface OwnPart {
  readonly hold: Hold;
  readonly losing: AbortController;
  /** The updates, the sends, and all else that must end before the part is released. */
  readonly work: Set<string | Leaving>;
  readonly leaving: Set<Leaving>;
}

type Leaving = () => Promise<void>;

/** The parts of a host as it knows them itself, with the work that it has in hand for each. */
export class OwnParts {
  readonly #held = new Map<number, OwnPart>();
  readonly #onIdle: () => void;
  #draining: ReadonlySet<number> = new Set();

  /** @param onIdle is called when nothing of a part is in hand any more in which it begins nothing. */
  constructor(onIdle: () => void) {
    this.#onIdle = onIdle;
  }

  /** The parts in which it begins nothing more. */
  get draining(): ReadonlySet<number> {
    return this.#draining;
  }

  holdOf(part: number): Hold | undefined {
    return this.#draining.has(part) ? undefined : this.#held.get(part)?.hold;
  }

  /** The parts in which it may begin something. */
  parts(): readonly number[] {
    return [...this.#held.keys()].filter((part) => !this.#draining.has(part));
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
    this.#done(this.#of(hold), id);
  }

  #done(own: OwnPart | undefined, what: string | Leaving): void {
    const hasEnded = own?.work.delete(what) === true && own.work.size === 0;
    if (hasEnded && this.#draining.has(own.hold.part)) this.#onIdle();
  }

  onLeave(hold: Hold, leave: Leaving): Disposable {
    this.#of(hold)?.leaving.add(leave);
    return { [Symbol.dispose]: () => this.#of(hold)?.leaving.delete(leave) };
  }

  #of(hold: Hold | undefined): OwnPart | undefined {
    const own = hold && this.#held.get(hold.part);
    return own?.hold.signal === hold?.signal ? own : undefined; // one that has ended may come back in the same epoch
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

  take(part: number, epoch: number): void {
    getOrMake(this.#held, part, () => {
      const losing = new AbortController();
      const hold = { part, epoch, signal: losing.signal };
      return { hold, losing, work: new Set(), leaving: new Set() };
    });
  }

  /** Ends the holds of the parts that it has no more, or in another epoch. @returns whether there are any. */
  keep(epochs: ReadonlyMap<number, number>, error: () => SluiceError): boolean {
    const gone = [...this.#held].filter(([part, { hold }]) => epochs.get(part) !== hold.epoch);
    for (const [part, { losing }] of gone) {
      this.#held.delete(part);
      losing.abort(error());
    }
    return gone.length > 0;
  }
}

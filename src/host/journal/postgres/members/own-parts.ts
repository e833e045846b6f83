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
  #draining: ReadonlySet<number> = new Set();

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
    this.#of(hold)?.work.delete(id);
  }

  onLeave(hold: Hold, leave: Leaving): Disposable {
    this.#of(hold)?.leaving.add(leave);
    return { [Symbol.dispose]: () => this.#of(hold)?.leaving.delete(leave) };
  }

  #of(hold: Hold | undefined): OwnPart | undefined {
    const own = hold && this.#held.get(hold.part);
    return own?.hold.epoch === hold?.epoch ? own : undefined;
  }

  /** Begins nothing more in these parts, and again in others. An account under a part is left when all else of it has ended. */
  drain(parts: readonly number[]): void {
    this.#draining = new Set(parts);
    for (const part of parts) {
      const { work, leaving } = this.#held.get(part) ?? {};
      if (work?.size !== 0) continue;
      for (const leave of leaving ?? []) {
        leaving?.delete(leave);
        work.add(leave);
        void leave().finally(() => work.delete(leave));
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

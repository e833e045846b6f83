import type { TurnPauses } from '@sluice/agent';
import type { Place } from './slots.js';

/**
 * The waits of one message for people. As long as at least one of them lasts, the message holds no place and spends no time of its
 * turn (judgement §4.20).
 */
export class PeopleWait {
  readonly #place: Place;
  readonly #pauses: TurnPauses;
  readonly #onLost: (error: unknown) => void;
  #open = 0;
  #hasLeft = false;
  /** One after the other: a wait may begin while the place is being taken again. */
  #moving: Promise<void> = Promise.resolve();

  /** @param onLost told if the message may not go on. */
  constructor(place: Place, pauses: TurnPauses, onLost: (error: unknown) => void) {
    this.#place = place;
    this.#pauses = pauses;
    this.#onLost = onLost;
  }

  /** Does something that waits for a person. @throws what it throws, and if the message may not go on. */
  async during<T>(wait: () => Promise<T>): Promise<T> {
    using _paused = this.#pauses.pause();
    this.#open++;
    try {
      await this.#move();
      return await wait();
    } finally {
      this.#open--;
      await this.#move();
    }
  }

  /** The message is left in the journal: to the next host, or to this one with other extensions. */
  defer(): void {
    this.#place.defer?.();
    this.#onLost(new Error('it waits for a person, and is left in the journal'));
  }

  #move(): Promise<void> {
    this.#moving = this.#moving
      .catch(() => undefined)
      .then(async () => {
        if (this.#open > 0 === this.#hasLeft) return;
        this.#hasLeft = !this.#hasLeft;
        if (this.#hasLeft) return this.#place.leave(true);
        try {
          await this.#place.enter();
        } catch (error) {
          this.#onLost(error);
          throw error;
        }
      });
    return this.#moving;
  }
}

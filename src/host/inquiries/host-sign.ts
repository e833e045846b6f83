import type { Ownership } from '@sluice/journal';
import type { KeyValues } from '@sluice/sdk/extension';

/** A sign by which the hosts of a journal let each other look at it: a value that is written anew each time. */
export class HostSign {
  readonly #keyValues: KeyValues;
  readonly #ownership: Ownership;
  readonly #namespace: string;
  #seen: string | undefined;

  constructor(keyValues: KeyValues, ownership: Ownership, namespace: string) {
    this.#keyValues = keyValues;
    this.#ownership = ownership;
    this.#namespace = namespace;
  }

  /** @throws as the journal does. */
  async give(): Promise<void> {
    const quota = { maxKeys: 1, maxBytes: 1_000 };
    await this.#keyValues.write(this.#namespace, 'last', { body: '' }, { quota });
    this.#ownership.hint();
  }

  /** Returns whether a host has given it since the last call. @throws as the journal does. */
  async isNew(): Promise<boolean> {
    const { version } = (await this.#keyValues.get(this.#namespace, 'last')) ?? {};
    const isNew = version !== this.#seen;
    this.#seen = version;
    return isNew;
  }
}

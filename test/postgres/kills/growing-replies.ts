/** A host shows a reply while it grows. */
export interface Growing {
  readonly show?: { readonly key: string; readonly text: string };
  readonly edit?: { readonly id: number; readonly text: string; readonly isFinal?: boolean };
  readonly remove?: { readonly id: number };
}

/** The replies that grow or have grown, by their ids. */
export class GrowingReplies {
  readonly #shown = new Map<number, { readonly key: string; readonly text: string }>();
  readonly #arrived: Map<string, string>;
  #newest = 0;

  /** @param arrived gets the replies that are whole. */
  constructor(arrived: Map<string, string>) {
    this.#arrived = arrived;
  }

  get size(): number {
    return this.#shown.size;
  }

  /** Shows, edits or removes one. @returns its id; `false` if it is not there any more. */
  change({ show, edit, remove }: Growing): number | boolean {
    if (show !== undefined) {
      this.#shown.set(++this.#newest, show);
      return this.#newest;
    }
    if (remove !== undefined) {
      const key = this.#shown.get(remove.id)?.key;
      this.#arrived.delete(`${key} on ${remove.id}`); // a reply that is whole, and is taken back, has not arrived
      return this.#shown.delete(remove.id);
    }
    const shown = this.#shown.get(edit?.id ?? 0);
    if (edit === undefined || shown === undefined) return false;
    this.#shown.set(edit.id, { ...shown, text: edit.text });
    if (edit.isFinal === true) this.#arrived.set(`${shown.key} on ${edit.id}`, edit.text);
    return edit.id;
  }
}

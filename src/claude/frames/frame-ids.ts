/** The number of ids that a generation holds. */
const generationSize = 4096;

/**
 * The frames that have been read, by uuid. It remembers the last few thousand: a frame that comes twice comes again
 * soon, when a connection is taken up again, and a run may have millions.
 */
export class FrameIds {
  #recent = new Map<string, string>();
  #older: ReadonlyMap<string, string> = new Map();

  /**
   * Says if a frame of this type and uuid was read before, and notes it. Recordings often have their uuids
   * blanked out, with one word for all: such a word is no id.
   */
  isRepeated(type: string, uuid: unknown): uuid is string {
    if (typeof uuid !== 'string' || uuid === '' || uuid.startsWith('<')) return false;
    const known = this.#recent.get(uuid) ?? this.#older.get(uuid);
    if (known === type) return true;
    this.#recent.set(uuid, type);
    if (this.#recent.size >= generationSize) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    return false;
  }
}

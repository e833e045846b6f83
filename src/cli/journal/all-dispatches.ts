import type { DispatchFilter, DispatchRecord, JournalReader } from '../../host/index.js';

/** Dispatches that are read at once. */
const page = 500;

/** Reads all of a journal, a page at a time: it may be larger than memory. */
export async function* allDispatches(
  reader: JournalReader,
  only: Pick<DispatchFilter, 'eventId' | 'family'> = {},
): AsyncGenerator<DispatchRecord> {
  for (let afterSeq: number | undefined = 0; afterSeq !== undefined; ) {
    const some: readonly DispatchRecord[] = await reader.dispatches({
      ...only,
      afterSeq,
      limit: page,
    });
    yield* some;
    afterSeq = some.length < page ? undefined : some.at(-1)?.seq;
  }
}

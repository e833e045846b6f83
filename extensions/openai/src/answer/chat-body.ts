import { createParser } from 'eventsource-parser';

/** A piece of a body: of a stream the data of an event, or a whole answer. */
interface BodyPiece {
  readonly text: string;
  /** The event is named after a failure. */
  readonly isFailure: boolean;
}

/** A body of more characters is read when it has ended, and not before, unless it was known for events by then. */
const maxTriedChars = 1_048_576;

/**
 * Reads a body by what it is, and not by its content type: events, if a line begins as one, or a whole.
 *
 * @returns what each piece of the body has completed; last, what its end has.
 */
export async function* bodyPieces(
  pieces: AsyncIterable<string>,
): AsyncGenerator<readonly BodyPiece[], void> {
  let text = '';
  let isStream = false;
  let found: BodyPiece[] = [];
  const parser = createParser({
    onEvent: ({ data, event = '' }) => {
      const isFailure = /error|fail|exception/i.test(event);
      const lines = data.includes('\n') && !isJson(data) ? data.split('\n') : [data]; // without empty lines between events
      for (const one of lines)
        if (isFailure || one.trim() !== '') found.push({ text: one, isFailure });
    },
  });
  const taken = () => found.splice(0);
  for await (const piece of pieces) {
    if (isStream) parser.feed(piece);
    else {
      text += piece;
      const isTried = text.length < maxTriedChars;
      isStream = isTried && !/^\s*[{[]/.test(text) && /^(?:data|event|id|retry)?:/m.test(text);
      if (isStream) parser.feed(text.trimStart());
      // some servers leave the connection open behind a whole answer
      else if (isTried && /\}\s*$/.test(piece) && isJson(text))
        return yield [{ text, isFailure: false }];
    }
    yield taken();
  }
  if (!isStream) {
    if (text.trim() !== '') yield [{ text, isFailure: false }];
    return;
  }
  parser.feed('\n\n');
  found = found.filter(({ text: one, isFailure }, at) => {
    const isCut = at === found.length - 1 && one.trim() !== '[DONE]' && !isJson(one);
    return isFailure || !isCut;
  });
  yield taken();
}

/** Returns whether a text is JSON, whole. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

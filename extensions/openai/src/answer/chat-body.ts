import { createParser } from 'eventsource-parser';

/** A piece of a body: of a stream the data of an event, or a whole answer. */
export interface BodyPiece {
  readonly text: string;
  /** The event is named after a failure. */
  readonly isFailure: boolean;
}

/** A whole answer of more characters is read when its body has ended, and not before. */
const maxTriedChars = 1_048_576;

/**
 * Reads a body by what it is: events, or JSON as a whole. Its content type counts only if that cannot be seen.
 *
 * @param isNamedStream the content type is that of events.
 * @returns what each piece of the body has completed; last, what its end has.
 */
export async function* bodyPieces(
  pieces: AsyncIterable<string>,
  isNamedStream: boolean,
): AsyncGenerator<readonly BodyPiece[], void> {
  let text = '';
  let isStream: boolean | undefined;
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
    if (isStream === undefined) {
      text += piece;
      isStream = kindOf(text.trimStart(), isNamedStream);
      if (isStream === true) parser.feed(text.trimStart());
    } else if (isStream) parser.feed(piece);
    else text += piece;
    // some servers leave the connection open behind a whole answer
    const isWhole = isStream === false && text.length < maxTriedChars && /\}\s*$/.test(piece);
    if (isWhole && isJson(text)) return yield [{ text, isFailure: false }];
    yield taken();
  }
  if (isStream === true) {
    parser.feed('\n\n');
    found = found.filter((one, at) => one.isFailure || at < found.length - 1 || isLast(one.text)); // else it was cut
    return yield taken();
  }
  if (text.trim() !== '') yield [{ text, isFailure: false }];
}

/** Tells whether a body is one of events; nothing if more of it has to be seen. */
function kindOf(start: string, isNamedStream: boolean): boolean | undefined {
  if (/^[{[]/.test(start)) return false;
  if (/^(?:data|event|id|retry)?:/.test(start)) return true;
  return start.length < 6 ? undefined : isNamedStream;
}

function isLast(text: string): boolean {
  return text.trim() === '[DONE]' || isJson(text);
}

/** Tells whether a text is JSON, whole. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

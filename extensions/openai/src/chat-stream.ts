import { createParser } from 'eventsource-parser';
import type { Clock } from 'sluice';
import { ChatError, failureIn, failureOf } from './chat-error.js';

/** One part of an answer, as the servers of this protocol send it. Any field may be missing, or something else. */
export interface ChatPart {
  readonly choices?: unknown;
  readonly usage?: unknown;
  readonly error?: unknown;
  /** The server has said that nothing more comes. */
  readonly isDone?: true;
}

/** The address of a model, and the bounds of one answer. */
export interface ChatTarget {
  readonly url: string;
  readonly headers: Headers;
  readonly idleTimeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly clock: Clock;
}

/** Characters of an answer that is an error. */
const maxErrorChars = 65_536;

/**
 * Asks for an answer, and yields its parts as they come. A server that does not stream gives one part.
 *
 * @throws ChatError; the reason of the signal if that aborts.
 */
export async function* chatParts(
  body: object,
  { url, headers, idleTimeoutMs, maxAnswerBytes, clock }: ChatTarget,
  signal: AbortSignal,
): AsyncGenerator<ChatPart, void> {
  const at = new URL(url);
  at.pathname = `${at.pathname}/chat/completions`.replace('//', '/');
  const silence = new AbortController();
  const stop = AbortSignal.any([signal, silence.signal]);
  const listen = () => clock.setTimeout(() => silence.abort(), idleTimeoutMs);
  let timer = listen();
  /** The failure of a wait for the server. */
  const failed = (thrown: unknown, otherwise: 'unreachable' | 'cut-stream'): unknown => {
    if (signal.aborted) return signal.reason;
    if (silence.signal.aborted)
      return new ChatError('timed-out', `the server said nothing for ${idleTimeoutMs} ms`);
    const { cause = thrown } = Object(thrown);
    const { code, message = String(cause) } = Object(cause);
    const of = otherwise === 'unreachable' ? `${at.origin}: ` : '';
    return new ChatError(otherwise, `${of}${code ?? message}`);
  };
  try {
    const response = await fetch(at, {
      method: 'POST',
      headers,
      body: JSON.stringify(body, (_, one: unknown) =>
        typeof one === 'string' ? one.replace(/\p{Cs}/gu, '\ufffd') : one,
      ), // half a letter, such as a cut may leave, is refused by many servers
      signal: stop,
      redirect: 'error', // the key and the prompt go where the settings say, and nowhere else
    }).catch((thrown: unknown) => {
      throw failed(thrown, 'unreachable');
    });
    const pieces = caught(piecesOf(response, maxAnswerBytes), failed);
    const isStream = /event-stream/.test(response.headers.get('content-type') ?? '');
    if (!response.ok || !isStream) {
      let text = '';
      for await (const piece of pieces) {
        text += piece;
        if (!response.ok && text.length > maxErrorChars) break;
      }
      if (!response.ok) throw failureOf(response, text, clock.now());
      yield wholeOf(partOf(text));
      return;
    }
    const data: string[] = [];
    const parser = createParser({ onEvent: (event) => void data.push(event.data) });
    for await (const piece of pieces) {
      clock.clearTimeout(timer); // the time of the reader is not the server's
      parser.feed(piece);
      for (const one of data.splice(0)) {
        if (one.trim() === '[DONE]') return yield { isDone: true };
        yield partOf(one);
      }
      timer = listen();
    }
  } finally {
    clock.clearTimeout(timer);
    silence.abort(); // lets go of the connection, if the reader has left
  }
}

/** The texts of a body, as they come. @throws ChatError `too-long`. */
async function* piecesOf({ body }: Response, maxBytes: number): AsyncGenerator<string, void> {
  if (body === null) return;
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > maxBytes)
      throw new ChatError('too-long', `the answer has more than ${maxBytes} bytes`);
    yield decoder.decode(piece, { stream: true });
  }
}

async function* caught(
  pieces: AsyncIterable<string>,
  failed: (thrown: unknown, otherwise: 'cut-stream') => unknown,
): AsyncGenerator<string, void> {
  try {
    yield* pieces;
  } catch (thrown) {
    throw thrown instanceof ChatError ? thrown : failed(thrown, 'cut-stream');
  }
}

function partOf(text: string): ChatPart {
  let part: unknown;
  try {
    part = JSON.parse(text);
  } catch {
    throw new ChatError('broken-stream', `a part is no JSON: ${text.slice(0, 80)}`);
  }
  if (typeof part !== 'object' || part === null)
    throw new ChatError('broken-stream', `a part is no object: ${text.slice(0, 80)}`);
  const { error } = part as ChatPart; // read with care
  if (error !== undefined && error !== null) throw failureIn(text);
  return part;
}

/** An answer that came as a whole, as if it were a part: its messages are deltas. */
function wholeOf({ choices, ...rest }: ChatPart): ChatPart {
  if (!Array.isArray(choices)) return rest;
  return { ...rest, choices: choices.map((one) => ({ ...one, delta: Object(one).message })) };
}

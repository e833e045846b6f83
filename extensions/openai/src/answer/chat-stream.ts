import type { Clock } from 'sluice';
import { bodyPieces, isJson } from './chat-body.js';
import { AnswerEnd, type ChatPart } from './chat-end.js';
import { ChatError, failureIn, failureOf, toldIn } from './chat-error.js';
import { redactor } from './redact.js';

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
/** Milliseconds that a server has for the usage and `[DONE]`, when it has said how its answer ends. */
const afterEndMs = 1_000;

/**
 * Asks for an answer, and yields its parts as they come; the last one says how it has ended. A server that does not stream gives its
 * answer as one part.
 *
 * @throws ChatError without the key; the reason of the signal if that aborts.
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
  const listen = (ms: number) => clock.setTimeout(() => silence.abort(), ms);
  let timer = listen(idleTimeoutMs);
  const end = new AnswerEnd();
  /** The failure of a wait for the server. */
  const failed = (thrown: unknown, otherwise: 'unreachable' | 'cut-stream'): unknown => {
    if (signal.aborted) return signal.reason;
    if (end.told !== undefined) return failureIn(end.told);
    if (silence.signal.aborted)
      return new ChatError(
        'timed-out',
        `the server said nothing for ${idleTimeoutMs} ms (idleTimeoutMs)`,
      );
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
    const pieces = caught(piecesOf(response, maxAnswerBytes), (thrown) => {
      const isEnough = end.word !== undefined || !response.ok;
      if (!isEnough || signal.aborted) throw failed(thrown, 'cut-stream');
    });
    if (!response.ok) {
      clock.clearTimeout(timer);
      timer = listen(afterEndMs); // the status is the end: the rest is its words
      let text = '';
      for await (const piece of pieces) {
        text += piece;
        if (text.length > maxErrorChars) break;
      }
      throw failureOf(response, text, clock.now());
    }
    const isNamedStream = /event-stream/.test(response.headers.get('content-type') ?? '');
    let untilMs: number | undefined;
    for await (const found of bodyPieces(pieces, isNamedStream)) {
      clock.clearTimeout(timer); // the time of the reader is not the server's
      let hasGrown = false;
      for (const { text, isFailure } of found) {
        if (!isFailure && text.trim() === '[DONE]') return yield { end: end.close() };
        const isPart = !isFailure && (end.word === undefined || isJson(text)); // after the end, the rest may be anything
        const part = isPart ? partOf(text) : {};
        hasGrown = end.read(part, text, isFailure) || hasGrown;
        yield part;
      }
      // after the end a ping is no sign of work, and more of the answer is
      if (end.word !== undefined && (hasGrown || untilMs === undefined))
        untilMs = clock.now() + afterEndMs;
      timer = listen(untilMs === undefined ? idleTimeoutMs : Math.max(0, untilMs - clock.now()));
    }
    yield { end: end.close() };
  } catch (thrown) {
    throw thrown instanceof ChatError ? thrown.with(redactor(headers)) : thrown;
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
  onFailure: (thrown: unknown) => void,
): AsyncGenerator<string, void> {
  try {
    yield* pieces;
  } catch (thrown) {
    if (thrown instanceof ChatError) throw thrown;
    onFailure(thrown);
  }
}

function partOf(text: string): ChatPart {
  let part: unknown;
  try {
    part = JSON.parse(text);
  } catch {
    throw new ChatError('broken-stream', `a part is no JSON: ${toldIn(text).message.slice(0, 80)}`);
  }
  if (typeof part !== 'object' || part === null)
    throw new ChatError('broken-stream', `a part is no object: ${text.slice(0, 80)}`);
  return part;
}

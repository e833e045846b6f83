import type { ServerResponse } from 'node:http';
import type { Clock } from 'sluice';
import type { Answer, Part } from './answers.js';
import { refusal, refusalOf } from './refusal.js';

/** The facts about a completion that each of its objects repeats. */
export interface About {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** Bytes that may wait for a slow reader. */
const waitingAtMost = 1_048_576;
/** Milliseconds between signs of life. A reader who takes nothing between two of them is cut off. */
const heartbeatMs = 15_000;
const fields = ['reasoning_content', 'content'] as const;

/** Waits for an answer until its end or the end of its reader. @param reader is called when it has changed. */
export function follow(
  answer: Answer,
  response: ServerResponse,
  reader: (done: (response: Response) => void) => unknown,
): Promise<Response> {
  return new Promise((resolve) => {
    const read = (): unknown => reader(resolve);
    const left = (): void => {
      answer.readers.delete(read);
      answer.stopIfUnwanted();
      resolve(new Response());
    };
    answer.readers.add(read);
    response.once('close', left);
    if (response.closed) left();
    else read();
  });
}

/** Answers with all of it, when it has ended. */
export function whole(answer: Answer, about?: About) {
  return (done: (response: Response) => void): void => {
    if (answer.kept.end === undefined) return;
    const reasoning_content = answer.text('reasoning_content') || undefined;
    const message = { role: 'assistant', content: answer.text('content'), reasoning_content };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
    done(refusalOf(answer) ?? Response.json({ ...about, object: 'chat.completion', choices }));
  };
}

/**
 * Writes it while it grows, as server-sent events. The reader never holds up who writes: one that is too slow is cut off.
 * Nothing that was written can be taken back: if the answer is another in the end, the end is an error (http §3.3).
 */
export function streamed(answer: Answer, about: About, response: ServerResponse, clock: Clock) {
  const shown: Record<Part['field'], string> = { reasoning_content: '', content: '' };
  let isSlow = false;
  const write = (text: string): void => {
    const headers = { 'content-type': 'text/event-stream; charset=utf-8', connection: 'close' };
    if (!response.headersSent) response.writeHead(200, { 'cache-control': 'no-store', ...headers });
    response.write(text);
    if (response.writableLength > waitingAtMost) response.destroy();
  };
  const chunk = (delta: object, finish_reason: string | null = null): void => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
    write(`data: ${JSON.stringify({ ...about, object: 'chat.completion.chunk', choices })}\n\n`);
  };
  const beat = (): void => {
    if (isSlow && response.writableNeedDrain) response.destroy();
    isSlow = response.writableNeedDrain;
    if (!response.writableEnded) write(': it is being made\n\n');
    timer = clock.setTimeout(beat, heartbeatMs);
  };
  let timer = clock.setTimeout(beat, heartbeatMs);
  response.once('close', () => clock.clearTimeout(timer));
  const takenBack = (): Response | undefined => {
    if (fields.every((field) => answer.text(field).trimEnd() === shown[field].trimEnd())) return;
    const eventId = answer.kept.end?.correlationId;
    return refusal(500, 'taken-back', 'what was shown is not the answer: ask again', { eventId });
  };

  return async (done: (response: Response) => void): Promise<void> => {
    for (const field of fields) {
      const text = answer.text(field);
      if (text.length <= shown[field].length || !text.startsWith(shown[field])) continue;
      const role = shown.content + shown.reasoning_content === '' ? 'assistant' : undefined;
      chunk({ role, [field]: text.slice(shown[field].length) });
      shown[field] = text;
    }
    if (answer.kept.end === undefined) return;
    const refused = refusalOf(answer) ?? takenBack();
    if (refused === undefined) {
      chunk({}, 'stop');
      response.end('data: [DONE]\n\n');
    } else if (response.headersSent) response.end(`data: ${await refused.text()}\n\n`);
    done(refused ?? new Response());
  };
}

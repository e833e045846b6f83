import type { ServerResponse } from 'node:http';
import type { Clock } from 'sluice';
import type { Answer, Field } from './answers.js';
import { problemOf, RequestProblem, sendJson } from './problem.js';

/** The facts about a completion that each of its objects repeats. */
export interface About {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** Bytes that may wait for a slow reader. */
const waitingAtMost = 1_048_576;
/** Milliseconds between signs of life in a stream; a reader who has taken nothing for two of them is cut off. */
const heartbeatMs = 15_000;

const fields: readonly Field[] = ['reasoning_content', 'content'];

/** Waits for the end of an answer, and writes it whole. */
export function readWhole(answer: Answer, response: ServerResponse, about: About): () => void {
  return () => {
    if (answer.end === undefined) return;
    const problem = problemOf(answer);
    if (problem !== undefined)
      return sendJson(response, problem.status, problem.body, problem.more.headers);
    const reasoning = answer.text('reasoning_content');
    const message = {
      ...{ role: 'assistant', content: answer.text('content'), refusal: null },
      ...(reasoning !== '' && { reasoning_content: reasoning }),
    };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
    sendJson(response, 200, { ...about, object: 'chat.completion', choices });
  };
}

/**
 * Writes an answer while it grows, as server-sent events. The reader never holds up who writes: one that is too slow is cut off.
 * Nothing that was written can be taken back: if the answer is another in the end, the end is an error.
 */
export function readStream(
  answer: Answer,
  response: ServerResponse,
  about: About,
  clock: Clock,
): () => void {
  const written: Record<Field, string> = { reasoning_content: '', content: '' };
  let wasSlow = false;
  const write = (text: string): void => {
    if (!response.headersSent)
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.write(text);
    if (response.writableLength > waitingAtMost) response.destroy();
  };
  const event = (data: unknown): void => write(`data: ${JSON.stringify(data)}\n\n`);
  const chunk = (delta: object, finish_reason: string | null = null): void =>
    event({
      ...{ ...about, object: 'chat.completion.chunk' },
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    });
  const beat = (): void => {
    if (wasSlow && response.writableNeedDrain) return void response.destroy();
    wasSlow = response.writableNeedDrain;
    write(': the answer is being made\n\n');
    timer = clock.setTimeout(beat, heartbeatMs);
  };
  let timer = clock.setTimeout(beat, heartbeatMs);
  response.once('close', () => clock.clearTimeout(timer));
  let hasBegun = false;

  return () => {
    for (const field of fields) {
      const text = answer.text(field);
      const before = written[field];
      if (text.length <= before.length || !text.startsWith(before)) continue;
      written[field] = text;
      chunk({ ...(!hasBegun && { role: 'assistant' }), [field]: text.slice(before.length) });
      hasBegun = true;
    }
    if (answer.end === undefined) return;
    const problem = problemOf(answer) ?? changed(answer, written);
    if (problem === undefined) {
      chunk(hasBegun ? {} : { role: 'assistant', content: '' }, 'stop');
      write('data: [DONE]\n\n');
    } else if (!response.headersSent)
      return sendJson(response, problem.status, problem.body, problem.more.headers);
    else event(problem.body);
    clock.clearTimeout(timer);
    timer = clock.setTimeout(() => response.destroy(), heartbeatMs); // who reads nothing holds no connection
    response.end();
  };
}

/** The problem of an answer of which something was shown that is no part of it in the end. */
function changed(answer: Answer, written: Readonly<Record<Field, string>>) {
  if (fields.every((field) => answer.text(field).trimEnd() === written[field].trimEnd())) return;
  const eventId = answer.end?.correlationId;
  const why = 'a part that was shown is not in the answer: ask again';
  return new RequestProblem(500, 'taken-back', why, { eventId });
}

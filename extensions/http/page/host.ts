/** The host of the page: what it is asked, and how. */

/** A button of a question. */
export interface Button {
  readonly id: string;
  readonly label: string;
}

/** A part of an answer, as it comes. */
export interface AnswerPart {
  readonly content?: string;
  readonly thinking?: string;
  readonly questions?: readonly (readonly Button[])[];
}

/** The way to the host, with the key of the person. */
export interface Host {
  readonly key: () => string;
  /** The key is missing or wrong. */
  readonly keyMissing: () => void;
}

interface AskedError {
  readonly message: string;
  readonly code?: string;
  readonly event_id?: string;
}

/** A problem in words for the person who reads the page. */
export class Problem extends Error {
  /** The host has ended what was asked. Else it may still answer it, under the same key. */
  readonly isEnd: boolean;

  constructor(message: string, isEnd = false) {
    super(message);
    this.isEnd = isEnd;
  }
}

/** Problems behind which there may be an answer all the same: the host has not handled the message yet, or keeps its answer. */
const passing = ['invalid_api_key', 'busy', 'stopping', 'not-taken', 'aborted', 'taken-back'];

function problemOf(error: AskedError | string): Problem {
  if (typeof error === 'string') return new Problem(error, true); // of the port itself
  const { message, code = '', event_id: event } = error;
  const facts = [code, event].filter(Boolean).join(', ');
  return new Problem(`${message} (${facts})`, !passing.includes(code));
}

async function ask(host: Host, path: string, headers: object, init: RequestInit = {}) {
  const key = host.key();
  const answer = await fetch(path, {
    ...init,
    headers: {
      'content-type': 'application/json',
      ...headers,
      ...(key !== '' && { authorization: `Bearer ${key}` }),
    },
  }).catch((error: unknown) => {
    if (init.signal?.aborted === true) throw error;
    throw new Problem('The host cannot be reached. It may have stopped.');
  });
  if (answer.ok) return answer;
  if (answer.status === 401) host.keyMissing();
  const body: { readonly error?: AskedError | string } = await answer.json().catch(() => ({}));
  if (body.error === undefined) throw new Problem(`The host answered ${answer.status}.`);
  throw problemOf(body.error);
}

export async function readModels(host: Host): Promise<readonly string[]> {
  const answer = await ask(host, 'v1/models', {});
  const { data }: { readonly data: readonly { readonly id: string }[] } = await answer.json();
  return data.map(({ id }) => id);
}

/** Presses a button. The host answers in the conversation. */
export async function press(host: Host, conversation: string, button: string): Promise<void> {
  const headers = { 'x-sluice-conversation': conversation };
  await ask(host, 'v1/presses', headers, { method: 'POST', body: JSON.stringify({ button }) });
}

/** A message that is said. The key makes it one, however often it is asked for. */
export interface Said {
  readonly conversation: string;
  readonly model: string;
  readonly text: string;
  readonly key: string;
  readonly signal?: AbortSignal;
}

/** Says a text, and gives the answer while it grows. */
export async function* say(host: Host, said: Said): AsyncGenerator<AnswerPart> {
  const { conversation, model, text, key, signal } = said;
  const messages = [{ role: 'user', content: text }];
  const answer = await ask(
    host,
    'v1/chat/completions',
    { 'x-sluice-conversation': conversation, 'idempotency-key': key },
    {
      ...{ method: 'POST', body: JSON.stringify({ model, stream: true, messages }) },
      ...(signal !== undefined && { signal }),
    },
  );
  let rest = '';
  let hasEnded = false;
  for await (const part of textsOf(answer)) {
    const events = (rest + part).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      if (event === 'data: [DONE]') hasEnded = true;
      else if (event.startsWith('data: ')) yield partOf(JSON.parse(event.slice(6)));
    }
  }
  if (!hasEnded) throw new Problem('The answer broke off.');
}

interface Chunk {
  readonly error?: AskedError;
  readonly choices?: readonly {
    readonly delta: { readonly content?: string; readonly reasoning_content?: string };
  }[];
  readonly sluice?: { readonly questions: readonly (readonly Button[])[] };
}

function partOf({ error, choices, sluice }: Chunk): AnswerPart {
  if (error !== undefined) throw problemOf(error);
  const { content = '', reasoning_content: thinking = '' } = choices?.[0]?.delta ?? {};
  return { content, thinking, ...(sluice !== undefined && { questions: sluice.questions }) };
}

async function* textsOf({ body }: Response): AsyncGenerator<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  const next = () => reader?.read().catch(() => undefined); // a connection that breaks ends it, too
  for (let part = await next(); part?.done === false; part = await next()) yield part.value;
}

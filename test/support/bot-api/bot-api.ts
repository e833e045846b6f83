import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Update } from 'grammy/types';
import { type CallsMade, callsMadeTo } from './calls-made.js';
import { Chats, Refused, type ShownInChat } from './chats.js';
import { answerJson, type Fault, fail, isAfter } from './fault.js';

/** A call that came in. */
export interface BotApiCall {
  readonly method: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Telegram's Bot API on loopback, for one bot: the methods that a channel uses, and faults on demand. */
export interface BotApiServer extends AsyncDisposable {
  /** To be given as the root of the API. */
  readonly url: string;
  readonly token: string;
  readonly calls: readonly BotApiCall[];
  /** What the chats show now. */
  readonly shown: readonly ShownInChat[];
  /** Every message there ever was, and what became of it, as `sent 1001 hello`. */
  readonly history: readonly string[];
  /** The offset that was confirmed last. */
  readonly offset: number;
  /** Updates that nobody has confirmed. */
  readonly waiting: readonly Update[];
  /** True if no call is under way: each call that a client of this process has made is answered, or waits, or hangs. */
  readonly isQuiet: boolean;
  /** People write. */
  give(...updates: readonly object[]): void;
  /** The next calls of a method fail so, one after the other. */
  fault(method: string, ...faults: readonly Fault[]): void;
  /** What polls get, in place of what waits. */
  deliver: ((updates: readonly Update[]) => readonly unknown[]) | undefined;
  /** A webhook that is set. */
  webhook: { readonly url: string; readonly secret: string } | undefined;
  /** Is told of a call that does something, before and after it is done; it may cut off who calls. */
  onCall: ((method: string, when: 'before' | 'after') => void) | undefined;
  /** The chats: which topics are there, and which groups have moved. */
  readonly chats: Pick<Chats, 'topics' | 'closed' | 'moved'>;
  /** The root of the API for one process of several: it can be cut off for itself. */
  rootOf(process: string): string;
  /** A process is gone: its calls are not answered any more, and no further one is made. */
  cutOff(process: string): void;
  /** The calls of a method. */
  of(method: string): readonly BotApiCall[];
}

export const testToken = '4839574812:AAFD39kkdpWt3ywyRZergyOLMaJhac60qc';
const me = { id: 7, is_bot: true, first_name: 'Lima', username: 'lima_bot' };

/** @param now milliseconds since 1970, for the times in answers. */
export async function botApiServer(now: () => number = Date.now): Promise<BotApiServer> {
  const chats = new Chats();
  const calls: BotApiCall[] = [];
  const history: string[] = [];
  /** Processes that are cut off. */
  const gone = new Set<string>();
  const faults = new Map<string, Fault[]>();
  let waiting: Update[] = [];
  let offset = 0;
  let busy = 0;
  /** Calls that wait for an update or get no answer. */
  const held = new Set<ServerResponse>();
  let made: CallsMade | undefined;
  let poll: { readonly respond: () => void; readonly refuse: () => void } | undefined;

  const told = (what: string, message: object): object => {
    const { message_id: id, text } = message as { message_id: number; text?: string };
    history.push(`${what} ${id} ${text ?? ''}`.trim());
    return message;
  };

  const perform = (method: string, payload: BotApiCall['payload']): unknown => {
    if (method === 'getMe') return me;
    if (method === 'getWebhookInfo') return { url: server.webhook?.url ?? '' };
    if (method === 'deleteWebhook') {
      server.webhook = undefined;
      return true;
    }
    if (method === 'setWebhook') {
      server.webhook = { url: String(payload['url']), secret: String(payload['secret_token']) };
      return true;
    }
    if (method === 'answerCallbackQuery') return true;
    if (method === 'editMessageText') return told('edited', chats.edit(payload, now()));
    if (method === 'deleteMessage') {
      history.push(`deleted ${payload['message_id']}`);
      return chats.remove(payload);
    }
    if (/^send[A-Z]/.test(method)) return told('sent', chats.send(payload, now()));
    throw new Refused(404, 'Not Found: method not found');
  };

  const conflict = 'Conflict: terminated by other getUpdates request';
  const getUpdates = (payload: BotApiCall['payload'], response: ServerResponse): void => {
    if (server.webhook !== undefined) {
      const description = "Conflict: can't use getUpdates method while webhook is active";
      answerJson(response, 409, { ok: false, error_code: 409, description });
      return;
    }
    poll?.refuse();
    const asked = Number(payload['offset'] ?? 0);
    if (asked > 0) {
      offset = asked;
      waiting = waiting.filter(({ update_id: id }) => id >= asked);
    }
    const respond = (): void => {
      const updates = waiting.slice(0, Number(payload['limit'] ?? 100));
      poll = undefined;
      held.delete(response);
      answerJson(response, 200, { ok: true, result: server.deliver?.(updates) ?? updates });
    };
    if (waiting.length > 0 || Number(payload['timeout'] ?? 0) === 0) {
      respond();
      return;
    }
    held.add(response);
    poll = {
      respond,
      refuse: () => {
        poll = undefined;
        held.delete(response);
        answerJson(response, 409, { ok: false, error_code: 409, description: conflict });
      },
    };
    response.on('close', () => {
      if (poll?.respond === respond) poll = undefined;
    });
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, by = '', token, method = ''] =
      /^(?:\/by\/(\w+))?\/bot([^/]+)\/(\w+)$/.exec(request.url ?? '') ?? [];
    const payload = await payloadOf(request);
    const isAct = /^(send|edit|delete)[A-Z]/.test(method) && method !== 'deleteWebhook';
    if (isAct && !gone.has(by)) server.onCall?.(method, 'before');
    if (gone.has(by)) return fail(response, { reset: true });
    calls.push({ method, payload });
    if (token !== testToken) {
      const description = 'Unauthorized';
      return answerJson(response, 401, { ok: false, error_code: 401, description });
    }
    const next = faults.get(method)?.shift();
    const fault = next !== undefined && 'pass' in next ? undefined : next;
    if (fault !== undefined && 'hang' in fault) held.add(response);
    if (fault !== undefined && !isAfter(fault)) return fail(response, fault);
    if (method === 'getUpdates') return getUpdates(payload, response);
    try {
      const result = perform(method, payload);
      if (isAct) server.onCall?.(method, 'after');
      if (gone.has(by)) return fail(response, { reset: true });
      if (fault === undefined) answerJson(response, 200, { ok: true, result });
      else fail(response, fault);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { code, message: description, parameters } = error;
      const body = { ok: false, error_code: code, description };
      answerJson(response, code, { ...body, ...(parameters && { parameters }) });
    }
  };

  const http = createServer((request, response) => {
    busy++;
    response.on('close', () => held.delete(response));
    void handle(request, response).finally(() => busy--);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo; // it listens on a port
  made = callsMadeTo(port);

  const server: BotApiServer = {
    url: `http://127.0.0.1:${port}`,
    token: testToken,
    calls,
    chats,
    history,
    get shown() {
      return chats.all;
    },
    get offset() {
      return offset;
    },
    get waiting() {
      return waiting;
    },
    get isQuiet() {
      return busy === 0 && made?.open === held.size;
    },
    give: (...updates) => {
      waiting.push(...(updates as Update[])); // as a test writes them
      poll?.respond();
    },
    fault: (method, ...more) => {
      faults.set(method, [...(faults.get(method) ?? []), ...more]);
    },
    deliver: undefined,
    onCall: undefined,
    rootOf: (process) => `http://127.0.0.1:${port}/by/${process}`,
    cutOff: (process) => {
      gone.add(process);
    },
    webhook: undefined,
    of: (method) => calls.filter((call) => call.method === method),
    [Symbol.asyncDispose]: async () => {
      made?.[Symbol.dispose]();
      http.close();
      http.closeAllConnections();
      if (http.listening) await once(http, 'close');
    },
  };
  return server;
}

async function payloadOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const type = request.headers['content-type'] ?? '';
  if (!type.startsWith('multipart/'))
    return body.length === 0 ? {} : (JSON.parse(body.toString('utf8')) as Record<string, unknown>);
  const boundary = /boundary="?([^";]+)/.exec(type)?.[1] ?? '';
  const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1).map(partOf);
  const files = new Map(
    parts.flatMap(({ name, file }) => (file === undefined ? [] : [[name, file] as const])),
  );
  const fields: Record<string, unknown> = {};
  for (const { name, value, file } of parts)
    if (file === undefined)
      fields[name] = value.startsWith('attach://') ? `file ${files.get(value.slice(9))}` : value;
  return fields;
}

/** One field of a form: grammY writes its headers without the spaces that the platform's parser asks for. */
function partOf(part: string): {
  readonly name: string;
  readonly file?: string;
  readonly value: string;
} {
  const [head = '', ...rest] = part.split('\r\n\r\n');
  const name = /\bname="?([^";\r]+)/.exec(head)?.[1] ?? '';
  const file = /filename="?([^";\r]+)/.exec(head)?.[1];
  const value = Buffer.from(rest.join('\r\n\r\n').replace(/\r\n$/, ''), 'latin1').toString('utf8');
  return { name, value, ...(file !== undefined && { file }) };
}

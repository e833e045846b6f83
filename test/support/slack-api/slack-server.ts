import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { Conversations, RefusedBySlack, type ShownInSlack } from './conversations.js';
import { answerJson, failAs, type SlackFault } from './fault.js';
import { fetchesMadeTo } from './fetches-made.js';

/** A call that came in. */
export interface SlackCall {
  readonly method: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** An app of the workspace, with its bot. */
export interface SlackApp {
  readonly name: string;
  readonly userId: string;
  readonly botId: string;
  readonly botToken: string;
  readonly appToken: string;
}

/** A thing that Slack tells an app by its socket: its type and its payload. */
export interface Envelope {
  readonly type: 'events_api' | 'interactive' | 'slash_commands';
  readonly payload: object;
}

/** Slack on loopback: the methods of the Web API that a channel uses, sockets, and faults on demand. */
export interface SlackServer extends AsyncDisposable {
  /** The root of the API. */
  readonly url: string;
  readonly app: SlackApp;
  readonly calls: readonly SlackCall[];
  /** The messages of bots that are there now. */
  readonly shown: readonly ShownInSlack[];
  /** Every message there ever was, and its fate, as `sent 1.000001 hello`. */
  readonly history: readonly string[];
  /** Envelopes that a client has acknowledged, by number from 1. */
  readonly acknowledged: readonly number[];
  readonly sockets: number;
  readonly isQuiet: boolean;
  /** Time does not pass while a request to this origin is under way, either. */
  watch(origin: string): void;
  /** Adds another app to the workspace. */
  addApp(name: string): SlackApp;
  /** Tells an app, by default the first. Without a connection it waits for one. @returns the number of the envelope. */
  give(envelope: Envelope, app?: SlackApp): number;
  /** Brings everything again that was not acknowledged. */
  giveAgain(): void;
  /** The next calls of a method fail so, one after the other. The method `socket` is a connection that Slack ends at once. */
  fault(method: string, ...faults: readonly SlackFault[]): void;
  /** Sends a frame as it is. */
  sendFrame(text: string): void;
  /** Ends the connections: as Slack does when it moves a client, or at once. */
  endSockets(how: 'asked' | 'broken'): void;
  /** Is told of a call that shows something, before and after it is done. */
  onCall: ((method: string, when: 'before' | 'after') => void) | undefined;
  /** The root of the API for one process of several: it can be cut off for itself. */
  rootOf(process: string): string;
  /** A process is gone: its calls are not answered any more. */
  cutOff(process: string): void;
  of(method: string): readonly SlackCall[];
}

const acts = /^(chat\.(postMessage|update|delete)|files\.completeUploadExternal)$/;

/** @param now milliseconds since 1970, for the times of messages. */
export async function slackServer(now: () => number = Date.now): Promise<SlackServer> {
  const conversations = new Conversations();
  const calls: SlackCall[] = [];
  const history: string[] = [];
  const gone = new Set<string>();
  const faults = new Map<string, SlackFault[]>();
  const apps: SlackApp[] = [];
  const held = new Set<ServerResponse>();
  const envelopes = new Map<number, Envelope & { readonly app: SlackApp; tries: number }>();
  const acknowledged: number[] = [];
  const sockets = new Map<WebSocket, SlackApp>();
  const processOf = new Map<WebSocket, string>();
  /** Connections that were promised and have not come, each with its process. */
  const promised = new Map<string, string>();
  /** Frames that a client has not read: it answers a ping behind each. */
  const unread = new Map<WebSocket, number>();
  let lastTicket = 0;

  const sendTo = (socket: WebSocket, frame: string): void => {
    if (socket.readyState !== socket.OPEN) return;
    unread.set(socket, (unread.get(socket) ?? 0) + 1);
    socket.send(frame);
    socket.ping('read?');
  };
  const uploads = new Map<string, { readonly name: string; bytes: number }>();
  let lastEnvelope = 0;
  let lastFile = 0;
  let busy = 0;

  const addApp = (name: string): SlackApp => {
    const at = apps.length + 1;
    const app = {
      ...{ name, userId: `UBOT${at}`, botId: `B00${at}` },
      ...{ botToken: `xoxb-test-token-${at}000`, appToken: `xapp-test-token-${at}000` },
    };
    apps.push(app);
    return app;
  };
  const first = addApp('sluice');

  const deliver = (number: number): void => {
    const envelope = envelopes.get(number);
    const [socket] = [...sockets].find(([, app]) => app === envelope?.app) ?? [];
    if (envelope === undefined || socket === undefined) return;
    const { type, payload } = envelope;
    const again = envelope.tries++;
    const retry = again === 0 ? {} : { retry_attempt: again, retry_reason: 'timeout' };
    sendTo(socket, JSON.stringify({ envelope_id: String(number), type, payload, ...retry }));
  };

  const told = (what: string, shown: ShownInSlack): ShownInSlack => {
    history.push(`${what} ${shown.ts} ${shown.text}`.trim());
    return shown;
  };

  const perform = (app: SlackApp, { method, payload }: SlackCall): object => {
    switch (method) {
      case 'auth.test':
        return { user_id: app.userId, user: app.name, bot_id: app.botId, team_id: 'T1' };
      case 'chat.postMessage': {
        const { ts, channel } = told('sent', conversations.post(app.userId, payload, now()));
        return { ts, channel };
      }
      case 'chat.update': {
        const { ts, channel } = told('edited', conversations.update(app.userId, payload));
        return { ts, channel };
      }
      case 'chat.delete':
        told('deleted', conversations.remove(app.userId, payload));
        return {};
      case 'files.getUploadURLExternal': {
        const id = `F00${++lastFile}`;
        uploads.set(id, { name: String(payload['filename']), bytes: 0 });
        return { upload_url: `http://127.0.0.1:${port}/upload/${id}`, file_id: id };
      }
      case 'files.completeUploadExternal': {
        const [file] = JSON.parse(String(payload['files'])) as readonly { readonly id: string }[];
        const upload = uploads.get(file?.id ?? '');
        if (upload === undefined) throw new RefusedBySlack('file_not_found');
        const text = String(payload['initial_comment'] ?? upload.name);
        const { channel_id: channel, thread_ts } = payload;
        const shown = conversations.post(app.userId, { channel, thread_ts, text }, now());
        Object.assign(shown, { file: `${upload.name}, ${upload.bytes} bytes` });
        told('sent', shown);
        return { files: [{ id: file?.id }] };
      }
      case 'assistant.threads.setStatus':
      case 'assistant.threads.setSuggestedPrompts':
        return {};
      default:
        throw new RefusedBySlack('unknown_method');
    }
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const upload = uploads.get(/^\/upload\/(\w+)$/.exec(request.url ?? '')?.[1] ?? '');
    if (upload !== undefined) {
      upload.bytes = body.length;
      response.writeHead(200).end('OK');
      return;
    }
    const [, by = '', method = ''] =
      /^(?:\/by\/(\w+))?\/api\/([\w.]+)$/.exec(request.url ?? '') ?? [];
    const call = {
      method,
      payload: Object.fromEntries(new URLSearchParams(body.toString('utf8'))),
    };
    const isAct = acts.test(method);
    if (isAct && !gone.has(by)) server.onCall?.(method, 'before');
    if (gone.has(by)) return failAs(response, { reset: true });
    calls.push(call);
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const app = apps.find(({ botToken, appToken }) => token === botToken || token === appToken);
    const next = faults.get(method)?.shift();
    const fault = next !== undefined && 'pass' in next ? undefined : next;
    const isAfter = fault !== undefined && 'after' in fault && fault.after === true;
    if (fault !== undefined && 'hang' in fault) held.add(response);
    if (fault !== undefined && !isAfter) return failAs(response, fault);
    if (app === undefined) return answerJson(response, { ok: false, error: 'invalid_auth' });
    if (method === 'apps.connections.open') {
      const ticket = `secret-${++lastTicket}-${app.appToken}`;
      promised.set(ticket, by);
      const url = `ws://127.0.0.1:${port}/link?by=${by}&ticket=${ticket}`;
      return answerJson(response, { ok: true, url });
    }
    try {
      const result = perform(app, call);
      if (isAct) server.onCall?.(method, 'after');
      if (gone.has(by)) return failAs(response, { reset: true });
      if (fault !== undefined) return failAs(response, fault);
      return answerJson(response, { ok: true, ...result });
    } catch (error) {
      if (!(error instanceof RefusedBySlack)) throw error;
      return answerJson(response, { ok: false, error: error.message });
    }
  };

  const http = createServer((request, response) => {
    busy++;
    response.on('close', () => held.delete(response));
    void handle(request, response).finally(() => busy--);
  });
  const wss = new WebSocketServer({ server: http, path: '/link' });
  wss.on('connection', (socket, request) => {
    const app = apps.find(({ appToken }) => request.url?.endsWith(appToken));
    const { searchParams } = new URL(request.url ?? '', 'ws://127.0.0.1');
    const by = searchParams.get('by') ?? '';
    const ticket = searchParams.get('ticket') ?? '';
    const fault = faults.get('socket')?.shift();
    if (fault !== undefined && 'error' in fault) {
      socket.on('close', () => promised.delete(ticket)); // the client knows it then
      socket.send(JSON.stringify({ type: 'disconnect', reason: fault.error, debug_info: {} }));
      return socket.close();
    }
    promised.delete(ticket);
    if (app === undefined || gone.has(by)) return socket.close();
    processOf.set(socket, by);
    sockets.set(socket, app);
    socket.on('close', () => {
      sockets.delete(socket);
      unread.delete(socket);
    });
    socket.on('pong', (data) => {
      const left = unread.get(socket) ?? 0;
      if (String(data) === 'read?') unread.set(socket, Math.max(0, left - 1));
    });
    socket.on('message', (data) => {
      const { envelope_id: id } = JSON.parse(String(data)) as { readonly envelope_id: string };
      acknowledged.push(Number(id));
      envelopes.delete(Number(id));
    });
    sendTo(socket, JSON.stringify({ type: 'hello', num_connections: 1 }));
    for (const number of envelopes.keys()) deliver(number);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo; // it listens on a port
  const made = fetchesMadeTo(`http://127.0.0.1:${port}`);

  const server: SlackServer = {
    url: `http://127.0.0.1:${port}/api/`,
    app: first,
    calls,
    history,
    acknowledged,
    get shown() {
      return conversations.all;
    },
    get sockets() {
      return sockets.size;
    },
    get isQuiet() {
      const isRead = [...unread.values()].every((count) => count === 0);
      return busy === 0 && made.open === held.size && promised.size === 0 && isRead;
    },
    watch: made.watch,
    addApp,
    give: (envelope, app = first) => {
      const number = ++lastEnvelope;
      envelopes.set(number, { ...envelope, app, tries: 0 });
      deliver(number);
      return number;
    },
    giveAgain: () => {
      for (const number of envelopes.keys()) deliver(number);
    },
    fault: (method, ...more) => {
      faults.set(method, [...(faults.get(method) ?? []), ...more]);
    },
    sendFrame: (text) => {
      for (const socket of sockets.keys()) sendTo(socket, text);
    },
    endSockets: (how) => {
      for (const socket of sockets.keys())
        if (how === 'broken') socket.terminate();
        else socket.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }));
    },
    onCall: undefined,
    rootOf: (process) => `http://127.0.0.1:${port}/by/${process}/api/`,
    cutOff: (process) => {
      gone.add(process);
      for (const [ticket, by] of promised) if (by === process) promised.delete(ticket);
      for (const [socket, by] of processOf) if (by === process) socket.terminate();
    },
    of: (method) => calls.filter((call) => call.method === method),
    [Symbol.asyncDispose]: async () => {
      made[Symbol.dispose]();
      for (const socket of wss.clients) socket.terminate();
      wss.close();
      http.close();
      http.closeAllConnections();
      if (http.listening) await once(http, 'close');
    },
  };
  return server;
}

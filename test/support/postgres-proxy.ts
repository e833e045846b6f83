import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** The end of a commit, as the client of a proxy sees it. */
export type LostCommit = 'before' | 'after';

/** `open` lets all through, `silent` keeps all back and closes nothing, `closed` refuses. */
type Way = 'open' | 'silent' | 'closed';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** What has not passed yet, in order, with the time at which it may. */
  readonly waiting: { readonly atMs: number; readonly pass: () => void }[];
}

const commit = Buffer.from('COMMIT\0'); // as a simple query of the protocol ends

/** Stands on a port of this machine between the connections of a host and its PostgreSQL, and fails as networks do. */
export class PostgresProxy implements AsyncDisposable {
  readonly #listener: Server;
  readonly #pairs = new Set<Pair>();
  #socket: string;
  #way: Way = 'open';
  #delayMs = 0;
  #answerMs = 0;
  #losing: LostCommit | undefined;
  /** Commits that were lost as `lose` said. */
  lost = 0;

  private constructor(socket: string) {
    this.#socket = socket;
    this.#listener = createServer((client) => this.#join(client));
  }

  /** @param url of a server on a socket: the first one that it leads to. */
  static async to(url: string): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(socketOf(url));
    proxy.#listener.listen(0, '127.0.0.1');
    await once(proxy.#listener, 'listening');
    return proxy;
  }

  /** The address of a database through it. */
  url(to: string): string {
    const address = this.#listener.address();
    if (address === null || typeof address === 'string') throw new Error('it does not listen');
    return `postgres://sluice@127.0.0.1:${address.port}${new URL(to).pathname}`;
  }

  /** Leads to another server from now on. What was connected is cut. */
  lead(url: string): void {
    this.#socket = socketOf(url);
    this.cut();
  }

  /** Lets all through, also what was kept back. */
  open(): void {
    this.#way = 'open';
    this.#delayMs = 0;
    this.#answerMs = 0;
    for (const pair of this.#pairs) this.#pump(pair);
  }

  /** Says nothing more to either side, and takes connections that it says nothing to. */
  silence(): void {
    this.#way = 'silent';
  }

  /** Cuts all, and refuses connections. */
  close(): void {
    this.#way = 'closed';
    this.cut();
  }

  /** Takes so much time for each packet. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Takes a random time for each packet of an answer, as a server with a slow disk does. @param ms at most. */
  slow(ms: number): void {
    this.#answerMs = ms;
  }

  cut(): void {
    for (const pair of this.#pairs) this.#end(pair);
  }

  /** Cuts the connection of the next commit: before the server has it, or before the client has its answer. */
  lose(when: LostCommit): void {
    this.#losing = when;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    this.#listener.close();
    await once(this.#listener, 'close');
  }

  #join(client: Socket): void {
    if (this.#way === 'closed') return void client.destroy();
    const server = connect(this.#socket);
    const pair: Pair = { client, server, waiting: [] };
    this.#pairs.add(pair);
    let isLosing = false;
    client.on('data', (part) => {
      if (this.#losing !== undefined && part.includes(commit)) {
        const when = this.#losing;
        this.#losing = undefined;
        this.lost++;
        if (when === 'before') return this.#end(pair);
        isLosing = true;
      }
      this.#pass(pair, () => server.write(part));
    });
    server.on('data', (part) => {
      if (isLosing)
        this.#end(pair); // the server has committed, and nobody hears of it
      else this.#pass(pair, () => client.write(part), Math.random() * this.#answerMs);
    });
    for (const socket of [client, server]) {
      socket.on('error', () => undefined);
      socket.on('close', () => this.#pass(pair, () => this.#end(pair)));
    }
  }

  #pass(pair: Pair, pass: () => void, laterMs = 0): void {
    pair.waiting.push({ atMs: Date.now() + this.#delayMs + laterMs, pass });
    this.#pump(pair);
  }

  #pump(pair: Pair): void {
    for (let [next] = pair.waiting; next !== undefined; [next] = pair.waiting) {
      if (this.#way === 'silent') return;
      const waitMs = next.atMs - Date.now();
      if (waitMs > 0) return void setTimeout(() => this.#pump(pair), waitMs);
      pair.waiting.shift();
      next.pass();
    }
  }

  #end(pair: Pair): void {
    this.#pairs.delete(pair);
    pair.waiting.length = 0;
    pair.client.destroy();
    pair.server.destroy();
  }
}

function socketOf(url: string): string {
  const folder = new URL(url).searchParams.get('host');
  if (folder === null) throw new Error(`${url} names no socket`);
  return `${folder}/.s.PGSQL.5432`;
}

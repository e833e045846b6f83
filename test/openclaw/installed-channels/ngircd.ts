import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A port of this machine that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('there is no port');
  return address.port;
}

/** A real IRC server on loopback. */
export interface IrcServer extends AsyncDisposable {
  readonly port: number;
}

/** Starts ngircd, and waits until it answers. */
export async function startNgircd(): Promise<IrcServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-ngircd-'));
  const port = await freePort();
  const config = join(folder, 'ngircd.conf');
  const lines = [
    '[Global]',
    '  Name = irc.loopback.test',
    '  Info = loopback',
    '  Listen = 127.0.0.1',
    `  Ports = ${port}`,
    '  MotdPhrase = hello',
    `  PidFile = ${join(folder, 'ngircd.pid')}`,
    '[Limits]',
    '  MaxConnectionsIP = 0',
    '  MaxNickLength = 20',
    '[Options]',
    '  DNS = no',
    '  Ident = no',
    '  PAM = no',
  ];
  await writeFile(config, `${lines.join('\n')}\n`);
  const server = spawn('ngircd', ['-n', '-f', config], { stdio: 'ignore' });
  await reachable(port, server);
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function reachable(port: number, server: ChildProcess): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`ngircd ended with ${server.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const isThere = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (isThere === true) return;
    await new Promise((resolve) => setTimeout(resolve, 20)); // until it listens
  }
}

/** A person at an IRC server. */
export interface IrcPerson extends AsyncDisposable {
  /** What others have said to this person and in the room: `nick>target text`. */
  readonly heard: readonly string[];
  say(target: string, text: string): void;
  /** Waits until a line was heard that matches. */
  hears(pattern: RegExp): Promise<string>;
  /** Waits until somebody is in the room. */
  meets(nick: string, room: string): Promise<void>;
  /** Waits until somebody has come to the room for a second time. */
  meetsAgain(nick: string, room: string): Promise<void>;
}

/** Connects a person, who joins a room. */
export async function ircPerson(port: number, nick: string, room: string): Promise<IrcPerson> {
  const socket: Socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const heard: string[] = [];
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const tell = (line: string): void => void socket.write(`${line}\r\n`);
  createInterface({ input: socket }).on('line', (line) => {
    lines.push(line);
    if (line.startsWith('PING')) tell(line.replace('PING', 'PONG'));
    const [, from, target, text] = /^:([^!]+)!\S+ PRIVMSG (\S+) :(.*)$/.exec(line) ?? [];
    if (from !== undefined) heard.push(`${from}>${target} ${text}`);
    for (const check of waiting) check();
  });
  const found = (find: () => string | undefined): Promise<string> =>
    new Promise((resolve) => {
      const check = (): void => {
        const line = find();
        if (line === undefined) return;
        waiting.delete(check);
        resolve(line);
      };
      waiting.add(check);
      check();
    });
  tell(`NICK ${nick}`);
  tell(`USER ${nick} 0 * :${nick}`);
  await found(() => lines.find((line) => / 001 /.test(line)));
  tell(`JOIN ${room}`);
  await found(() => lines.find((line) => / 366 /.test(line)));
  return {
    heard,
    say: (target, text) => tell(`PRIVMSG ${target} :${text}`),
    hears: (pattern) => found(() => heard.find((line) => pattern.test(line))),
    meets: async (other, at) => {
      const seen = new RegExp(`^:${other}!\\S+ JOIN :?${at}`);
      const listed = new RegExp(` 353 .*:.*\\b${other}\\b`);
      await found(() => lines.find((line) => seen.test(line) || listed.test(line)));
    },
    meetsAgain: async (other, at) => {
      const seen = new RegExp(`^:${other}!\\S+ JOIN :?${at}`);
      await found(() => lines.filter((line) => seen.test(line))[1]);
    },
    [Symbol.asyncDispose]: async () => {
      socket.end('QUIT :bye\r\n');
      socket.destroy();
    },
  };
}

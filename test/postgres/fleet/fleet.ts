import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { connect } from '../../../extensions/postgres/src/index.js';
import { readPostgresJournal } from '../../../src/postgres/postgres-journal.js';
import { readPostgresHosts } from '../../../src/postgres/postgres-reader.js';
import { migratePostgres } from '../../../src/postgres/postgres-schema.js';
import { cliProgram } from '../../support/compiled.js';
import { newDatabase, projectFolder } from '../databases.js';

export const partitions = 8;

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

interface Turn {
  readonly sessionKey: string;
  readonly prompt: string;
  readonly fromMs: number;
  readonly toMs?: number;
}

interface Said {
  readonly ready?: true;
  readonly isStopping?: true;
  readonly ack?: string;
  readonly send?: { readonly key: string; readonly content: string };
  readonly turn?: Turn;
}

/** A message that the provider has for the hosts, until it is acknowledged and answered. */
interface Brought {
  readonly id: string;
  readonly raw: { readonly text: string; readonly conversation: string };
  readonly atMs: number;
  isAcknowledged: boolean;
  answeredMs?: number;
}

/** A host of the fleet. */
export interface FleetHost {
  readonly child: ChildProcess;
  isStopping: boolean;
  readonly turns: Turn[];
}

export interface FleetOptions {
  readonly conversations: number;
  /** The conversations share so many sessions; without it, each has its own. */
  readonly sessions?: number;
  readonly leaseMs?: number;
}

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * Hosts as an operator runs them: `sluice run` in processes, which share a journal in PostgreSQL. The test is their provider. It
 * brings each conversation its next message when the one before is answered, to any host, and again until it is acknowledged.
 */
export class Fleet implements AsyncDisposable {
  readonly hosts: FleetHost[] = [];
  readonly messages = new Map<string, Brought>();
  /** The texts that came, in order; twice under one key is once. */
  readonly arrived = new Map<string, string>();
  readonly turns: Turn[] = [];
  readonly #conversations: number;
  #isLoading = false;
  #loading: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly env: Readonly<Record<string, string>>,
    readonly cwd: string,
    readonly reader: Awaited<ReturnType<typeof readPostgresJournal>>,
    readonly admin: ReturnType<typeof connect>,
    conversations: number,
  ) {
    this.#conversations = conversations;
  }

  static async make({ conversations, sessions = 0, leaseMs = 5_000 }: FleetOptions) {
    const url = await newDatabase();
    const admin = connect(url);
    await migratePostgres(admin, partitions);
    const cwd = projectFolder();
    const config = {
      journal: { url: { env: 'DATABASE_URL' }, partitions, leaseMs },
      channels: ['far'],
      agent: 'ext:teller',
      extensions: [{ path: fileOf('far.mjs') }],
    };
    writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify(config));
    const reader = await readPostgresJournal(connect(url));
    const env = {
      PATH: String(process.env['PATH']),
      DATABASE_URL: url,
      SESSIONS: String(sessions),
    };
    return new Fleet(env, cwd, reader, admin, conversations);
  }

  /** Starts a host. @param clock of its process: a day off, or stepping. */
  async start(clock?: 'late' | 'early' | 'steps'): Promise<FleetHost> {
    const child = fork(cliProgram, ['run', '--quiet'], {
      cwd: this.cwd,
      env: { ...this.env, ...(clock && { CLOCK: clock }) },
      execArgv: clock === undefined ? [] : ['--import', fileOf('wrong-clock.mjs')],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const host: FleetHost = { child, isStopping: false, turns: [] };
    await new Promise<void>((ready, failed) => {
      child.once('exit', () => failed(new Error('a host ended while it started')));
      child.on('message', (said: Said) => {
        if (said.ready) ready();
        this.#hear(host, said);
      });
    });
    this.hosts.push(host);
    return host;
  }

  #hear(host: FleetHost, { isStopping, ack, send, turn }: Said): void {
    host.isStopping ||= isStopping === true;
    const acknowledged = this.messages.get(ack ?? '');
    if (acknowledged !== undefined) acknowledged.isAcknowledged = true;
    if (turn?.toMs === undefined && turn !== undefined) host.turns.push(turn);
    if (turn?.toMs !== undefined) {
      host.turns.splice(
        host.turns.findIndex(({ prompt }) => prompt === turn.prompt),
        1,
      );
      this.turns.push(turn);
    }
    if (send === undefined) return;
    const { key, content } = send;
    if (!this.arrived.has(key)) this.arrived.set(key, content);
    const answered = this.messages.get(content.replace(/^re /, ''));
    if (answered !== undefined) answered.answeredMs ??= nowMs();
    if (host.child.connected) host.child.send({ answer: key }, () => undefined); // it may have been killed
  }

  /** Lets people write until `stopLoad`: each waits for the answer. */
  load(): void {
    this.#isLoading = true;
    const people = Array.from({ length: this.#conversations }, (_, at) => this.#write(`c-${at}`));
    this.#loading = Promise.all(people);
  }

  /** Somebody writes once. It comes again until it is acknowledged. */
  say(conversation: string, what: string): void {
    void this.#say(conversation, `${conversation}/${what}`);
  }

  /** Lets the agents of the hosts answer what is broken. */
  fix(): void {
    for (const { child } of this.hosts) child.send({ fix: true });
  }

  async #write(conversation: string): Promise<void> {
    for (let at = 0; this.#isLoading; at++) {
      const one = await this.#say(conversation, `${conversation}/${at}`);
      while (one.answeredMs === undefined) await pause(10);
    }
  }

  async #say(conversation: string, text: string): Promise<Brought> {
    const one: Brought = {
      ...{ id: text, raw: { text, conversation }, atMs: nowMs(), isAcknowledged: false },
    };
    this.messages.set(text, one);
    for (let looks = 0; !one.isAcknowledged; looks++) {
      if (looks % 20 === 0) this.#bring(one);
      await pause(10);
    }
    return one;
  }

  #bring({ id, raw }: Brought): void {
    const open = this.hosts.filter(({ isStopping, child }) => !isStopping && child.connected);
    const host = open[Math.floor(Math.random() * open.length)];
    host?.child.send({ update: { id, raw } }, () => undefined); // it may have been killed
  }

  async stopLoad(): Promise<void> {
    this.#isLoading = false;
    await this.#loading;
  }

  /** Ends a host. @returns its exit code. */
  async end(host: FleetHost, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    this.hosts.splice(this.hosts.indexOf(host), 1);
    const exit = once(host.child, 'exit');
    host.child.kill(signal);
    const [code] = (await exit) as [number | null];
    // a turn that was cut off lasted until the process was gone
    for (const turn of host.turns) this.turns.push({ ...turn, toMs: nowMs() });
    return code;
  }

  /** The parts of each host, the most first. */
  async shares(): Promise<readonly number[]> {
    const hosts = await readPostgresHosts(this.admin);
    return hosts.map(({ parts }) => parts.length).sort((a, b) => b - a);
  }

  /** Milliseconds of the longest wait for an answer among the messages that were written in a time. */
  longestWaitMs(fromMs: number, toMs: number = nowMs()): number {
    const waits = [...this.messages.values()]
      .filter(({ atMs }) => atMs >= fromMs - 500 && atMs <= toMs)
      .map(({ atMs, answeredMs = nowMs() }) => answeredMs - atMs);
    return Math.round(Math.max(0, ...waits));
  }

  /** Checks what has become of all messages, of each conversation, and of each session. */
  async check(): Promise<void> {
    const all = { limit: 100_000 };
    const open = async () => {
      const rows = await this.reader.updates({ states: ['accepted', 'handling'], ...all });
      const sends = await this.reader.sends({ states: ['prepared', 'sending'], ...all });
      return rows.length + sends.length;
    };
    await expect.poll(open, { timeout: 90_000, interval: 200 }).toBe(0);
    const updates = await this.reader.updates(all);
    expect(updates.map(({ updateId }) => updateId).sort()).toEqual(
      [...this.messages.keys()].sort(),
    );
    expect(updates.filter(({ outcome }) => outcome !== 'answered')).toEqual([]);
    const sends = await this.reader.sends(all);
    expect(sends.filter(({ state }) => state !== 'sent')).toEqual([]);
    expect(new Set(sends.map(({ sendId }) => sendId))).toEqual(new Set(this.arrived.keys()));
    const texts = [...this.arrived.values()];
    expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);
    for (let at = 0; at < this.#conversations; at++) {
      const own = texts.filter((text) => text.startsWith(`re c-${at}/`));
      expect(own).toEqual(own.map((_, nth) => `re c-${at}/${nth}`));
    }
    this.#checkTurns();
    await this.#checkTranscripts();
  }

  /** No two turns of a session were under way at once, on whichever hosts. */
  #checkTurns(): void {
    const last = new Map<string, Turn>();
    const overlaps: (readonly [Turn, Turn])[] = [];
    for (const turn of this.turns.toSorted((a, b) => a.fromMs - b.fromMs)) {
      const before = last.get(turn.sessionKey);
      if ((before?.toMs ?? 0) > turn.fromMs && before !== undefined) overlaps.push([before, turn]);
      last.set(turn.sessionKey, turn);
    }
    expect(overlaps).toEqual([]);
  }

  /** Each answer stands under its message, once; and the messages of a conversation stand in their order. */
  async #checkTranscripts(): Promise<void> {
    const rows = await this.admin.query(
      `SELECT session_key, array_to_json(array_agg(t.body ORDER BY seq))::text AS bodies
        FROM sluice_transcripts AS t JOIN sluice_sessions USING (session_id) GROUP BY session_key`,
    );
    const answered: string[] = [];
    for (const { bodies } of rows) {
      const said = JSON.parse(String(bodies)).map(
        (body: string) => /(re )?c-\d+\/\d+/.exec(body)?.[0],
      );
      const heard = new Map<string, number>();
      for (const [at, text] of said.entries()) {
        if (!String(text).startsWith('re ')) continue;
        expect(said[at - 1]).toBe(String(text).slice(3));
        answered.push(String(text).slice(3));
        const [conversation = '', nth] = String(text).slice(3).split('/');
        expect(Number(nth)).toBe((heard.get(conversation) ?? -1) + 1);
        heard.set(conversation, Number(nth));
      }
    }
    expect(answered.sort()).toEqual([...this.messages.keys()].sort());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isLoading = false;
    for (const host of [...this.hosts]) await this.end(host, 'SIGKILL');
    await this.reader.close();
    await this.admin.close();
  }
}

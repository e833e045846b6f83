import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';
import type { JournalReader, UpdateRecord } from '../../src/journal/index.js';
import { openSends, openUpdates } from '../../src/journal/journal.js';
import { every, History } from '../crash/history.js';
import { type Confirmed, Confirms, type Wondered } from './kills/confirms.js';
import { type Growing, GrowingReplies } from './kills/growing-replies.js';

interface Said {
  readonly ready?: true;
  readonly ack?: string;
  readonly send?: { readonly key: string; readonly content: string; readonly press?: string };
  readonly asked?: Growing & { readonly number: number };
  /** The message whose tool a human was asked about. */
  readonly ran?: string;
  readonly allowed?: boolean;
  /** Why it has not run. */
  readonly reason?: string;
  readonly wondered?: Wondered;
  readonly confirmed?: Confirmed;
  /** A warning or an error of its log. */
  readonly log?: string;
}

const conversations = 6;
/** Milliseconds in which something has to come to its end, also on a machine that is slow and busy. */
const standsStillMs = 120_000;

export const pass = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** The provider of three hosts, which are killed and started anew. A message that nobody has acknowledged comes again, to any host. */
export class ProviderOfHosts implements AsyncDisposable {
  readonly hosts: ChildProcess[] = [];
  readonly acknowledged = new Set<string>();
  readonly waiting = new Map<string, object>();
  /** What came, in order; twice under one key is once. */
  readonly arrived = new Map<string, string>();
  /** The sends that came for the first time, each with the name of the host that made it. */
  readonly firstSends: { readonly sendId: string; readonly host: string }[] = [];
  /** The replies that grow or have grown, by their ids. */
  readonly screen = new GrowingReplies(this.arrived);
  /** The messages with a tool about which a human is asked. */
  readonly asks = new Set<string>();
  /** The newest question of each of them, and those with a second question while the first was open. */
  readonly asked = new Map<string, 'open' | 'answered'>();
  readonly askedTwice: string[] = [];
  /** The messages whose tools were refused, with the newest reason. */
  readonly refused = new Map<string, string>();
  /** The messages whose tools ran after a human was asked. */
  readonly ran: string[] = [];
  readonly confirms = new Confirms((id, raw) => this.#add(id, raw));
  /** The hosts that are stopped for a moment. */
  readonly #dozing = new Set<ChildProcess>();
  /** The messages so far, and those with the answers to questions. */
  sent = 0;
  brought = 0;
  /** The answers to questions that are still to come. */
  #answering = 0;
  readonly #all: ChildProcess[] = [];
  readonly #history = new History();

  /**
   * @param slowness a factor for the pauses of the agent.
   * @param wonders an extension of the hosts asks about some messages.
   */
  constructor(
    readonly program: string,
    readonly slowness = 1,
    readonly wonders = false,
  ) {}

  /** Starts a host. @param url of its database. */
  async start(url: string): Promise<ChildProcess> {
    const address = new URL(url);
    const name = `host-${this.#all.length}`;
    address.searchParams.set('application_name', name); // `watched` knows it by this name
    const child = fork(this.program, [String(address), 'resend', '0', String(this.slowness)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#all.push(child);
    this.#history.note(child.pid, 'starts');
    await new Promise<void>((ready, failed) => {
      const fail = () => failed(new Error(`${child.pid} did not start: ${this.#history.last()}`));
      setTimeout(fail, standsStillMs).unref();
      child.once('exit', (...end) => {
        this.#history.note(child.pid, `ended: ${end}`);
        fail();
      });
      child.on('message', (said: Said) => {
        this.#history.note(child.pid, JSON.stringify(said));
        if (said.ready) ready();
        if (said.ack !== undefined) {
          this.acknowledged.add(said.ack);
          this.waiting.delete(said.ack);
        }
        if (said.send !== undefined) {
          const { key, content, press } = said.send;
          if (press !== undefined && this.confirms.isOf(press))
            this.confirms.asked(key, press, content);
          else if (!this.arrived.has(key) && press !== undefined) this.#answer(press, content);
          if (!this.arrived.has(key)) this.firstSends.push({ sendId: key, host: name });
          if (!this.arrived.has(key)) this.arrived.set(key, content);
          this.tell(child, { answer: key });
        }
        if (said.asked !== undefined) {
          const value = this.screen.change(said.asked);
          this.tell(child, { answered: { number: said.asked.number, value } });
        }
        if (said.wondered !== undefined) this.confirms.wondered(said.wondered);
        if (said.confirmed !== undefined) this.confirms.confirmed(said.confirmed);
        if (said.ran !== undefined && said.allowed === true) this.ran.push(said.ran);
        else if (said.ran !== undefined) this.refused.set(said.ran, said.reason ?? '');
      });
    });
    this.hosts.push(child);
    return child;
  }

  /**
   * Brings some new messages, one after the other, in turns of the conversations.
   *
   * @param isMixed some replies are shown while they grow, and some need a tool about which a human is asked.
   */
  async say(round: number | string, messages = 12, isMixed = false): Promise<void> {
    for (let at = 0; at < messages; at++, this.sent++) {
      const id = `${round}-${isMixed ? at : at * 2 + 1}`; // the reply to an even number is shown while it grows
      const isAsking = isMixed && (at % 4 === 3 || at % 8 === 6);
      const isWondering = this.wonders && isMixed && (at === 1 || at % 5 === 4); // an extension asks about it
      if (isAsking) this.asks.add(id);
      this.#add(id, {
        text: `${isAsking ? 'asks' : isWondering ? 'wonders' : 'plain'} ${id}`,
        conversation: `c-${this.sent % conversations}`,
      });
      await pass(Math.random() * 40);
    }
  }

  #add(id: string, raw: object): void {
    this.brought++;
    this.waiting.set(id, { id, raw });
    this.bring();
  }

  /** Somebody answers a question after a while: by its button, or by a command in another conversation. */
  #answer(press: string, content: string): void {
    const [, , id = ''] = press.split(':');
    const [, message = ''] = /deploy\n {2}id: (.*)\n/.exec(content) ?? [];
    if (this.asked.get(message) === 'open') this.askedTwice.push(message);
    this.asked.set(message, 'open');
    this.#answering++;
    this.#history.asked(id, message);
    setTimeout(() => {
      this.#answering--;
      this.asked.set(message, 'answered');
      if (Number.parseInt(id.slice(0, 1), 16) % 2 === 0)
        this.#add(`press ${id}`, { press, conversation: 'anywhere' });
      else this.#add(`command ${id}`, { text: `/approve ${id}`, conversation: `ops-${id}` });
    }, Math.random() * 1_000);
  }

  tell(child: ChildProcess, message: object): void {
    if (child.connected) child.send(message, () => undefined); // it may have been killed
  }

  bring(): void {
    for (const update of this.waiting.values()) {
      const hosts = [...this.hosts, ...this.#dozing];
      const host = hosts[Math.floor(Math.random() * hosts.length)];
      if (host !== undefined) this.tell(host, { update });
    }
  }

  /** Lets a host go on that was stopped. */
  wake(child: ChildProcess): void {
    this.#history.note(child.pid, 'goes on');
    child.kill('SIGCONT');
    this.hosts.push(child);
  }

  /** Stops a host for some milliseconds, as a busy machine does. Messages come to it meanwhile. */
  async doze(ms: number): Promise<void> {
    const child = await this.kill('SIGSTOP');
    if (child === undefined) return;
    this.#dozing.add(child);
    await pass(ms);
    this.#dozing.delete(child);
    this.wake(child);
  }

  async kill(signal: 'SIGKILL' | 'SIGSTOP' = 'SIGKILL'): Promise<ChildProcess | undefined> {
    const at = Math.floor(Math.random() * this.hosts.length);
    const [child] = this.hosts.splice(at, 1);
    if (child === undefined) return undefined;
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${child.pid} has ended by itself`);
    const silence = once(child, 'disconnect'); // what it had said before it died was done
    this.#history.note(child.pid, signal);
    child.kill(signal);
    if (signal === 'SIGKILL') await silence;
    return child;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#all) child.kill('SIGKILL'); // also those that are stopped
  }

  /**
   * Waits until all has come to its end, and checks it: nothing that was acknowledged is lost, nothing is said twice, and each
   * conversation has persisted its order.
   *
   * @returns the messages that were answered.
   */
  async checkEnds(reader: Pick<JournalReader, 'updates' | 'sends'>): Promise<number> {
    try {
      await this.#untilAllHasEnded(reader);
      while (this.hosts.length > 0) await this.kill();
      return await this.#check(reader);
    } catch (error) {
      await this.#history.explain(error, reader);
      throw error;
    }
  }

  async #untilAllHasEnded(reader: Pick<JournalReader, 'updates' | 'sends'>): Promise<void> {
    for (let least = Number.POSITIVE_INFINITY, sinceMs = 0; ; await pass(500)) {
      this.bring();
      const waiting = [...this.waiting.keys()];
      const rows = await reader.updates({ states: openUpdates, ...every, withoutBody: true });
      const sends = await reader.sends({ states: openSends, ...every });
      const open = [...waiting, ...rows.map(({ updateId }) => updateId)];
      const left = open.length + sends.length + this.#answering + this.confirms.left;
      if (left === 0) return;
      if (left < least) [least, sinceMs] = [left, Date.now()];
      if (Date.now() - sinceMs < standsStillMs) continue;
      throw new Error(
        `${left} have no end: ${open.join(', ')}, sends ${JSON.stringify(sends)}, updates ${JSON.stringify(rows)}, ${this.confirms.open()}`,
      );
    }
  }

  async #check(reader: Pick<JournalReader, 'updates' | 'sends'>): Promise<number> {
    const rows = await reader.updates(every);
    const updates = rows.filter(({ channel }) => channel === 'far');
    this.confirms.check(rows);
    expect(updates.map(({ updateId }) => updateId).sort()).toEqual([...this.acknowledged].sort());
    expect(updates).toHaveLength(this.brought);
    expect(updates.filter(({ state, reason }) => state === 'dead' && reason === undefined)).toEqual(
      [],
    );
    const all = [...this.arrived.values()];
    const texts = all.filter((text) => /^(first|last) /.test(text));
    expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);
    const answered = updates.filter(({ outcome }) => outcome === 'answered');
    expect(answered.length).toBeGreaterThan(this.sent / 10);
    const idOf = (text: string) => text.split(' ').at(-1);
    for (let at = 0; at < conversations; at++) {
      const ids = answered
        .filter(({ lane }) => lane?.includes(`"c-${at}"`))
        .map((one) => one.updateId);
      const last = texts.filter((text) => text.startsWith('last')).map(idOf);
      expect(ids.filter((id) => !last.includes(id))).toEqual([]);
      expect(last.filter((id) => ids.includes(id))).toEqual(ids);
    }
    this.#checkQuestions(updates);
    const dead: Record<string, number> = {};
    for (const { state, reason = '' } of rows)
      if (state === 'dead') dead[reason] = (dead[reason] ?? 0) + 1;
    console.log(`dead letters: ${JSON.stringify(dead)}`);
    return answered.length;
  }

  /**
   * Checks that nobody was asked about a message whose question was open, that each answer was taken, that each tool ran that was
   * allowed, and that nothing ran more often than it was allowed. A message that begins anew after its tool has run asks anew.
   */
  #checkQuestions(updates: readonly UpdateRecord[]): void {
    const texts = [...this.arrived.values()];
    const questionsOf = (id: string) =>
      texts.filter((text) => text.includes(`deploy\n  id: ${id}\n`));
    const asking = updates.filter(
      ({ outcome, updateId }) => outcome === 'answered' && this.asks.has(updateId ?? ''),
    );
    for (const { updateId = '' } of asking) {
      const questions = questionsOf(updateId);
      const times = this.ran.filter((id) => id === updateId).length;
      const isRefused = times === 0 && `refused: ${this.refused.get(updateId)}`;
      expect([updateId, isRefused, times <= questions.length]).toEqual([updateId, false, true]);
    }
    expect(this.askedTwice).toEqual([]);
    const presses = updates.filter(({ updateId }) => updateId?.startsWith('press '));
    // one whose host has died, or has lost its part, ends as the reply to it (durability §7.3), or finds that its message has ended
    const wrong = presses.filter(({ outcome = '', attempts, endedAtMs = 0, updateId = '' }) => {
      const message = this.#history.messageOf(updateId.slice('press '.length));
      const { endedAtMs: messageMs = 0 } = updates.find((one) => one.updateId === message) ?? {};
      const allowed = ['answer', 'answered', ...(messageMs <= endedAtMs ? ['interaction'] : [])];
      return !allowed.includes(outcome) && attempts < 2;
    });
    expect(wrong).toEqual([]);
  }
}

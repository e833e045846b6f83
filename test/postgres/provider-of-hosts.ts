import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';
import type { JournalReader } from '../../src/host/index.js';

interface Said {
  readonly ready?: true;
  readonly ack?: string;
  readonly send?: { readonly key: string; readonly content: string };
  readonly asked?: { readonly number: number };
}

const conversations = 6;

export const pass = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** The provider of three hosts, which are killed and started anew. A message that nobody has acknowledged comes again, to any host. */
export class ProviderOfHosts {
  readonly hosts: ChildProcess[] = [];
  readonly acknowledged = new Set<string>();
  readonly waiting = new Map<string, object>();
  /** What came, in order; twice under one key is once. */
  readonly arrived = new Map<string, string>();
  /** The messages so far. */
  sent = 0;

  constructor(readonly program: string) {}

  /** Starts a host. @param url of its database. */
  async start(url: string): Promise<ChildProcess> {
    const child = fork(this.program, [url, 'resend', '0', '1', 'whole'], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    await new Promise<void>((ready, failed) => {
      child.once('exit', () => failed(new Error('a host ended while it started')));
      child.on('message', (said: Said) => {
        if (said.ready) ready();
        if (said.ack !== undefined) {
          this.acknowledged.add(said.ack);
          this.waiting.delete(said.ack);
        }
        if (said.send !== undefined) {
          const { key, content } = said.send;
          if (!this.arrived.has(key)) this.arrived.set(key, content);
          this.tell(child, { answer: key });
        }
      });
    });
    this.hosts.push(child);
    return child;
  }

  /** Brings some new messages, one after the other, in turns of the conversations. */
  async say(round: number | string, messages = 12): Promise<void> {
    for (let at = 0; at < messages; at++, this.sent++) {
      const id = `${round}-${at * 2 + 1}`; // an odd number: its reply is not shown while it grows
      const raw = { text: `plain ${id}`, conversation: `c-${this.sent % conversations}` };
      this.waiting.set(id, { id, raw });
      this.bring();
      await pass(Math.random() * 40);
    }
  }

  tell(child: ChildProcess, message: object): void {
    if (child.connected) child.send(message, () => undefined); // it may have been killed
  }

  bring(): void {
    for (const update of this.waiting.values()) {
      const host = this.hosts[Math.floor(Math.random() * this.hosts.length)];
      if (host !== undefined) this.tell(host, { update });
    }
  }

  /** Lets a host go on that was stopped. */
  wake(child: ChildProcess): void {
    child.kill('SIGCONT');
    this.hosts.push(child);
  }

  async kill(signal: 'SIGKILL' | 'SIGSTOP' = 'SIGKILL'): Promise<ChildProcess | undefined> {
    const at = Math.floor(Math.random() * this.hosts.length);
    const [child] = this.hosts.splice(at, 1);
    if (child === undefined) return undefined;
    const exit = once(child, 'exit');
    child.kill(signal);
    if (signal === 'SIGKILL') await exit;
    return child;
  }

  /**
   * Waits until all has come to its end, and checks it: nothing that was acknowledged is lost, nothing is said twice, and each
   * conversation has kept its order.
   *
   * @returns the messages that were answered.
   */
  async checkEnds(reader: Pick<JournalReader, 'updates' | 'sends'>): Promise<number> {
    const all = { limit: 100_000 };
    const open = async () => {
      this.bring();
      const rows = await reader.updates({ states: ['accepted', 'handling'], ...all });
      const sends = await reader.sends({ states: ['prepared', 'sending'], ...all });
      return this.waiting.size + rows.length + sends.length;
    };
    await expect.poll(open, { timeout: 90_000, interval: 500 }).toBe(0);
    while (this.hosts.length > 0) await this.kill();
    const updates = await reader.updates(all);
    expect(updates.map(({ updateId }) => updateId).sort()).toEqual([...this.acknowledged].sort());
    expect(updates).toHaveLength(this.sent);
    expect(updates.filter(({ state, reason }) => state === 'dead' && reason === undefined)).toEqual(
      [],
    );
    const texts = [...this.arrived.values()].filter((text) => !text.startsWith('failed'));
    expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);
    const answered = updates.filter(({ outcome }) => outcome === 'answered');
    expect(answered.length).toBeGreaterThan(this.sent / 2);
    const idOf = (text: string) => text.split(' ').at(-1);
    for (let at = 0; at < conversations; at++) {
      const ids = answered
        .filter(({ lane }) => lane?.includes(`"c-${at}"`))
        .map((one) => one.updateId);
      const heard = texts.filter((text) => text.startsWith('last') && ids.includes(idOf(text)));
      expect(heard.map(idOf)).toEqual(ids);
    }
    return answered.length;
  }
}

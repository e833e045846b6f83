import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { migratePostgres, readPostgresJournal } from '../../src/host/internal.js';
import { bundled } from '../support/compiled.js';
import { newDatabase } from './databases.js';

interface Said {
  readonly ready?: true;
  readonly ack?: string;
  readonly send?: { readonly key: string; readonly content: string };
  readonly asked?: { readonly number: number };
}

const rounds = Math.max(2, Number(process.env['CRASH_ROUNDS'] ?? 20));
const conversations = 6;

/** The provider of three hosts, which are killed and started anew. A message that nobody has acknowledged comes again, to any host. */
class Provider {
  readonly hosts: ChildProcess[] = [];
  readonly acknowledged = new Set<string>();
  readonly waiting = new Map<string, object>();
  /** What came, in order; twice under one key is once. */
  readonly arrived = new Map<string, string>();
  isOver = false;

  constructor(
    readonly program: string,
    readonly url: string,
  ) {}

  async start(): Promise<void> {
    const child = fork(this.program, [this.url, 'resend', '0', '1', 'whole'], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    await new Promise<void>((ready) => {
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

  async kill(signal: 'SIGKILL' | 'SIGSTOP' = 'SIGKILL'): Promise<ChildProcess | undefined> {
    const at = Math.floor(Math.random() * this.hosts.length);
    const [child] = this.hosts.splice(at, 1);
    if (child === undefined) return undefined;
    const exit = once(child, 'exit');
    child.kill(signal);
    if (signal === 'SIGKILL') await exit;
    return child;
  }
}

const pass = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe('three hosts that share a journal, of which one is killed again and again', () => {
  it(`lose nothing, double nothing, and keep the order of each conversation (durability §9.1, §9.2, §12.5, ${rounds} rounds)`, {
    timeout: 120_000 + rounds * 20_000,
  }, async () => {
    const url = await newDatabase();
    const admin = connect(url);
    await migratePostgres(admin, 8);
    await admin.close();
    const program = await bundled(fileURLToPath(new URL('../crash/host.mjs', import.meta.url)));
    const provider = new Provider(program, url);
    for (let at = 0; at < 3; at++) await provider.start();
    let sent = 0;
    const stopped: ChildProcess[] = [];
    for (let round = 0; round < rounds; round++) {
      for (let at = 0; at < 12; at++, sent++) {
        const id = `${round}-${at * 2 + 1}`; // an odd number: its reply is not shown while it grows
        const raw = { text: `plain ${id}`, conversation: `c-${sent % conversations}` };
        provider.waiting.set(id, { id, raw });
        provider.bring();
        await pass(Math.random() * 40);
      }
      const isStop = round % 4 === 3;
      const child = await provider.kill(isStop ? 'SIGSTOP' : 'SIGKILL');
      if (isStop && child !== undefined) stopped.push(child);
      await provider.start();
      provider.bring();
    }
    await pass(2_000); // four leases of those that are stopped
    for (const child of stopped) {
      child.kill('SIGCONT');
      provider.hosts.push(child);
    }
    const reader = await readPostgresJournal(connect(url));
    const all = { limit: 100_000 };
    const open = async () => {
      provider.bring();
      const rows = await reader.updates({ states: ['accepted', 'handling'], ...all });
      const sends = await reader.sends({ states: ['prepared', 'sending'], ...all });
      return provider.waiting.size + rows.length + sends.length;
    };
    await expect.poll(open, { timeout: 90_000, interval: 500 }).toBe(0);
    while (provider.hosts.length > 0) await provider.kill();
    const updates = await reader.updates(all);
    expect(updates.map(({ updateId }) => updateId).sort()).toEqual(
      [...provider.acknowledged].sort(),
    );
    expect(updates).toHaveLength(sent);
    expect(updates.filter(({ state, reason }) => state === 'dead' && reason === undefined)).toEqual(
      [],
    );
    const texts = [...provider.arrived.values()].filter((text) => !text.startsWith('failed'));
    expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);
    const answered = updates.filter(({ outcome }) => outcome === 'answered');
    expect(answered.length).toBeGreaterThan(sent / 2);
    const idOf = (text: string) => text.split(' ').at(-1);
    for (let at = 0; at < conversations; at++) {
      const ids = answered
        .filter(({ lane }) => lane?.includes(`"c-${at}"`))
        .map((one) => one.updateId);
      const heard = texts.filter((text) => text.startsWith('last') && ids.includes(idOf(text)));
      expect(heard.map(idOf)).toEqual(ids);
    }
    console.log(`${rounds} rounds: ${sent} messages, ${answered.length} answered`);
    await reader.close();
  });
});

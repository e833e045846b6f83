import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { connect } from '../../../extensions/postgres/src/index.js';
import { readPostgresJournal } from '../../../src/postgres/postgres-journal.js';
import { migratePostgres } from '../../../src/postgres/postgres-schema.js';
import { compiled } from '../../support/compiled.js';
import { PostgresProxy } from '../../support/postgres-proxy.js';
import { PostgresServer } from '../../support/postgres-server.js';
import { ProviderOfHosts, pass } from '../provider-of-hosts.js';
import { followed } from './followed.js';

const patiently = { timeout: 60_000, interval: 100 };
const leaseMs = 500; // as the hosts have it
const awayMs = Number(process.env['FAULTS_LONG'] ?? 3_000);

it(`three hosts lose nothing, double nothing and keep the order while their database is silent, late, cut off, restarted and ${awayMs / 1_000} s away, and when its standby takes over (durability §11.6, durability §11.7, durability §11.15)`, {
  timeout: 240_000 + 4 * awayMs,
}, async () => {
  await using first = await PostgresServer.start();
  const admin = connect(first.url());
  await migratePostgres(admin, 8);
  await using standby = await followed(first, admin);
  const proxies: PostgresProxy[] = [];
  const program = await compiled(fileURLToPath(new URL('../../crash/host.mjs', import.meta.url)));
  await using provider = new ProviderOfHosts(program);
  for (let at = 0; at < 3; at++) {
    const proxy = await PostgresProxy.to(first.url());
    proxies.push(proxy);
    await provider.start(proxy.url(first.url()));
  }
  const [one] = proxies;
  const loseCommits = async (when: 'before' | 'after'): Promise<void> => {
    for (const proxy of proxies) {
      const { lost } = proxy;
      proxy.lose(when);
      await expect.poll(() => proxy.lost, patiently).toBe(lost + 1);
    }
  };
  const restart = async (signal: 'SIGINT' | 'SIGQUIT', ms = 0): Promise<void> => {
    await first.halt(signal);
    await pass(ms);
    await first.run();
  };
  const faults: Readonly<Record<string, () => Promise<unknown>>> = {
    silent: async () => {
      one?.silence();
      await pass(4 * leaseMs);
      one?.open();
    },
    'silent-and-cut': async () => {
      one?.silence();
      await pass(4 * leaseMs);
      one?.cut();
      one?.open();
    },
    late: async () => {
      for (const proxy of proxies) proxy.delay(40);
      await pass(4 * leaseMs);
      for (const proxy of proxies) proxy.open();
    },
    cut: async () => {
      for (const proxy of proxies) proxy.cut();
    },
    'lost-before-commit': () => loseCommits('before'),
    'lost-after-commit': () => loseCommits('after'),
    restarted: () => restart('SIGINT'),
    'stopped-at-once': () => restart('SIGQUIT'),
    away: () => restart('SIGINT', awayMs),
    'standby-takes-over': async () => {
      await first.halt('SIGQUIT');
      await standby.promote();
      for (const proxy of proxies) proxy.lead(standby.server.url());
    },
  };
  for (const [name, fault] of Object.entries(faults)) {
    await Promise.all([fault(), provider.say(name, 6)]);
    await expect
      .poll(() => {
        provider.bring();
        return provider.waiting.size;
      }, patiently)
      .toBe(0);
  }
  const reader = await readPostgresJournal(connect(standby.server.url()));
  const answered = await provider.checkEnds(reader);
  console.log(`${provider.sent} messages, ${answered} answered`);
  await reader.close();
  for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
  await admin.close();
});

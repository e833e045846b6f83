import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { readPostgresJournal } from '../../src/postgres/postgres-journal.js';
import { migratePostgres } from '../../src/postgres/postgres-schema.js';
import { compiled } from '../support/compiled.js';
import { PostgresProxy } from '../support/postgres-proxy.js';
import { newDatabase } from './databases.js';
import { watched } from './kills/watched.js';
import { ProviderOfHosts, pass } from './provider-of-hosts.js';

/** A long run also has an extension ask, stops hosts for moments, and slows the database down. */
const isLong = process.env['CRASH_ROUNDS'] !== undefined;
const rounds = Math.max(2, Number(process.env['CRASH_ROUNDS'] ?? 20));
const leaseMs = 500; // as the hosts have it
const mostAsleep = 3; // a long run would fill the machine with hosts that sleep

describe('three hosts that share a journal, of which one is killed again and again', () => {
  it(`lose nothing, double nothing, and keep the order of each conversation (durability §9.1, §9.2, §12.5, ${rounds} rounds)`, {
    timeout: 600_000 + rounds * 60_000, // if something stands still, it fails earlier, and says what
  }, async () => {
    const url = await newDatabase();
    const admin = connect(url);
    await migratePostgres(admin, 8);
    const watch = isLong ? await watched(admin) : undefined;
    await using proxy = await PostgresProxy.to(url);
    const far = isLong ? proxy.url(url) : url;
    const program = await compiled(fileURLToPath(new URL('../crash/host.mjs', import.meta.url)));
    await using provider = new ProviderOfHosts(program, 4, isLong);
    for (let at = 0; at < 3; at++) await provider.start(far);
    const stopped: ChildProcess[] = [];
    const dozes: Promise<void>[] = [];
    for (let round = 0; round < rounds; round++) {
      if (round % 10 === 2) proxy.slow(300);
      else proxy.open();
      const dozing =
        isLong && round % 5 === 1
          ? provider.doze(leaseMs * (0.2 + Math.random() * 3.8))
          : undefined;
      if (dozing !== undefined) dozes.push(dozing);
      await provider.say(round, 12, true);
      const isStop = round % 4 === 3;
      const child = await provider.kill(isStop ? 'SIGSTOP' : 'SIGKILL');
      if (isStop && child !== undefined) stopped.push(child);
      // some sleep for a while, and go on in the place of one that would be started
      const woken = stopped.length > mostAsleep ? stopped.shift() : undefined;
      if (woken === undefined) await provider.start(far);
      else provider.wake(woken);
      provider.bring();
      if (round % 100 === 99) console.log(`${round + 1} rounds, ${provider.sent} messages`);
    }
    proxy.open();
    await Promise.all(dozes);
    await pass(2_000); // four leases of those that are stopped
    for (const child of stopped) provider.wake(child);
    const reader = await readPostgresJournal(connect(url));
    const answered = await provider.checkEnds(reader);
    console.log(
      `${rounds} rounds: ${provider.sent} messages, ${answered} answered, ${provider.screen.size} shown while they grew, ${provider.ran.length} tools allowed`,
    );
    await watch?.check(provider.firstSends);
    await admin.close();
    await reader.close();
  });
});

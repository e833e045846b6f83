import { expect, it } from 'vitest';
import { connect } from '../../../extensions/postgres/src/index.js';
import { openPostgresJournal, type PostgresConnections } from '../../../src/postgres/index.js';
import { migratePostgres } from '../../../src/postgres/postgres-schema.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { hostLab } from '../../support/host-lab.js';
import { PostgresProxy } from '../../support/postgres-proxy.js';
import { PostgresServer } from '../../support/postgres-server.js';
import { scriptedChannel } from '../../support/scripted-channel.js';
import { said, toolEnd, toolStart } from '../../support/turn-lab.js';

const turns = 40;
const patiently = { timeout: 120_000, interval: 20 };
const pass = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

interface Place {
  readonly server: PostgresServer;
  readonly proxy: PostgresProxy;
  readonly admin: PostgresConnections;
}

const away =
  (ms: number) =>
  async ({ proxy }: Place) => {
    proxy.close();
    await pass(ms);
    proxy.open();
  };

const faults: Readonly<Record<string, (place: Place) => Promise<unknown>>> = {
  'its connections are reset once': async ({ proxy }) => proxy.cut(),
  'its connections are reset five times': async ({ proxy }) => {
    for (let at = 0; at < 5; at++) {
      proxy.cut();
      await pass(60);
    }
  },
  'it is 500 ms away': away(500),
  'it is away for longer than the lease': away(3_000),
  'a commit is cut before the server has it': async ({ proxy }) => proxy.lose('before'),
  'a commit is cut before its answer': async ({ proxy }) => proxy.lose('after'),
  'it is silent for longer than the lease': async ({ proxy }) => {
    proxy.silence();
    await pass(3_000);
    proxy.open();
  },
  'it is restarted at once': async ({ server }) => {
    await server.halt('SIGQUIT');
    await server.run();
  },
  'its disk is full for a second': async ({ admin }) => {
    await admin.query(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`);
    for (const table of ['updates', 'sends', 'key_values', 'transcripts', 'sessions'])
      await admin.query(`CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON sluice_${table}
        FOR EACH STATEMENT EXECUTE FUNCTION full_disk()`);
    await pass(1_000);
    await admin.query('DROP FUNCTION full_disk CASCADE');
  },
};

const rows = Object.keys(faults).flatMap((name) => [1, 4].map((parts) => [name, parts] as const));

it.each(rows)(
  `a fault of a database (%s) while ${turns} turns run is the end of no message: each is answered once (durability §6.13, durability §11.6, durability §11.7; %i partitions)`,
  { timeout: 180_000 },
  async (name, partitions) => {
    await using server = await PostgresServer.start();
    const admin = connect(server.url());
    await migratePostgres(admin, partitions);
    await using proxy = await PostgresProxy.to(server.url());
    const journal = await openPostgresJournal(connect(proxy.url(server.url())), {
      ...{ leaseMs: 2_000, partitions },
    });
    let running = 0;
    const worker: AgentProvider = {
      ...{ id: 'worker', models: ['m'], toolGate: 'enforce' },
      async *run({ prompt, gate, runId }) {
        yield { type: 'agent_start' };
        running++;
        await pass(Math.random() * 300);
        yield* said(`Looking at ${prompt}.`, { calls: [{ id: runId, name: 'read' }] });
        yield toolStart(runId);
        await gate({ toolCallId: runId, toolName: 'read', args: {} });
        yield toolEnd(runId);
        await pass(Math.random() * 300);
        yield* said(`Done with ${prompt}.`);
        yield { type: 'agent_end', messages: [] };
      },
    };
    const channel = scriptedChannel({ everyHost: true });
    const agents = [{ id: 'main', provider: worker }];
    const lab = await hostLab({ journal, store: journal.store, channel, agents });
    const ids = Array.from({ length: turns }, (_, at) => String(at));
    const bring = (): void => {
      const known = new Set(channel.acknowledged.map(({ updateId }) => updateId));
      for (const id of ids)
        if (!known.has(id)) void channel.receive({ text: id, conversation: id }, id);
    };
    bring();
    await expect.poll(() => running, patiently).toBeGreaterThan(turns / 2);
    const fault = faults[name]?.({ server, proxy, admin });
    let looks = 0;
    const look = async (): Promise<number> => {
      await lab.clock.advance(20);
      if (++looks % 50 === 0) bring(); // a provider brings what is not acknowledged again, now and then
      return lab.ends.length;
    };
    await expect.poll(look, patiently).toBe(turns);
    await fault;
    const told = lab.ends.map(({ updateId, status, reason = '' }) => [updateId, status, reason]);
    expect(told.toSorted()).toEqual(ids.map((id) => [id, 'answered', '']).toSorted());
    const texts = ids.flatMap((id) => [`Looking at ${id}.`, `Done with ${id}.`]);
    expect(lab.texts().toSorted()).toEqual(texts.toSorted());
    expect(lab.host.stats().deadLetters).toBe(0);
    expect(await journal.updates({ states: ['accepted', 'handling', 'dead'] })).toEqual([]);
    await lab[Symbol.asyncDispose]();
    await journal.close();
    await admin.close();
  },
);

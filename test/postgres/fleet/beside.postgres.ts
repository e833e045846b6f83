import { describe, expect, it } from 'vitest';
import { connect } from '../../../extensions/postgres/src/index.js';
import { openPostgresJournal } from '../../../src/postgres/index.js';
import { CliProcess, jsonLines } from '../../cli/cli.js';
import { runInMemory } from '../../cli/memory-shell.js';
import { Fleet, partitions } from './fleet.js';

const patiently = { timeout: 60_000, interval: 200 };

interface Letter {
  readonly eventId: string;
  readonly updateId: string;
  readonly state: string;
  readonly outcome?: string;
}

describe('the command line beside a fleet of hosts', () => {
  it('retries and drops dead letters of any of them, and shows what they have done (durability §11.10, durability §11.13)', {
    timeout: 240_000,
  }, async () => {
    await using fleet = await Fleet.make({ conversations: 0 });
    await Promise.all([fleet.start(), fleet.start()]);
    await expect.poll(() => fleet.shares(), patiently).toEqual([4, 4]);
    const { cwd, env } = fleet;
    const sluice = (...args: string[]) => runInMemory(args, '', { cwd, env });
    const listed = async (...more: string[]) =>
      jsonLines<Letter>((await sluice('journal', 'list', '--json', ...more)).stdout);
    for (let at = 0; at < 6; at++) fleet.say(`c-${at}`, 'broken');
    const dead = () => fleet.reader.updates({ states: ['dead'] });
    await expect.poll(async () => (await dead()).length, patiently).toBe(6);
    const [dropped, ...letters] = await listed('--state', 'dead');
    const parts = new Set((await dead()).map(({ slot = 0 }) => slot % partitions));
    expect(parts.size).toBeGreaterThan(1);
    fleet.fix();
    const purged = await sluice('journal', 'purge', String(dropped?.eventId));
    expect(purged).toMatchObject({ code: 0, stdout: expect.stringContaining('is dropped') });
    for (const { eventId } of letters)
      expect(await sluice('journal', 'retry', eventId)).toMatchObject({ code: 0 });
    const open = () => fleet.reader.updates({ states: ['accepted', 'handling', 'dead'] });
    await expect.poll(open, patiently).toEqual([]);
    const ends = (await listed()).map(({ outcome }) => outcome);
    expect(ends.filter((outcome) => outcome === 'answered')).toHaveLength(5);
    const answered = [...fleet.arrived.values()].filter((text) => text.startsWith('re '));
    expect(answered.sort()).toEqual(letters.map(({ updateId }) => `re ${updateId}`).sort());
    const [letter] = letters;
    const way = () => sluice('explain', String(letter?.eventId), '--way');
    const told = { code: 0, stdout: expect.stringContaining('answered') }; // it is written a while later
    await expect.poll(way, patiently).toMatchObject(told);
    expect((await sluice('journal', 'show', String(letter?.eventId))).stdout).toContain(
      'egress.sent',
    );
    expect(jsonLines((await sluice('events', '--kind', 'send')).stdout).length).toBeGreaterThan(0);
    expect(jsonLines((await sluice('hosts', '--json')).stdout)).toHaveLength(2);
    const last = ['replay', '--journal', '--family', 'egress.preparing', '--last', '3'];
    const replayed = await new CliProcess(last, { cwd, env }).ended; // its trap is set for a process
    expect(replayed).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('3 dispatches replayed, 0 would differ'),
    });
  });

  it('upgrades the tables while hosts run: those go on, and an older one does not start (durability §11.1)', {
    timeout: 240_000,
  }, async () => {
    await using fleet = await Fleet.make({ conversations: 4 });
    await fleet.start();
    fleet.load();
    await expect.poll(() => fleet.arrived.size, patiently).toBeGreaterThan(4);
    await fleet.admin.query('UPDATE sluice_journal SET version = version + 1'); // as a program of tomorrow does
    const before = fleet.arrived.size;
    const refused = {
      code: 'not-a-journal',
      message: expect.stringContaining('its tables have version'),
    };
    const starting = openPostgresJournal(connect(String(fleet.env['DATABASE_URL'])), {
      partitions,
    });
    await expect(starting).rejects.toMatchObject(refused);
    await expect(fleet.start()).rejects.toThrow('ended while it started');
    await expect.poll(() => fleet.arrived.size, patiently).toBeGreaterThan(before + 8);
    await fleet.admin.query('UPDATE sluice_journal SET version = version - 1');
    await fleet.start(); // and one of today joins
    await expect.poll(() => fleet.shares(), patiently).toEqual([4, 4]);
    await fleet.stopLoad();
    await fleet.check();
  });
});

import { describe, expect, it } from 'vitest';
import { ReloadGate } from '../../../src/host/lanes/gate.js';
import { type HeldUpdate, Room } from '../../../src/host/lanes/room.js';
import { placeOf, Slots } from '../../../src/host/lanes/slots.js';
import { virtualClock } from '../../../src/testing/index.js';

const roomOf = (laneCapacity: number, capacity: number) =>
  new Room({ laneCapacity, capacity, holdsUpdates: false });

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the room of a host', () => {
  it('lets go what waits in the journal and is not in hand, if a partition was elsewhere (durability §8.2)', () => {
    const room = roomOf(2, 10);
    for (const id of ['1', '2', '3'])
      room.enter(id, 'a', id === '3' ? ({} as HeldUpdate) : undefined); // nobody reads it
    room.keepOnly(new Set(['1']));
    expect([room.has('1'), room.has('2'), room.has('3')]).toEqual([true, false, true]);
  });

  it('is bounded for each lane and for all together; who waits for room gets it in order (durability §8.2)', async () => {
    const room = roomOf(2, 3);
    for (const [id, lane] of ['a', 'a', 'b'].entries()) room.enter(`${id}`, lane);
    expect([room.isFull('a'), room.isFull('b')]).toEqual([true, true]);
    const got: string[] = [];
    const waits = ['b', 'c', 'a'].map((lane) => room.forLane(lane).then(() => got.push(lane)));
    await turn();
    expect(got).toEqual([]);
    room.leave('2'); // b: all of them have room again, a has not
    for (let at = 0; at < 3; at++) await Promise.resolve();
    expect(got).toEqual(['b']);
    for (const id of ['0', '1']) room.leave(id);
    await Promise.all(waits);
    expect(got.toSorted()).toEqual(['a', 'b', 'c']);
    expect(room.size).toBe(0);
  });

  it('is told to each who waits for it, also if one who was told does not use it (durability §8.2)', async () => {
    const room = roomOf(5, 1);
    room.enter('1', 'a');
    const told: string[] = [];
    const waiting = ['a', 'b', 'c'].map((lane) => room.forLane(lane).then(() => told.push(lane)));
    await turn();
    room.leave('1');
    await Promise.all(waiting);
    expect(told).toEqual(['a', 'b', 'c']);
  });

  it('is told to who waits for room among all, also if the one before finds its own lane full (durability §8.2)', async () => {
    const room = roomOf(1, 2);
    room.enter('1', 'a');
    room.enter('2', 'b');
    const told: string[] = [];
    const blocked = room.forLane('a').then(() => told.push('a')); // its lane is full
    const free = ['c', 'd'].map((lane) => room.forLane(lane).then(() => told.push(lane)));
    room.leave('2');
    await Promise.all(free);
    expect(told).toEqual(['c', 'd']);
    room.leave('1');
    await blocked;
  });

  it('has one sender told that there is none, until half of it is free again (durability §8.2)', () => {
    const room = roomOf(2, 4);
    for (const [id, lane] of ['a', 'a', 'b', 'b'].entries()) room.enter(`${id}`, lane);
    const told = () => ['a', 'b', 'c'].filter((lane) => room.isToNotify(lane));
    expect(told()).toEqual(['a', 'b', 'c']);
    expect(told()).toEqual([]);
    room.leave('0');
    expect(told()).toEqual(['a']);
    room.leave('1');
    room.leave('2'); // half of all is free: also "c", which has no update, hears of it anew
    expect(told()).toEqual(['a', 'b', 'c']);
  });
});

describe('a place of a message', () => {
  it('is not held while the gate is closed: what has begun may need it to come to its end (durability §8.6)', async () => {
    const gate = new ReloadGate(virtualClock(), { suspends: true });
    const slots = new Slots(1);
    const order: string[] = [];
    const run = async (name: string, job: () => Promise<void>) => {
      const place = placeOf(slots);
      await slots.take();
      await gate.enterWith(place);
      await job();
      order.push(name);
      gate.leave();
      slots.give();
    };
    let goOn: () => void = () => undefined;
    const waited = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const begun = run('a', async () => {
      await waited;
      slots.give(); // it waits for its session
      await turn();
      await slots.retake();
    });
    await turn();
    const others = ['b', 'c', 'd'].map((name) => run(name, async () => undefined));
    await turn();
    const closed = gate.close();
    goOn();
    await begun;
    expect(await gate.quiet(1)).toBe(0);
    expect(order).toEqual(['a']);
    closed[Symbol.dispose]();
    await Promise.all(others);
    expect(order).toEqual(['a', 'b', 'c', 'd']);
    expect(slots.taken).toBe(0);
  });

  it('is given in the order of those that wait for one, also while places are paused (durability §8.5)', async () => {
    const slots = new Slots(1);
    const order: string[] = [];
    const paused = slots.pause();
    const jobs = ['a', 'b', 'c'].map(async (name) => {
      await slots.take();
      order.push(name);
      slots.give();
    });
    await turn();
    expect([order, slots.waiting, slots.taken]).toEqual([[], 3, 0]);
    paused[Symbol.dispose]();
    await Promise.all(jobs);
    expect(order).toEqual(['a', 'b', 'c']);
  });
});

import { expect, it } from 'vitest';
import { ParkedTurns } from '../../../src/host/lanes/parked-turns.js';
import { Slots } from '../../../src/host/lanes/slots.js';

it.each([false, true])(
  'thousands of turns of one session do not fill the stack if each is given up when it comes, as while extensions are replaced (with places of their agent: %s, durability §8.8)',
  async (hasSlots) => {
    const turns = new ParkedTurns();
    const slots = hasSlots ? new Slots(2) : undefined;
    const places = { sessionKey: 's', shared: undefined, slots };
    const told: string[] = [];
    turns.onTurn = (lane) => {
      told.push(lane);
      turns.giveUp(lane);
    };
    const running = turns.next(undefined, places);
    expect(running.takeNow()).toBe(true);
    const lanes = Array.from({ length: 5_000 }, (_, at) => `lane-${at}`);
    for (const lane of lanes) turns.park(lane, turns.next(lane, places));
    running[Symbol.dispose]();
    while (turns.size > 0) await new Promise(setImmediate);
    expect(told).toEqual(lanes);
    expect(turns.queues.size).toBe(0);
    expect(slots?.taken ?? 0).toBe(0);
  },
);

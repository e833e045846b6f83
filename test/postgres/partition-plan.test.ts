import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planPartitions } from '../../src/postgres/members/partition-plan.js';

interface Host {
  readonly owned: Map<number, number>;
  draining: ReadonlySet<number>;
  isTaking: boolean;
}

/**
 * Lets each host plan and act once, in turns; work of a partition that drains ends by then. @returns the most partitions given up
 * by one host.
 */
function turn(partitions: number, hosts: readonly Host[]): number {
  let most = 0;
  for (const host of hosts) {
    const others = new Set(hosts.flatMap(({ owned }) => [...owned.keys()]));
    const free = Array.from({ length: partitions }, (_, partition) => partition).filter(
      (partition) => !others.has(partition),
    );
    const { owned, draining, isTaking } = host;
    const taking = hosts.filter((one) => one.isTaking).length;
    const { take, drain } = planPartitions({
      ...{ partitions, hosts: taking, isTaking, owned, draining, free },
    });
    expect(drain.every((partition) => owned.has(partition))).toBe(true);
    for (const partition of take) owned.set(partition, 0);
    const idle = drain.filter((partition) => owned.get(partition) === 0);
    for (const partition of idle) owned.delete(partition);
    most = Math.max(most, idle.length);
    host.draining = new Set(drain.filter((partition) => owned.has(partition)));
    for (const partition of host.draining) owned.set(partition, 0);
  }
  return most;
}

const aState = fc
  .record({
    partitions: fc.integer({ min: 1, max: 64 }),
    hosts: fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
    owners: fc.array(fc.tuple(fc.integer({ min: -1, max: 5 }), fc.nat(3)), {
      minLength: 64,
      maxLength: 64,
    }),
  })
  .filter(({ hosts }) => hosts.includes(true))
  .map(({ partitions, hosts, owners }) => ({
    partitions,
    hosts: hosts.map((isTaking, at): Host => {
      const owned = owners
        .slice(0, partitions)
        .flatMap(([owner, busy], partition) => (owner === at ? [[partition, busy] as const] : []));
      return { owned: new Map(owned), draining: new Set(), isTaking };
    }),
  }));

describe('the plan of a host for its partitions', () => {
  it('leaves no partition free and no host above its share, from any state (durability §11.11)', () => {
    fc.assert(
      fc.property(aState, ({ partitions, hosts }) => {
        for (let at = 0; at < 40; at++) turn(partitions, hosts);
        const parts = hosts.flatMap(({ owned }) => [...owned.keys()]);
        expect(parts.sort((a, b) => a - b)).toEqual(
          Array.from({ length: partitions }, (_, p) => p),
        );
        const taking = hosts.filter(({ isTaking }) => isTaking);
        const share = Math.ceil(partitions / taking.length);
        for (const { owned, isTaking } of hosts)
          expect(owned.size).toBeLessThanOrEqual(isTaking ? share : 0);
        const before = JSON.stringify(hosts.map(({ owned }) => [...owned.keys()]));
        turn(partitions, hosts);
        expect(JSON.stringify(hosts.map(({ owned }) => [...owned.keys()]))).toBe(before); // it stays so
      }),
    );
  });

  it('gives up a quarter of a surplus at a time, with the least active work first (durability §11.11)', () => {
    const owned = new Map(Array.from({ length: 12 }, (_, partition) => [partition, partition % 3]));
    const now = { partitions: 12, hosts: 3, isTaking: true, draining: new Set<number>(), free: [] };
    expect(planPartitions({ ...now, owned })).toEqual({ take: [], drain: [9, 6] });
    for (const partition of owned.keys()) owned.set(partition, 1);
    const draining = new Set([1, 4]);
    expect(planPartitions({ ...now, owned, draining }).drain).toEqual([4, 1]); // of as much work, those that drain already
    owned.set(7, 0);
    expect(planPartitions({ ...now, owned, draining }).drain).toEqual([7, 4]);
  });

  it('takes back a partition that drains when a host has gone (durability §11.11)', () => {
    const owned = new Map([
      [0, 2],
      [1, 2],
    ]);
    const now = { partitions: 2, isTaking: true, owned, free: [] };
    expect(planPartitions({ ...now, hosts: 2, draining: new Set() }).drain).toEqual([1]);
    expect(planPartitions({ ...now, hosts: 1, draining: new Set([1]) }).drain).toEqual([]);
  });
});

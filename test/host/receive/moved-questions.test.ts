import { describe, expect, it } from 'vitest';
import { askingHosts } from '../../support/asking-hosts.js';

describe('a question to a human, of a host whose partition moves meanwhile', () => {
  it('goes on if its message has begun before the host has read the questions of the partition (durability §12.10)', async () => {
    await using hosts = await askingHosts();
    const { shared, ran, one } = hosts;
    shared.give('a', [one], { isUntold: true });
    await hosts.deploy('v1');
    expect(hosts.asked()).toEqual([1, 0]);
    await hosts.press();
    expect([ran, hosts.asked(), await hosts.states()]).toEqual([
      ['v1'],
      [1, 0],
      ['v1 answered', 'press 1 answer'],
    ]);
  });

  it('is not taken back by a run that cannot send it, since it has lost its partition and does not know it (durability §12.3, durability §12.10)', async () => {
    await using hosts = await askingHosts();
    const { shared, clock, ran, one } = hosts;
    let isGiven = false;
    shared.onValue = (host, namespace) => {
      if (isGiven || host !== 'b' || namespace !== '/approvals/asked') return;
      isGiven = true; // the question is persisted, and its message is not
      shared.give('a', [one], { isAsleep: true });
    };
    await hosts.deploy('v1');
    expect([isGiven, hosts.asked(), await hosts.rows()]).toEqual([true, [1, 0], ['pending']]);
    await hosts.press(0, 'two');
    shared.wake();
    await clock.advance(5_000);
    expect(ran).toEqual(['v1']);
  });

  it('is answered by a command also if the journal is away for a while (judgement §4.9, durability §12.10)', async () => {
    await using hosts = await askingHosts();
    const { clock, ran, a } = hosts;
    await hosts.deploy('v1');
    const failures = hosts.failReads('a', 3);
    await a.channel.receive({ text: `/approve ${hosts.id()}`, conversation: 'two' }, 'command');
    await clock.advance(5_000);
    expect([failures(), ran, a.texts()]).toEqual([3, ['v1'], [`${hosts.id()} is allowed.`]]);
  });

  it.each([
    ['/approve ID', 'is allowed.'],
    ['/deny ID not today', 'is denied.'],
    ['/approve ID always tool', 'is allowed, and for 30 days always for this tool'],
  ])(
    'is answered by "%s" that is handled again by another host as it was the first time (judgement §4.19, durability §12.10)',
    async (line, said) => {
      await using hosts = await askingHosts({ question: { scopes: ['tool'] } });
      const { shared, clock, a, b, two } = hosts;
      await hosts.deploy('v1');
      const id = hosts.id();
      let answers = 0;
      shared.onValue = (host, namespace) => {
        if (host === 'a' && namespace === '/approvals/asked' && answers++ === 0)
          shared.give('b', [two]); // it has written the answer, and said nothing yet
      };
      const text = line.replace('ID', id);
      await a.channel.receive({ text, conversation: 'two' }, 'command');
      await clock.advance(5_000);
      expect(answers).toBe(1);
      expect(a.texts()).toEqual([]);
      expect(b.texts().filter((one) => one.startsWith(id))).toEqual([
        expect.stringContaining(`${id} ${said}`),
      ]);
    },
  );

  it('ends no host that has lost all partitions when it is to tell that the answer was not used (judgement §4.21)', async () => {
    await using hosts = await askingHosts();
    const { shared, clock, one } = hosts;
    await hosts.deploy('v1');
    const { keyValues } = shared.of('a');
    const [asked] = await keyValues.list('/approvals/asked', { prefix: '', limit: 1 });
    const row = {
      ...JSON.parse(asked?.body ?? ''),
      id: 'x',
      correlationId: 'gone',
      state: 'allowed',
    };
    await keyValues.write('/approvals/asked', 'x', { body: JSON.stringify(row) }, {});
    shared.beforeValue = (_, body) => {
      if (body.includes('"state":"unused"')) shared.give('nobody', shared.all);
    };
    shared.give('a', [one]);
    await clock.advance(1_000);
    expect(await hosts.rows()).toEqual(['pending']); // and nothing has rejected without a listener
  });

  it.each([
    ['asked by', 'pending'],
    ['used by', 'used'],
  ])(
    'is not %s a run that has lost its partition and does not know it (durability §12.3, durability §12.10)',
    async (_, state) => {
      await using hosts = await askingHosts();
      const { shared, clock, ran, one, a } = hosts;
      const late: (() => void)[] = [];
      shared.beforeValue = async (host, body) => {
        const isLate = body.includes(`"state":"${host === 'b' ? state : 'used'}"`);
        if (isLate) await new Promise<void>((resolve) => late.push(resolve));
      };
      await hosts.deploy('v1');
      if (state === 'used') await hosts.press(0, 'two');
      shared.give('a', [one], { isAsleep: true });
      await clock.advance(5_000);
      if (state === 'pending') await hosts.press(0, 'two');
      expect(late).toHaveLength(2); // host a is to use the answer, and host b wakes before it
      shared.beforeValue = () => undefined;
      for (const goOn of late) {
        goOn();
        await clock.advance(5);
      }
      shared.wake();
      await clock.advance(5_000);
      expect([ran, a.texts().at(-1)]).toEqual([['v1'], 'deployed v1']);
    },
  );
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger, systemClock } from 'sluice';
import { virtualClock } from 'sluice/testing';
import { describe, expect, it, vi } from 'vitest';
import { acpAgent } from '../src/index.js';
import { acpLab } from './acp-lab.js';
import { requestOf, slow, take } from './turns.js';

const within = 250_000; // of `slow`, so that what is waited for is told

describe('a program', () => {
  it(
    'that crashes is one clear failure, and is started anew at the next message',
    async () => {
      await using lab = acpLab();
      const { events, error } = await take(lab, 'crash');
      expect(error).toMatch(
        /ended with code 3; its last line on stderr: fatal: the engine is gone$/,
      );
      expect(events.at(-1)).toMatchObject({ assistantMessageEvent: { delta: 'So it beg' } });
      expect(lab.log.entries.map(({ fields }) => fields['detail'])).toContainEqual(
        expect.stringContaining('fatal: the engine is gone'),
      );
      expect((await take(lab, 'hello')).said).toBe('You said: hello');
    },
    slow,
  );

  it(
    'that cannot be started is named',
    async () => {
      await using agent = acpAgent(
        '/no/such/program --acp',
        {},
        { log: silentLogger, clock: systemClock },
      );
      const { error } = await take({ provider: agent.provider }, 'hello');
      expect(error).toContain(
        '/no/such/program --acp cannot be started: spawn /no/such/program ENOENT',
      );
    },
    slow,
  );

  it.each([
    ['newer', 'speaks version 99 of the protocol, not 1'],
    ['login', 'log in with the program itself, or set authMethod'],
  ])(
    'that begins as %s is refused in words',
    async (START, words) => {
      await using lab = acpLab({ env: { START } });
      expect((await take(lab, 'hello')).error).toContain(words);
    },
    slow,
  );

  it(
    'that does not answer in time is ended, also if it does not want to',
    async () => {
      const clock = virtualClock();
      await using lab = acpLab({ clock, env: { START: 'never' }, startTimeoutMs: 9_000 });
      const running = take(lab, 'hello');
      await clock.advance(9_000);
      await clock.advance(2_000);
      expect((await running).error).toContain('was ended: it did not answer within 9000 ms');
    },
    slow,
  );

  it(
    'that writes a frame larger than it may is ended',
    async () => {
      await using lab = acpLab({ maxFrameBytes: 10_000 });
      expect((await take(lab, 'huge 5000')).said).toHaveLength(5_000);
      expect((await take(lab, 'huge 20000')).error).toMatch(/was ended: .*10000/);
      expect((await take(lab, 'hello')).said).toBe('You said: hello');
    },
    slow,
  );

  it(
    'that cannot be started is tried again at the next message',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-acp-'));
      const cwd = join(folder, 'place');
      writeFileSync(cwd, 'a file');
      await using lab = acpLab({ cwd }, folder);
      expect((await take(lab, 'hello')).error).toContain('ENOTDIR');
      rmSync(cwd);
      mkdirSync(cwd);
      expect((await take(lab, 'hello')).said).toBe('You said: hello');
    },
    slow,
  );

  it(
    'that closes its pipes and lives on is ended',
    async () => {
      const clock = virtualClock();
      await using lab = acpLab({ clock });
      const { said } = await take(lab, 'pid');
      await take(lab, 'close');
      await vi.waitFor(() => expect(clock.pending).toBeGreaterThan(0), 60_000);
      await clock.advance(2_000);
      await vi.waitFor(() => expect(() => process.kill(Number(said), 0)).toThrow('ESRCH'), slow);
    },
    slow,
  );

  it(
    'is killed if the host exits at once',
    async () => {
      const before = process.listeners('exit');
      await using lab = acpLab({ env: { START: 'deaf' } });
      const { said } = await take(lab, 'pid');
      const added = process.listeners('exit').filter((one) => !before.includes(one));
      for (const listener of added) listener(130);
      await vi.waitFor(() => expect(() => process.kill(Number(said), 0)).toThrow('ESRCH'), within);
      const left = () => process.listeners('exit').filter((one) => added.includes(one));
      await vi.waitFor(() => expect(left()).toEqual([]), within);
    },
    slow,
  );

  it('that has not begun yet is ended with its extension', async () => {
    const lab = acpLab({ env: { START: 'never' } });
    const running = take(lab, 'hello');
    await vi.waitFor(() => expect(lab.ran()).toContain('begun'), 60_000);
    await lab[Symbol.asyncDispose]();
    expect((await running).error).toContain('was ended: the host has let go of it');
  });

  it('that writes faster than its words are heard has its turn stopped', async () => {
    await using lab = acpLab();
    const turn = lab.provider.run(requestOf('flood'));
    const events = turn[Symbol.asyncIterator]();
    await events.next();
    const first = events.next(); // the words begin, and nobody reads on
    await vi.waitFor(() => expect(lab.ran()).toContain('stopped'), 60_000);
    await first;
    let last: unknown;
    for await (const event of { [Symbol.asyncIterator]: () => events }) last = event;
    expect(last).toMatchObject({ type: 'agent_end', aborted: true });
  });

  it(
    'that ignores its end is killed',
    async () => {
      const lab = acpLab({ env: { START: 'deaf' } });
      const { said } = await take(lab, 'pid');
      await lab[Symbol.asyncDispose]();
      expect(() => process.kill(Number(said), 0)).toThrow('ESRCH');
    },
    slow,
  );

  it(
    'gets the variables that it needs and those that it is given, and no others',
    async () => {
      vi.stubEnv('SECRET_OF_THE_HOST', 'x');
      vi.stubEnv('PASSED', 'y');
      vi.stubEnv('HOME', '/home/of-the-host'); // whoever runs this test may have none
      await using lab = acpLab({ passEnv: ['PASSED'], env: { GIVEN: 'z' } });
      const names = (await take(lab, 'env')).said.split(' ');
      vi.unstubAllEnvs();
      expect(names).toEqual(expect.arrayContaining(['PATH', 'HOME', 'PASSED', 'GIVEN']));
      expect(names).not.toContain('SECRET_OF_THE_HOST');
    },
    slow,
  );

  it(
    'is refused by name what this client does not do, such as to read a file',
    async () => {
      await using lab = acpLab();
      expect((await take(lab, 'read')).said).toBe(
        'error -32601: "Method not found": fs/read_text_file',
      );
    },
    slow,
  );
});

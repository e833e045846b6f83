import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectCancelled, expectPassed } from 'sluice/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { ownershipLab } from './ownership-lab.js';
import { ServerProcess } from './server-process.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-ownership-'));
const memory = ['--port', '0', '--database', ':memory:'];
const claimOf = (agentId: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer hush-hush' },
  body: JSON.stringify({ agent_id: agentId }),
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('sluice-ownership', () => {
  it('--help shows every option, an example and the exit codes', async () => {
    const { code, stdout, stderr } = await new ServerProcess(['--help']).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const part of ['Usage: sluice-ownership', '--token-file', '$ sluice-ownership', '130'])
      expect(stdout).toContain(part);
    expect((await new ServerProcess(['--version']).ended).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('with a wrong command line ends with 2', async () => {
    const { code, stdout, stderr } = await new ServerProcess(['--prot', '1']).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      "sluice-ownership: bad-arguments: unknown option '--prot' (Did you mean --port?). See `sluice-ownership --help`.\n",
    );
  });

  it('that finds its port taken says so, with 1', async () => {
    await using first = new ServerProcess(memory);
    const { port } = new URL(await first.url());
    const args = ['--port', port, '--database', ':memory:'];
    const { code, stderr } = await new ServerProcess(args).ended;
    expect(code).toBe(1);
    expect(stderr).toContain('EADDRINUSE');
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('writes events as JSON, and the token nowhere', async () => {
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, 'hush-hush\n');
    await using server = new ServerProcess([
      ...memory,
      ...['--token-file', tokenFile, '--json', '--verbose'],
    ]);
    const url = await server.url();
    expect((await fetch(`${url}/api/v1/ownership/C1/1?token=hush-hush`, claimOf('a'))).status).toBe(
      200,
    );
    expect((await fetch(`${url}/api/v1/ownership/C1/1`)).status).toBe(401);
    await server.until(/"status":401/);
    server.child.kill('SIGTERM');
    const { code, stdout, stderr } = await server.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(events).toEqual([
      { event: 'listening', url, database: ':memory:', ttlMs: 86_400_000 },
      { event: 'request', method: 'POST', path: '/api/v1/ownership/C1/1', status: 200 },
      { event: 'request', method: 'GET', path: '/api/v1/ownership/C1/1', status: 401 },
      { event: 'stopped', reason: 'SIGTERM' },
    ]);
    expect(stdout).not.toContain('hush');
  });

  it('is stopped by SIGTERM with 0, a connection that is kept alive or not', async () => {
    await using server = new ServerProcess(memory);
    const url = await server.url();
    expect((await fetch(`${url}/health`)).status).toBe(200);
    server.child.kill('SIGTERM');
    expect((await server.ended).code).toBe(0);
  });

  it('that is killed and started anew knows who owns what (fault 46)', async () => {
    const args = ['--database', join(folder, 'claims.db'), '--port'];
    await using first = new ServerProcess([...args, '0']);
    const forwarderUrl = await first.url();
    await using one = await ownershipLab({ forwarderUrl, agents: [{ id: 'one' }] });
    await using two = await ownershipLab({ forwarderUrl, agents: [{ id: 'two' }] });
    expectPassed(await one.send()); // one has claimed the thread
    first.child.kill('SIGKILL');
    await first.ended;
    const { failures } = expectPassed(await one.send()); // nobody is there: it is marked
    expect(failures).toMatchObject([{ kind: 'threw', policy: 'open' }]);
    await using _second = new ServerProcess([...args, new URL(forwarderUrl).port]);
    await _second.url();
    const { cancel } = expectCancelled(await two.send());
    expect(cancel.details).toMatchObject({ owner: 'one' });
    expect(expectPassed(await one.send()).failures).toEqual([]);
  });

  it('shares its claims with another process on the same file', async () => {
    const args = ['--port', '0', '--database', join(folder, 'shared.db')];
    await using first = new ServerProcess(args);
    await using second = new ServerProcess(args);
    const [one, two] = await Promise.all([first.url(), second.url()]);
    const statuses = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        Promise.all([
          fetch(`${one}/api/v1/ownership/C1/${at}`, claimOf('one')),
          fetch(`${two}/api/v1/ownership/C1/${at}`, claimOf('two')),
        ]).then((pair) => pair.map(({ status }) => status).sort()),
      ),
    );
    expect(statuses).toEqual(Array.from({ length: 40 }, () => [200, 409]));
  });
});

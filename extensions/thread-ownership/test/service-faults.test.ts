import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expectCancelled, expectPassed } from 'sluice/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { maxBodyBytes } from '../src/owner-in.js';
import { ownershipLab } from './ownership-lab.js';
import { type Answer, says } from './scripted-service.js';

const timeoutMs = 3_000;
const huge = `{"owner":"other","filler":"${'x'.repeat(maxBodyBytes)}"}`;

afterEach(() => vi.restoreAllMocks());

describe('a 409 is the verdict, whatever its body is (fault 45)', () => {
  it.each<[string, Answer, string]>([
    ['absent', says(409), 'another agent'],
    ['no JSON', says(409, 'not json'), 'another agent'],
    ['JSON without an owner', says(409, '[]'), 'another agent'],
    ['null', says(409, 'null'), 'another agent'],
    ['huge', says(409, huge), 'another agent'],
    [
      'no UTF-8',
      (response) => response.writeHead(409).end(Buffer.from([0xff, 0xfe])),
      'another agent',
    ],
    [
      'cut off',
      (response) =>
        response.writeHead(409, { 'content-length': 100 }).write('{"own', () => response.destroy()),
      'another agent',
    ],
    [
      'as long as may be',
      says(409, huge.replace('x'.repeat(30), '').padEnd(maxBodyBytes)),
      'other',
    ],
    ['with an owner of several lines', says(409, '{"owner":"a\\n\\u001b[31mb"}'), 'a [31mb'],
  ])('%s', async (_, answer, who) => {
    await using lab = await ownershipLab({ answer });
    const { cancel, failures } = expectCancelled(await lab.send());
    expect(cancel.text).toBe(`${who} owns the thread 17.5 of C1`);
    expect(failures).toEqual([]);
  });

  it('one that never ends is waited for no longer than the service may take', async () => {
    await using lab = await ownershipLab({
      answer: (response) => void response.writeHead(409).write('{"owner":'),
    });
    const fetching = vi.spyOn(globalThis, 'fetch');
    const pending = lab.send();
    await fetching.mock.results[0]?.value; // its status is known
    await lab.test.clock.advance(timeoutMs);
    expectCancelled(await pending, { code: 'owned-elsewhere' });
  });
});

describe('a service of no help lets the message go, and it is marked (fault 45)', () => {
  it.each<[string, Answer, string]>([
    ['401', says(401), 'status 401'],
    ['403', says(403), 'status 403'],
    ['404', says(404), 'status 404'],
    ['429', says(429), 'status 429'],
    ['500', says(500), 'status 500'],
    ['503 with a body', says(503, '{"owner":"other"}'), 'status 503'],
    ['a connection that is closed', (response) => response.destroy(), 'could not be asked'],
  ])('%s', async (_, answer, problem) => {
    await using lab = await ownershipLab({ answer });
    const { failures } = expectPassed(await lab.send());
    expect(failures).toMatchObject([
      { extensionId: 'thread-ownership', contributionId: 'owner', kind: 'threw', policy: 'open' },
    ]);
    expect(failures[0]?.message).toContain(problem);
    expect(lab.test.kernel.stats().failedOpen).toBe(1);
    const [reason, mark, ...others] = lab.test.log.messages('warn');
    expect(reason).toBe('ownership check failed');
    expect(lab.test.log.entries.find(({ message }) => message === reason)?.fields).toMatchObject({
      detail: expect.stringContaining(problem),
    });
    expect(mark).toContain('failed open');
    expect(others).toEqual([]);
  });

  it('one that does not answer, after 3 seconds and not before', async () => {
    await using lab = await ownershipLab({ answer: () => undefined });
    let settled = false;
    const pending = lab.send().finally(() => {
      settled = true;
    });
    await lab.service.heard(1);
    await lab.test.clock.advance(timeoutMs - 1);
    expect(settled).toBe(false);
    await lab.test.clock.advance(1);
    const { failures } = expectPassed(await pending);
    expect(failures[0]?.message).toContain('did not answer in 3000 ms');
  });

  it('one that nobody runs', async () => {
    await using lab = await ownershipLab({ forwarderUrl: `http://127.0.0.1:${await freePort()}` });
    const { failures } = expectPassed(await lab.send());
    expect(failures[0]?.message).toContain('ECONNREFUSED');
  });

  it('one whose name means nothing', async () => {
    await using lab = await ownershipLab({ forwarderUrl: 'http://ownership.invalid' });
    const { failures } = expectPassed(await lab.send());
    expect(failures[0]?.message).toContain('could not be asked');
  });
});

/** A port that nobody listens on, for now. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo; // it listens on one
  await new Promise((closed) => server.close(closed));
  return port;
}

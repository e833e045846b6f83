import { createPublicKey, verify } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { createDeviceIdentity, loadDeviceIdentity } from '../../../src/openclaw/gateway/index.js';

const folder = await mkdtemp(join(tmpdir(), 'sluice-device-'));
afterAll(() => rm(folder, { recursive: true }));
let files = 0;
const fresh = (): string => join(folder, `${++files}`, 'device.pem');

describe('a device identity', () => {
  it('signs with Ed25519, and is named by the hash of its public key', () => {
    const { id, publicKey, sign } = createDeviceIdentity();
    expect(id).toMatch(/^[0-9a-f]{64}$/);
    expect(Buffer.from(publicKey, 'base64url')).toHaveLength(32);
    const key = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: publicKey },
      format: 'jwk',
    });
    const signature = Buffer.from(sign('hello'), 'base64url');
    expect(verify(null, Buffer.from('hello'), key, signature)).toBe(true);
    expect(verify(null, Buffer.from('hallo'), key, signature)).toBe(false);
  });
});

describe('a device key file (stream §2.4)', () => {
  it('is made once, for its owner only, and found again', async () => {
    const path = fresh();
    const made = await loadDeviceIdentity(path);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700);
    const text = await readFile(path, 'utf8');
    expect((await loadDeviceIdentity(path)).id).toBe(made.id);
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('is the same for all who make it at the same time, and leaves nothing beside it', async () => {
    const path = fresh();
    const all = await Promise.all(Array.from({ length: 20 }, () => loadDeviceIdentity(path)));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(await readdir(join(path, '..'))).toEqual(['device.pem']);
  });

  it.each([
    ['that its group can read', 0o640, '640, not 600'],
    ['that others can read', 0o604, '604, not 600'],
  ])('%s is refused', async (_what, mode, says) => {
    const path = fresh();
    await loadDeviceIdentity(path);
    await chmod(path, mode);
    await expect(loadDeviceIdentity(path)).rejects.toMatchObject({
      code: 'bad-device-key',
      message: expect.stringContaining(says),
      hint: expect.stringContaining('chmod 600'),
    });
  });

  it('that is a symbolic link is refused', async () => {
    const path = fresh();
    await loadDeviceIdentity(path);
    const link = join(path, '..', 'link.pem');
    await symlink(path, link);
    await expect(loadDeviceIdentity(link)).rejects.toThrow('symbolic link');
  });

  it('that is a folder is refused', async () => {
    await expect(loadDeviceIdentity(folder)).rejects.toMatchObject({ code: 'bad-device-key' });
  });

  it.each([
    ['no key', 'canary-of-a-key-file'],
    [
      'another kind of key',
      '-----BEGIN PRIVATE KEY-----\ncanary-of-a-key-file\n-----END PRIVATE KEY-----',
    ],
    ['too much', 'canary-of-a-key-file'.repeat(1_000)],
  ])('that holds %s is refused, and nothing of it is said (stream §2.9)', async (_what, text) => {
    const path = join(folder, `wrong-${++files}.pem`);
    await writeFile(path, text, { mode: 0o600 });
    const error: unknown = await loadDeviceIdentity(path).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'bad-device-key' });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('canary');
  });

  it('that cannot be made says why', async () => {
    const path = join(folder, `file-${++files}`);
    await writeFile(path, '');
    await expect(loadDeviceIdentity(join(path, 'device.pem'))).rejects.toThrow(/ENOTDIR|EEXIST/);
  });
});

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process, { execPath } from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKernel } from '../../../src/kernel/internal.js';
import {
  createLegacyHookRunner,
  type LegacyPluginOptions,
  loadLegacyPlugin,
} from '../../../src/openclaw/index.js';
import { servedMembers } from '../../../src/openclaw/plugin/api/unsupported.js';
import { fetchFrom } from '../../../src/openclaw/plugin/runtime/web-media.js';
import { collectingLogger } from '../../../src/testing/index.js';

type Call = (...args: readonly unknown[]) => unknown;
type Runtime = Readonly<Record<string, Readonly<Record<string, Call>>>>;

let folder = '';

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-runtime-')));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** The runtime of a plugin that has registered. */
function load(options: Partial<LegacyPluginOptions> = {}) {
  const kernel = createKernel();
  const logger = collectingLogger();
  let runtime: Runtime = {};
  const register = (api: { readonly runtime: Runtime }): void => {
    runtime = api.runtime;
  };
  const dirs = { workspaceDir: folder, stateDir: join(folder, 'state') };
  const plugin = loadLegacyPlugin(register, {
    kernel,
    pluginId: 'acme',
    logger,
    ...dirs,
    ...options,
  });
  const member = (name: string): Call => {
    const [, , part = '', method = ''] = name.split('.');
    const found = runtime[part]?.[method];
    if (found === undefined) throw new Error(`there is no ${name}`);
    return found;
  };
  return {
    plugin,
    kernel,
    logger,
    call: (name: string, ...args: readonly unknown[]) => member(`api.runtime.${name}`)(...args),
    member,
  };
}

const loadsMedia = (url: string, options?: unknown) =>
  load().call('media.loadWebMedia', url, options) as Promise<{ readonly buffer: Buffer }>;

describe('the members of api.runtime that are served (event-pipeline §17.17)', () => {
  it('are those that the list names, and are not written down as missing', () => {
    const { plugin, member } = load();
    for (const name of servedMembers) expect(typeof member(name)).toBe('function');
    expect(plugin.unsupported).toEqual([]);
  });

  it('read the config and the folder of the plugin', () => {
    const config = { agents: {} };
    const { call } = load({ config });
    expect(call('config.loadConfig')).toBe(config);
    expect(call('state.resolveStateDir')).toBe(join(folder, 'state'));
  });

  it('do not write the config, also where other calls are skipped', async () => {
    const { plugin, call } = load({ unsupported: 'skip' });
    await expect(call('config.writeConfigFile', {})).rejects.toMatchObject({
      code: 'plugin-unsupported',
    });
    await expect(call('media.resizeToJpeg', {})).rejects.toMatchObject({
      code: 'plugin-unsupported',
    });
    expect(plugin.unsupported.map(({ method }) => method)).toEqual([
      'api.runtime.config.writeConfigFile',
      'api.runtime.media.resizeToJpeg',
    ]);
  });

  it('log with the fields that a child logger was made with', () => {
    const { call, logger } = load();
    const child = call('logging.getChildLogger', { module: 'm' }) as { warn: Call };
    child.warn('careful', { at: 1 });
    expect(logger.entries).toMatchObject([
      {
        level: 'warn',
        message: 'acme: careful',
        fields: { module: 'm', at: 1, extensionId: 'acme' },
      },
    ]);
  });

  it('run a program, and say how it ended', async () => {
    const { call } = load();
    const run = (text: string, options: unknown = 60_000) =>
      call('system.runCommandWithTimeout', [execPath, '-e', text], options);
    expect(await run('console.log(1); console.error(2); process.exit(3)')).toMatchObject({
      ...{
        stdout: '1\n',
        stderr: '2\n',
        code: 3,
        signal: null,
        killed: false,
        termination: 'exit',
      },
    });
    const pipes = 'process.stdin.pipe(process.stdout); process.stderr.write(process.env.WORD)';
    const options = { timeoutMs: 60_000, input: 'in', env: { WORD: 'w' }, cwd: folder };
    expect(await run(pipes, options)).toMatchObject({ stdout: 'in', stderr: 'w' });
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warned);
    await Promise.all(Array.from({ length: 12 }, () => run('')));
    await new Promise(setImmediate);
    process.off('warning', warned);
    expect(warnings).toEqual([]); // as many as a plugin likes at once
    const forever = 'setInterval(() => {}, 1000)';
    expect(await run(forever, 1)).toMatchObject({
      code: null,
      killed: true,
      termination: 'timeout',
    });
    expect(await run(forever, { timeoutMs: 60_000, noOutputTimeoutMs: 1 })).toMatchObject({
      ...{ termination: 'no-output-timeout', noOutputTimedOut: true },
    });
    await expect(call('system.runCommandWithTimeout', [join(folder, 'none')], 1)).rejects.toThrow(
      'ENOENT',
    );
  });

  it('put a system event before the next prompt of its session, once', async () => {
    const { call, kernel, plugin } = load();
    const sessionKey = 'agent:main:main';
    const say = (text: string) => call('system.enqueueSystemEvent', text, { sessionKey });
    expect([say(' a '), say('a'), say(''), say('b')]).toEqual([true, false, false, true]);
    const runner = createLegacyHookRunner(kernel);
    const built = (key: string) =>
      runner.runBeforePromptBuild({ prompt: 'p', messages: [] }, { sessionKey: key });
    expect(await built('other')).toBeUndefined();
    expect(await built(sessionKey)).toEqual({ prependContext: 'System: a\nSystem: b' });
    expect(await built(sessionKey)).toBeUndefined();
    await plugin.dispose();
    expect(kernel.stages().flatMap(({ handlers }) => handlers)).toEqual([]);
    const kept = load({ hooks: { allowPromptInjection: false } });
    expect(kept.call('system.enqueueSystemEvent', 'a', { sessionKey })).toBe(false);
    expect(kept.plugin.diagnostics).toHaveLength(1);
  });

  it('know a type by the first bytes, else by the name, else by the header', async () => {
    const { call } = load();
    const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
    const zip = Buffer.from('PK\x03\x04', 'latin1');
    const mime = (given: object) => call('media.detectMime', given);
    expect(await mime({ buffer: png, filePath: 'a.txt', headerMime: 'text/plain' })).toBe(
      'image/png',
    );
    expect(await mime({ buffer: zip, filePath: 'a.docx' })).toContain('wordprocessingml');
    expect(await mime({ buffer: zip })).toBe('application/zip');
    expect(await mime({ filePath: 'https://x.example/a.MP3?b=.png' })).toBe('audio/mpeg');
    expect(await mime({ headerMime: 'Video/MP4; codecs=x' })).toBe('video/mp4');
    expect(await mime({})).toBeUndefined();
    expect(
      ['image/png', 'text/plain', 'font/woff', undefined].map((type) =>
        call('media.mediaKindFromMime', type),
      ),
    ).toEqual([...['image', 'document', undefined, undefined]]);
    expect(call('media.isVoiceCompatibleAudio', { fileName: 'a.ogg' })).toBe(true);
    expect(call('media.isVoiceCompatibleAudio', { contentType: 'image/png' })).toBe(false);
  });

  it('load a file of the own folders, of a size that is allowed', async () => {
    const path = join(folder, 'a.png');
    writeFileSync(path, Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'));
    expect(await loadsMedia(`file://${path}`)).toMatchObject({
      ...{ contentType: 'image/png', kind: 'image', fileName: 'a.png' },
    });
    await expect(loadsMedia(path, 3)).rejects.toThrow('is larger than 3 bytes');
    await expect(loadsMedia(execPath)).rejects.toThrow('lies in no folder');
    await expect(loadsMedia(path, { localRoots: ['/usr'] })).rejects.toThrow('lies in no folder');
  });

  it('ask the address that was found for a name, whatever the name leads to by then', async () => {
    const asked: unknown[] = [];
    const server = createServer(({ url, headers, method }, response) => {
      asked.push([method, url, headers['host']?.split(':')[0], headers['x-key']]);
      response.writeHead(201, { 'content-type': 'text/plain' }).end('tea');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const found = [{ address: '127.0.0.1', family: 4 }];
    const url = new URL(`http://nowhere.invalid:${port}/a?b=1`);
    const { signal } = new AbortController();
    const answer = await fetchFrom(found, url, { headers: { 'X-Key': 'k' }, signal });
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      ...[201, 'text/plain', 'tea'],
    ]);
    expect(asked).toEqual([['GET', '/a?b=1', 'nowhere.invalid', 'k']]);
    const away = fetchFrom(found, url, { signal: AbortSignal.abort() });
    await expect(away).rejects.toThrow('aborted');
    server.close();
  });

  it('load no URL of this machine unless that is allowed, nor more bytes than allowed', async () => {
    const asked: unknown[] = [];
    const server = createServer(({ url }, response) => {
      asked.push(url);
      if (url === '/away') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
      else response.writeHead(200, { 'content-type': 'text/plain' }).end('12345');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ssrfPolicy = { allowPrivateNetwork: true };
    try {
      await expect(loadsMedia(`${url}/a.txt`)).rejects.toThrow('lies in this machine');
      await expect(loadsMedia('http://[::ffff:127.0.0.1]/a')).rejects.toThrow(
        'lies in this machine',
      );
      expect(asked).toEqual([]);
      const { buffer, ...rest } = await loadsMedia(`${url}/a.txt`, { ssrfPolicy });
      expect(String(buffer)).toBe('12345');
      expect(rest).toEqual({ contentType: 'text/plain', kind: 'document', fileName: 'a.txt' });
      await expect(loadsMedia(`${url}/a`, { ssrfPolicy, maxBytes: 4 })).rejects.toThrow(
        'is larger than 4',
      );
      await expect(loadsMedia(`${url}/away`, { ssrfPolicy })).rejects.toThrow('is not of the web');
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});

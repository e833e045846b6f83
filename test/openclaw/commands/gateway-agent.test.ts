import { mkdtempSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { agentChoice } from '../../../src/cli/settings/agent-choice.js';
import {
  gatewaySetting,
  readSettings,
  withGatewayAuth,
} from '../../../src/cli/settings/settings.js';
import { gatewayClient } from '../../../src/openclaw/commands/agent/gateway-agent.js';
import { openclawAddition } from '../../../src/openclaw/internal.js';
import { Scope } from '../../../src/sdk/extension/index.js';
import { collectingLogger } from '../../../src/testing/index.js';
import { runInMemory } from '../../cli/memory-shell.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-gateway-agent-'));

afterAll(() => rm(folder, { recursive: true, force: true }));

it('takes an agent of a gateway by its name there, and "main" where none is named', () => {
  const chosen = (text: string) => agentChoice(text, '/', [openclawAddition]);
  const kind = openclawAddition.agents?.[0];
  expect(chosen('openclaw')).toEqual({ kind, rest: undefined, folder: '/' });
  expect(chosen('openclaw:work')).toEqual({ kind, rest: 'work', folder: '/' });
  expect(() => chosen('openclaw:a b')).toThrow('there is no agent "openclaw:a b"');
});

it('refuses --url where no agent is behind a gateway', async () => {
  const { code, stderr } = await runInMemory(['run', '--no-config', '--url', 'ws://127.0.0.1:1']);
  expect(code).toBe(2);
  expect(stderr).toBe(
    'sluice: bad-arguments: --url names a gateway, and no agent is behind one. Add --agent openclaw, or leave --url out.\n',
  );
});

it('refuses a --url that is no address, before anything runs', async () => {
  const args = ['run', '--no-config', '--agent', 'openclaw', '--url', 'gateway.example'];
  const { code, stderr } = await runInMemory(args);
  expect(code).toBe(2);
  expect(stderr).toBe(
    'sluice: bad-arguments: "gateway.example" is no gateway.url: expected an address that begins with "ws://" or "wss://". Write the address of an OpenClaw gateway, by default "ws://127.0.0.1:18789".\n',
  );
});

it('refuses two agents of a gateway in one host, in a config and on the command line', async () => {
  const file = join(folder, 'two.json');
  const agents = [
    { id: 'a', provider: 'openclaw:one' },
    { id: 'b', provider: 'openclaw:two' },
  ];
  await writeFile(file, JSON.stringify({ agents }));
  const inConfig = await runInMemory(['run', '--config', file]);
  expect(inConfig.stderr).toContain('several agents of a gateway cannot answer in one host');
  const [, second] = agents;
  await writeFile(file, JSON.stringify({ agents: [{ id: 'a', provider: 'echo' }, second] }));
  const given = await runInMemory(['run', '--config', file, '--agent', 'openclaw:one']);
  expect(given.stderr).toContain('the agents "one" and "two" of a gateway');
  expect([inConfig.code, given.code]).toEqual([2, 2]);
});

it('reads the gateway from the command line, then the config file, then the environment', async () => {
  const env = { HOME: '/home/ada', OPENCLAW_GATEWAY_TOKEN: 't' };
  const config = join(folder, 'gateway.json');
  const gateway = { url: 'ws://b', device: 'key.pem', token: 'u' };
  await writeFile(config, JSON.stringify({ agent: 'openclaw', gateway }));
  expect(gatewaySetting(undefined, env)).toEqual({
    url: 'ws://127.0.0.1:18789',
    token: 't',
    device: '/home/ada/.sluice/openclaw-device.pem',
  });
  const shell = {
    ...{ cwd: '/', env, additions: [openclawAddition], journals: [] },
    ...{ stop: new AbortController().signal, keepSecrets: () => undefined },
  };
  const settings = await readSettings({ config, url: 'ws://a' }, shell);
  expect(settings.gateway).toEqual({ url: 'ws://a', token: 'u', device: join(folder, 'key.pem') });
});

it('lets the environment stand for what gateway.auth of an OpenClaw configuration lacks (extensions-that-act §9.9)', async () => {
  const env = { OPENCLAW_GATEWAY_TOKEN: 'planted-token', OPENCLAW_GATEWAY_PASSWORD: '' };
  const auth = { mode: 'token' };
  expect(withGatewayAuth({ channels: {}, gateway: { port: 1, auth } }, env)).toEqual({
    channels: {},
    gateway: { port: 1, auth: { mode: 'token', token: 'planted-token' } },
  });
  const written = { gateway: { auth: { token: 'written', password: 'too' } } };
  const both = { ...env, OPENCLAW_GATEWAY_PASSWORD: 'p' };
  expect(withGatewayAuth(written, both)).toEqual(written);
  expect(withGatewayAuth({}, { OPENCLAW_GATEWAY_TOKEN: '' })).toEqual({});
  const secrets: string[] = [];
  const kept = (some: readonly string[]): void => void secrets.push(...some);
  const stop = new AbortController().signal;
  const shell = { cwd: folder, env, keepSecrets: kept, stop, additions: [], journals: [] };
  const settings = await readSettings({ config: false }, shell);
  expect(settings.openclaw).toEqual({ gateway: { auth: { token: 'planted-token' } } });
  expect(secrets).toContain('planted-token');
});

it('does not start without its gateway, and leaves a key that only its owner can read', async () => {
  const server = createServer((socket) => socket.end('no gateway')).listen(0, '127.0.0.1');
  const address = await new Promise<string>((resolve) => {
    server.on('listening', () => resolve(`127.0.0.1:${Object(server.address()).port}`));
  });
  const device = join(folder, 'keys', 'device.pem');
  const logger = collectingLogger();
  await using scope = new Scope('agents');
  const gateway = { url: `ws://${address}`, token: 'planted-token', device };
  const { signal: stop } = new AbortController();
  const client = gatewayClient({ gateway, logger, version: '0.0.0', stop, scope }, 300);
  const error: unknown = await client.catch((thrown: unknown) => thrown);
  server.close();
  expect(error).toMatchObject({ code: 'gateway-unreachable' });
  expect(JSON.stringify([String(error), logger.entries])).not.toContain('planted-token');
  expect(statSync(device).mode & 0o777).toBe(0o600);
});

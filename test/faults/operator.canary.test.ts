import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runInMemory } from '../cli/memory-shell.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const canary = {
  message: 'CANARY-in-a-message',
  token: 'CANARY-in-a-token',
  config: 'CANARY-in-a-config',
};

/** Fails in every way that can quote what it was given: a payload, its config, its token. */
const leaky = `
const text = ({ payload }, own) => payload.content + ' with ' + settings.token + ' and ' + settings.note;
let settings;
export default { kind: 'sluice-extension', id: 'leaky',
  config: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } },
  setup(api, config) {
    settings = config;
    api.observe('ingress.normalized', 'throws', (call) => { throw new Error(text(call)); });
    api.observe('ingress.normalized', 'rejects', async (call) => { throw Object.assign(new TypeError(text(call)), { code: text(call) }); });
    api.observe('ingress.normalized', 'throws-text', (call) => { throw text(call); });
    api.observe('ingress.normalized', 'named', (call) => { const e = new Error('x'); e.name = text(call); throw e; });
    api.observe('ingress.normalized', 'detached', { detached: true }, async (call) => { throw new Error(text(call)); });
    api.augment('ingress.normalized', 'wrong', (call) => ({ [text(call)]: 1 }));
    api.mutate('egress.preparing', 'wrong-patch', { priority: 9 }, (call) => ({ content: { nested: text(call) } }));
    api.mutate('egress.preparing', 'wrong-key', { priority: 9 }, (call) => ({ contnt: text(call) }));
    api.veto('egress.preparing', 'wrong-code', (call) => call.payload.content.includes('nonsense') ? { kind: 'cancel', code: text(call) } : undefined);
    api.veto('egress.preparing', 'closed', { failClosed: true }, (call) => {
      if (call.payload.content.includes('stop')) throw new Error(text(call));
      return { kind: 'allow' };
    });
    api.mutate('transcript.message.writing', 'sync', (call) => { throw new Error(JSON.stringify(call.payload) + settings.token); });
    api.observe('runtime.stopping', 'last', () => { throw new Error(settings.token); });
    api.own('a resource', () => { throw new Error(settings.token); });
  } };`;

const broken = `
export default { kind: 'sluice-extension', id: 'broken',
  config: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } },
  setup(api, config) { throw new Error('cannot log in with ' + config.token); } };`;

function settings(logging: Readonly<Record<string, string>>): string {
  const config = { token: { env: 'CANARY_TOKEN' }, note: canary.config };
  return JSON.stringify({
    logging,
    extensions: [
      { path: './leaky.mjs', config },
      { path: './broken.mjs', config },
    ],
  });
}

const input = `${canary.message}\n/nonsense ${canary.message}\nstop ${canary.message}\n`;

/** Runs the host until its input ends, and gives all that it logged and told. */
async function logOf(
  logging: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<string> {
  using folder = temporaryFolder({
    'sluice.config.json': settings(logging),
    'leaky.mjs': leaky,
    'broken.mjs': broken,
  });
  const { stderr } = await runInMemory(['run', '--quiet', ...args], input, {
    cwd: folder.path,
    env: { CANARY_TOKEN: canary.token },
  });
  const { file } = logging;
  return file === undefined ? stderr : stderr + readFileSync(join(folder.path, file), 'utf8');
}

describe('a log at its default level (fault 49, §20.3)', () => {
  it.each([
    ['text for people', {}],
    ['lines of JSON', { format: 'json' }],
    ['a file', { file: 'host.log' }],
  ])('holds neither payload text nor secrets nor configs: %s', async (_, logging) => {
    const log = await logOf(logging);
    expect(log).toContain('leaky/throws'); // the failures were logged
    expect(log).toContain('leaky/wrong-key');
    expect(log).toContain('broken');
    expect(log).not.toContain('CANARY-in-a-message');
    expect(log).not.toContain('CANARY-in-a-token');
    expect(log).not.toContain('CANARY-in-a-config');
  });

  it('shows texts at level debug, where they are asked for, and still no secret', async () => {
    const log = await logOf({ level: 'debug', format: 'json' });
    expect(log).toContain(canary.message);
    expect(log).toContain('[secret]');
    expect(log).not.toContain(canary.token);
  });

  it('names the extension, the family, the session and the event of a failure', async () => {
    const entries = (await logOf({ format: 'json' }))
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const failure = entries.find(
      ({ contributionId, msg }) => contributionId === 'closed' && String(msg).includes('threw'),
    );
    expect(failure).toMatchObject({
      level: 'warn',
      extensionId: 'leaky',
      contributionId: 'closed',
      family: 'egress.preparing',
      kind: 'threw',
      policy: 'closed',
      eventId: expect.stringMatching(/^\w+-\w+-\w+$/),
      sessionId: expect.any(String),
      error: { type: 'Error', at: expect.stringMatching(/leaky\.mjs:\d+:\d+$/) },
    });
    expect(entries.find(({ msg }) => String(msg).startsWith('a message has ended'))).toMatchObject({
      level: 'info',
      channel: 'console',
      sessionKey: expect.any(String),
      eventId: expect.any(String),
    });
  });
});

/** Runs the host with a journal, and gives all that its files hold, and what the commands tell of them. */
async function keptOf(agent: string): Promise<{ readonly files: string; readonly told: string }> {
  using folder = temporaryFolder({
    'sluice.config.json': JSON.stringify({
      ...(JSON.parse(settings({})) as object),
      agent,
      journal: { path: './sluice.db' },
    }),
    'leaky.mjs': leaky,
    'broken.mjs': broken,
  });
  const how = { cwd: folder.path, env: { CANARY_TOKEN: canary.token } };
  const ran = await runInMemory(['run', '--json'], `${input}again ${canary.token}\n`, how);
  const ids = new Set([...ran.stdout.matchAll(/"correlationId":"([^"]+)"/g)].map(([, id]) => id));
  expect(ids.size).toBeGreaterThan(2);
  let told = ran.stdout + ran.stderr;
  for (const id of ids) {
    const args = ['explain', String(id), '--way', '--no-config', '--journal', 'sluice.db'];
    const { stdout, stderr } = await runInMemory(args, '', { cwd: folder.path, env: {} });
    told += stdout + stderr; // without the config nothing is taken out here: it is not in the journal
  }
  const files = readdirSync(folder.path)
    .filter((name) => name.startsWith('sluice.db'))
    .map((name) => readFileSync(join(folder.path, name), 'latin1'));
  return { files: files.join(), told };
}

describe('M1: secrets in the journal and in what is told of it (fault 49, §20.8)', () => {
  it('are in no file of the journal and in no line of a command, whatever quotes them', async () => {
    const { files, told } = await keptOf('echo');
    expect(files).toContain(canary.message); // it holds what was said
    expect(files).toContain('[secret]'); // where the errors quote the token
    expect(files).not.toContain(canary.token);
    expect(told).toContain('[secret]');
    expect(told).not.toContain(canary.token);
  });
});
